import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { TextField } from '../ui/first-fields.tsx'
import { t } from '../words/translate.ts'

type PackSearchProps = { label: string; className?: string | undefined }

/** A field from which Enter leads to the registry. */
export const PackSearch = ({ label, className }: PackSearchProps) => {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  return (
    <form
      className={className}
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        void navigate({ to: '/registry', search: text === '' ? {} : { q: text } })
        setText('')
      }}
    >
      <TextField
        label={label}
        placeholder={t('Search packs')}
        isLabelHidden
        type="search"
        value={text}
        onChange={setText}
      />
    </form>
  )
}
