import { useEffect, useRef, useState } from 'react'

import { TextField } from '../ui/fields.tsx'

const WAIT_MS = 60

interface SearchFieldProps {
  label: string
  placeholder?: string
  /** As the address has it. */
  value: string | undefined
  onChange(text: string | undefined): void
}

/** A field that writes its text to the address 60 ms after the last key, and follows the address when that changes otherwise. */
export const SearchField = ({ label, placeholder, value = '', onChange }: SearchFieldProps) => {
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
      onChange(next === '' ? undefined : next)
    }, WAIT_MS)
  }
  return (
    <TextField
      label={label}
      placeholder={placeholder ?? label}
      isLabelHidden
      isSearch
      type="search"
      maxLength={200}
      value={text}
      onChange={type}
    />
  )
}
