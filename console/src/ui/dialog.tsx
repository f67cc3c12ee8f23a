import type { ReactNode } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

import { Button } from './button.tsx'
import { Row } from './page.tsx'
import styles from './layers.module.css'

export interface DialogProps {
  title: ReactNode
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** Buttons at the end; a Cancel stands before them. */
  actions?: ReactNode
  wide?: boolean
}

/** On a phone it comes from below. Esc and a press outside close it; the focus returns to where it was. */
export const Dialog = ({ title, isOpen, onClose, children, actions, wide }: DialogProps) => (
  <ModalOverlay
    className={styles.overlay}
    isOpen={isOpen}
    onOpenChange={(open) => !open && onClose()}
    isDismissable
  >
    <Modal className={`${styles.modal} ${wide ? styles.wide : ''}`}>
      <AriaDialog className={styles.dialog}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
        <div className={styles.actions}>
          <Row>
            <Button onPress={onClose}>{actions ? 'Cancel' : 'Close'}</Button>
            {actions}
          </Row>
        </div>
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)
