import { useState } from 'react'
import type { ReactNode } from 'react'

import { AskButton } from './ask.tsx'
import type { AskProps } from './ask.tsx'
import { Code } from './code.tsx'
import { Dialog } from './dialog.tsx'
import { Note } from './panels.tsx'

type SecretButtonProps<Output> = Omit<AskProps<Output>, 'onDone'> & {
  label: string
  secretTitle: string
  secretOf(output: Output): string
  /** Where the secret belongs. */
  about?: ReactNode
}

/** A button that asks, and shows the secret that comes of it this once: it lives in this component's state, and nowhere else. */
export const SecretButton = <Output,>(props: SecretButtonProps<Output>) => {
  const { secretTitle, secretOf, about, ...asked } = props
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <AskButton {...asked} onDone={(output) => setSecret(secretOf(output))} />
      {secret !== undefined && (
        <Dialog title={secretTitle} isOpen onClose={() => setSecret(undefined)}>
          <Note tone="warn">
            Copy it now: it is shown this once, and stored by its digest alone.
          </Note>
          <Code text={secret} label="secret" />
          {about}
        </Dialog>
      )}
    </>
  )
}
