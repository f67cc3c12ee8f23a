import { ImagePlus, Trash2 } from 'lucide-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { DropZone } from 'react-aria-components/DropZone'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { ownLink } from '../api/links.ts'
import { readAsset } from '../api/upload.ts'
import portrait from '../home/portrait.webp'
import { Button, IconButton } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { ErrorPanel } from '../ui/panels.tsx'
import { Bdi, Picture, Progress } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { uploadFile, UPLOADS, type Accepted } from './queries.ts'
import stillLife from './still-life.webp'
import sunset from './sunset.webp'
import styles from './try.module.css'

interface FileFieldProps {
  label: string
  help: string
  error: string | undefined
  accept: Accepted
  value: string | undefined
  onChange(link: string | undefined): void
  /** Takes what is pasted anywhere on the page. */
  takesPaste: boolean
}

/** A picture by drop, choice, paste or address. It is uploaded at once, so that the request names a link. */
export const FileField = (props: FileFieldProps) => {
  const { label, help, accept, value, onChange, takesPaste } = props
  const [part, setPart] = useState(0)
  const [name, setName] = useState('')
  const errorId = useId()
  const upload = useMutation({
    mutationKey: UPLOADS,
    mutationFn: async (chosen: File | Promise<File>) => {
      const file = await chosen
      setName(file.name)
      return await uploadFile(file, { accept, onProgress: setPart })
    },
    onMutate: () => setPart(0),
    onSuccess: (link) => link !== null && onChange(link),
  })
  const { variables: file, mutate: take } = upload
  const src = ownLink(value)
  usePaste(takesPaste, accept, take)
  const isImage = accept === 'image/*'
  const notOne = isImage
    ? t('{name} is not an image.', { name })
    : t('{name} is not a video.', { name })
  const error = upload.data === null ? notOne : props.error
  const isThere = value !== undefined && !upload.isPending
  return (
    <div className={`stack tight ${styles.file}`} role="group" aria-label={label}>
      <strong>{label}</strong>
      <DropZone
        aria-label={
          isImage ? t('{label}: drop an image', { label }) : t('{label}: drop a video', { label })
        }
        className={`row drop ${styles.drop}`}
        data-invalid={error !== undefined || undefined}
        onDrop={({ items }) => {
          const dropped = items.find((item) => item.kind === 'file')
          if (dropped) take(dropped.getFile())
        }}
      >
        {isThere ? (
          <Preview link={value} src={src} name={name || undefined} />
        ) : (
          <ImagePlus aria-hidden />
        )}
        <FileTrigger
          acceptedFileTypes={[accept]}
          onSelect={(chosen) => chosen?.[0] && take(chosen[0])}
        >
          <Button
            isPending={upload.isPending}
            aria-describedby={error === undefined ? undefined : errorId}
          >
            {value !== undefined
              ? t('Replace')
              : isImage
                ? t('Choose an image')
                : t('Choose a video')}
          </Button>
        </FileTrigger>
        {value === undefined && !upload.isPending && (
          <span className="soft small">
            {takesPaste ? t('or drop it here, or paste it') : t('or drop it here')}
          </span>
        )}
        {value !== undefined && (
          <IconButton label={t('Remove {label}', { label })} onPress={() => onChange(undefined)}>
            <Trash2 aria-hidden />
          </IconButton>
        )}
      </DropZone>
      {error && (
        <p id={errorId} className="bad small" role="alert">
          {error}
        </p>
      )}
      {value === undefined && isImage && !upload.isPending && (
        <Samples label={label} onChoose={take} />
      )}
      {upload.isPending && <Progress label={t('Upload of {name}', { name })} part={part} />}
      {upload.error && <ErrorPanel error={upload.error} onRetry={file && (() => take(file))} />}
      <TextField
        label={t('{label}: URL', { label })}
        isLabelHidden
        type="url"
        placeholder={t('or paste a URL')}
        value={src === undefined ? (value ?? '') : ''}
        onChange={(address) => {
          upload.reset()
          onChange(address.trim() || undefined)
        }}
        help={help}
      />
    </div>
  )
}

const SAMPLES = [
  [t('Portrait'), 'Portrait.webp', portrait],
  [t('Still life'), 'Still life.webp', stillLife],
  [t('Sunset'), 'Sunset.webp', sunset],
] as const

/** Pictures to begin with, one press each. */
const Samples = ({ label, onChoose }: { label: string; onChoose(file: Promise<File>): void }) => {
  return (
    <div className="row" role="group" aria-label={t('Samples for {label}', { label })}>
      <span className="soft small">{t('or a sample')}</span>
      {SAMPLES.map(([name, file, src]) => (
        <AriaButton
          key={name}
          className={`bare ${styles.sample}`}
          aria-label={name}
          onPress={() => onChoose(readAsset(src, file))}
        >
          <Picture src={src} />
        </AriaButton>
      ))}
    </div>
  )
}

/** Strangers' pictures are not loaded: their address is shown below. */
const Preview = ({ link, src, name }: { link: string; src: string | undefined; name?: string }) => {
  if (src === undefined) return <Bdi>{link}</Bdi>
  return (
    <>
      <Picture src={src} />
      <Bdi>{name ?? nameIn(src)}</Bdi>
    </>
  )
}

/** Name of a file in its address, as it was before it was escaped. */
const nameIn = (src: string): string | undefined => {
  const name = src.split('?')[0]?.split('/').at(-1)
  try {
    return name && decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Files that are pasted outside of a field, and not into the box for them, which takes them by itself. */
const usePaste = (isOn: boolean, accept: string, take: (file: File) => void): void => {
  useEffect(() => {
    if (!isOn) return undefined
    const paste = ({ clipboardData, target }: ClipboardEvent): void => {
      const file = [...(clipboardData?.files ?? [])].find(({ type }) =>
        type.startsWith(accept.replace('*', '')),
      )
      const isTaken = target instanceof Element && target.closest('.drop')
      if (file && !isTaken) take(file)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  })
}
