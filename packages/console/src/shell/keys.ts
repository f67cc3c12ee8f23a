import { useEffect, useEffectEvent, useRef } from 'react'

import { shortcutsAreOn } from './settings.ts'

type Handlers = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Milliseconds after a first key, such as `g`, within which a second one belongs to it. */
const SECOND_MS = 1500

/**
 * Keys of a page while it is shown: `useKeys({ c: cancel, 'g t': openTasks })`. They rest in fields and dialogs, and are off
 * where the user says so. A letter that acts asks first.
 */
export const useKeys = (handlers: Handlers): void => {
  const first = useRef({ key: '', at: 0 })
  const press = useEffectEvent((event: KeyboardEvent): void => {
    const key = nameOf(event)
    if (event.defaultPrevented || rests(event)) return
    const { at, key: before } = first.current
    const pair = Date.now() - at < SECOND_MS ? `${before} ${key}` : ''
    first.current = { key, at: Date.now() }
    const act = handlers[pair] ?? handlers[key]
    if (act === undefined) return
    event.preventDefault()
    act(event)
  })
  useEffect(() => {
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}

/** `Ctrl k` for that key on every system. */
const nameOf = ({ key, ctrlKey, metaKey }: KeyboardEvent): string =>
  ctrlKey || metaKey ? `Ctrl ${key.toLowerCase()}` : key

/** Fields, and what lies above the page. */
const QUIET = ':is(input:not([type=range], [type=checkbox]), textarea, [role=dialog], [role=menu])'

const rests = ({ altKey, ctrlKey, metaKey, target }: KeyboardEvent): boolean => {
  if (altKey) return true
  if (ctrlKey || metaKey) return false
  return !shortcutsAreOn() || (target instanceof Element && target.closest(QUIET) !== null)
}
