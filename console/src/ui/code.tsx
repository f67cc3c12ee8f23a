import { Check, Copy } from 'lucide-react'
import { useState } from 'react'

import { showControls } from '../words/text.ts'
import { announce } from '../shell/toasts.tsx'
import { IconButton } from './button.tsx'
import styles from './show.module.css'

/** Copies what is given, not what is shown. */
const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    announce('Copied')
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <IconButton label={copied ? 'Copied' : `Copy ${label}`} onPress={() => void copy()}>
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  )
}

/** A block of code; it alone may be wider than the page. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  <div className={styles.code}>
    {/* A box that scrolls must be reached by the keyboard. */}
    <pre tabIndex={0} aria-label={label} role="region">
      <bdi>
        <code>{showControls(text)}</code>
      </bdi>
    </pre>
    <CopyButton text={text} label={label} />
  </div>
)

/** An id with a button that copies it. */
export const Copied = ({ text, label }: { text: string; label: string }) => (
  <span className={styles.copied}>
    <code>{showControls(text)}</code>
    <CopyButton text={text} label={label} />
  </span>
)
