import { X } from 'lucide-react'
import type { ReactNode } from 'react'

import { makeStore, useStore } from '../api/store.ts'
import { IconButton } from '../ui/button.tsx'
import { t } from '../words/translate.ts'
import styles from './frame.module.css'

type Toast = { id: number; text: ReactNode; action?: ReactNode }

const toasts = makeStore<readonly Toast[]>([])
const message = makeStore('')
let lastId = 0
let saidAt = 0
let next: ReturnType<typeof setTimeout> | undefined

const dismiss = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Shows a message for six seconds, or for as long as an undo can be pressed; returns the function that removes it. */
export const showToast = (
  text: ReactNode,
  { action, seconds = 6 }: { action?: ReactNode; seconds?: number } = {},
): (() => void) => {
  const id = (lastId += 1)
  const close = (): void => dismiss(id)
  toasts.set([...toasts.get().slice(-2), { id, text, action }])
  setTimeout(close, seconds * 1000)
  return close
}

const EVERY_MS = 5000

/** Says something to screen readers, politely, and not more often than every five seconds: the last one counts. */
export const announce = (text: string): void => {
  clearTimeout(next)
  const wait = Math.max(0, saidAt + EVERY_MS - Date.now())
  next = setTimeout(() => {
    saidAt = Date.now()
    // What is there already is not read out again.
    message.set(text === message.get() ? `${text}\u00a0` : text)
  }, wait)
}

export const Toasts = () => {
  const shown = useStore(toasts)
  const spoken = useStore(message)
  return (
    <>
      <div className={`stack tight ${styles.toasts}`} role="status">
        {shown.map(({ id, text, action }) => (
          <div key={id} className={`row ${styles.toast}`}>
            <div>{text}</div>
            {action}
            <IconButton label={t('Dismiss')} onPress={() => dismiss(id)}>
              <X aria-hidden />
            </IconButton>
          </div>
        ))}
      </div>
      <div className="hidden-text" aria-live="polite">
        {spoken}
      </div>
    </>
  )
}
