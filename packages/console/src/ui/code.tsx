import { Check, Copy } from 'lucide-react'
import { useState } from 'react'

import { announce, showToast } from '../shell/toasts.tsx'
import { showControls } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { IconButton } from './button.tsx'
import styles from './show.module.css'
import { Bdi, Hidden } from './values.tsx'

/** Copies what is given, not what is shown. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    // Away from https and localhost a browser has no clipboard.
    const clipboard = navigator.clipboard as Clipboard | undefined
    const isDone = await clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    if (!isDone) return void showToast(t('This page may not copy here: select the text instead.'))
    setCopied(true)
    announce(t('Copied'))
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <IconButton
      label={copied ? t('Copied') : t('Copy {label}', { label })}
      onPress={() => void copy()}
    >
      {copied ? <Check aria-hidden className="ok" /> : <Copy aria-hidden />}
      {copied && t('Copied')}
    </IconButton>
  )
}

type CodeProps = {
  text: string
  label: string
  /** Breaks its lines where there is no room, so that none is cut. */
  wraps?: boolean
}

/** A block of code; it alone may be wider than the page. */
export const Code = ({ text, label, wraps }: CodeProps) => (
  <div className={`${styles.code} ${wraps ? styles.wraps : ''}`}>
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

export interface Line {
  number: number
  text: string
  /** hit: what this is about. gap: lines that are the same lie between. */
  kind?: 'added' | 'removed' | 'hit' | 'gap' | 'same'
}

const CLASSES = { added: 'ok', removed: 'bad', hit: 'warn', gap: styles.gap, same: '' }
const WORDS: Partial<Record<string, string>> = { added: t('added'), removed: t('removed') }

/** Lines of a file with their numbers; the box scrolls sideways by itself. */
export const Lines = ({ label, lines }: { label: string; lines: readonly Line[] }) => (
  <pre className={styles.lines} tabIndex={0} role="region" aria-label={label}>
    {lines.map(({ number, text, kind = 'same' }, index) => (
      <span key={index} className={CLASSES[kind]}>
        <span aria-hidden>{kind === 'gap' ? '…' : number}</span>
        {WORDS[kind] && <Hidden>{WORDS[kind]}: </Hidden>}
        <Bdi>{text || ' '}</Bdi>
      </span>
    ))}
  </pre>
)
