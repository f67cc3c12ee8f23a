import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Image } from 'lucide-react'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { inSentence } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import { TextField } from './fields.tsx'
import styles from './fields.module.css'
import { ErrorPanel } from './panels.tsx'
import { Picture } from './values.tsx'

/** A picture as it is now, and how a file replaces it at once. */
export interface PictureSpec {
  src: string | undefined
  /** Returns the address that the picture has then. */
  send(file: File): Promise<string | undefined>
}

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'image/svg+xml']

interface PictureFieldProps {
  label: string
  picture: PictureSpec
  /** Address of the picture. */
  value: string
  error: string | undefined
  onChange(address: string): void
}

/** A picture by a file, which is kept at once, or by its address, which is saved with the form. */
export const PictureField = ({ label, picture, value, error, onChange }: PictureFieldProps) => {
  const queries = useQueryClient()
  const sent = useMutation({
    mutationFn: picture.send,
    onSuccess: async (address) => {
      // The form compares with what is stored: it must know that first.
      await queries.invalidateQueries()
      if (address !== undefined) onChange(address)
    },
  })
  return (
    <div className="stack tight" role="group" aria-label={label}>
      <strong>{label}</strong>
      <div className="row">
        <span className={styles.picture}>
          <Picture src={picture.src} other={<Image aria-hidden />} />
        </span>
        <FileTrigger
          acceptedFileTypes={TYPES}
          onSelect={(files) => files?.[0] && sent.mutate(files[0])}
        >
          <Button isPending={sent.isPending}>
            {picture.src
              ? t('Replace {label}', { label: inSentence(label) })
              : t('Upload {label}', { label: inSentence(label) })}
          </Button>
        </FileTrigger>
        <span className="soft small">{t('PNG, JPEG, WebP, AVIF or SVG of up to 1 MiB')}</span>
      </div>
      {sent.error && <ErrorPanel error={sent.error} />}
      <TextField
        {...{ value, error, onChange }}
        label={t('{label}: URL', { label })}
        isLabelHidden
        placeholder={t('or paste an HTTPS URL')}
      />
    </div>
  )
}
