import { useEffect, useRef, useState } from 'react'

const WAIT_MS = 60

/** A field whose text is written to the address 60 ms after the last key; it follows the address when that changes otherwise. */
export const useTyped = (
  value: string | undefined = '',
  write: (text: string | undefined) => void,
): readonly [string, (text: string) => void] => {
  const [text, setText] = useState(value)
  const written = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (value === written.current) return
    written.current = value
    clearTimeout(timer.current)
    setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (next: string): void => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      written.current = next
      write(next === '' ? undefined : next)
    }, WAIT_MS)
  }
  return [text, type]
}
