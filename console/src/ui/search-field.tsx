import { useEffect, useRef, useState } from 'react'

import { TextField } from './fields.tsx'

interface SearchFieldProps {
  label: string
  placeholder?: string
  /** As the address has it. */
  value: string | undefined
  onChange(text: string | undefined): void
  /** Milliseconds without a key, after which one that comes is told of at once. */
  pause?: number
}

/**
 * A field that tells of its text: at once for a key after a pause, and once nobody types for those that follow each other
 * quickly. It follows the address when that changes otherwise.
 */
export const SearchField = (props: SearchFieldProps) => {
  const { label, placeholder = label, value = '', onChange, pause = 60 } = props
  const [text, setText] = useState(value)
  const written = useRef(value)
  const typedAt = useRef(0)
  useEffect(() => {
    if (value === written.current) return
    written.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === written.current) return undefined
    const isFirst = Date.now() - typedAt.current > pause
    typedAt.current = Date.now()
    const timer = setTimeout(
      () => {
        written.current = text
        onChange(text || undefined)
      },
      isFirst ? 0 : pause,
    )
    return () => clearTimeout(timer)
    // What is typed counts, not each new function of the page.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [text])
  return (
    <TextField
      label={label}
      placeholder={placeholder}
      isLabelHidden
      isSearch
      type="search"
      maxLength={200}
      value={text}
      onChange={setText}
    />
  )
}
