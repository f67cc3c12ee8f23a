import type { ReactNode, RefObject } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Menu as AriaMenu, MenuItem as AriaItem, MenuTrigger } from 'react-aria-components/Menu'
import type { MenuItemProps } from 'react-aria-components/Menu'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Popover } from 'react-aria-components/Popover'

import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import styles from './layers.module.css'
import type { Children } from './values.tsx'

interface DialogProps extends Children {
  title: ReactNode
  onClose(): void
  /** Buttons at the end; one that closes it stands before them. */
  actions?: ReactNode
  dismiss?: string
  wide?: boolean
  /** Stands at the side, as high as the window. */
  drawer?: boolean
}

/** On a phone it comes from below. Esc and a press outside close it; the focus returns to where it was. */
export const Dialog = ({ title, onClose, children, actions, ...props }: DialogProps) => (
  <ModalOverlay
    className={`${styles.overlay} ${props.drawer ? styles.side : ''}`}
    isOpen
    onOpenChange={onClose}
    isDismissable
  >
    <Modal className={`${styles.modal} ${props.wide ? styles.wide : ''}`}>
      <AriaDialog className={`stack ${styles.dialog}`}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
        <div className={`row ${styles.actions}`}>
          <Button onPress={onClose}>{props.dismiss ?? (actions ? t('Cancel') : t('Close'))}</Button>
          {actions}
        </div>
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

type MenuProps = Children & { trigger: ReactNode; label: string }

/** A button and the menu that it opens: `<Menu trigger={<Button>More</Button>}><MenuItem onAction={…}>Cancel</MenuItem></Menu>`. */
export const Menu = ({ trigger, label, children }: MenuProps) => (
  <MenuTrigger>
    {trigger}
    <Popover className={styles.popover} offset={4}>
      <AriaMenu className={styles.items} aria-label={label}>
        {children}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
)

export const MenuItem = (props: Omit<MenuItemProps, 'className' | 'style'>) => (
  <AriaItem {...props} className={`row ${styles.item}`} />
)

export interface MenuLayerProps {
  label: string
  /** Button that it is at. */
  place: RefObject<Element | null>
  onClose(): void
  children(Item: typeof MenuItem): ReactNode
}

/** An open menu, which `LaterMenu` loads. */
export const MenuLayer = ({ label, place, onClose, children }: MenuLayerProps) => (
  <Popover
    className={styles.popover}
    aria-label={label}
    placement="bottom start"
    offset={4}
    triggerRef={place}
    isOpen
    onOpenChange={onClose}
  >
    <AriaMenu className={styles.items} aria-label={label} autoFocus="first" onClose={onClose}>
      {children(MenuItem)}
    </AriaMenu>
  </Popover>
)
