import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { send } from '../api/client.ts'
import { uploadAny } from '../try/queries.ts'
import { linesOf, type FieldSpec } from '../ui/ask-field.tsx'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Dialog } from '../ui/layers.tsx'
import { ErrorPanel, Note, Row } from '../ui/panels.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { countRequests, pickLines } from './batch-file.ts'
import { labelIn } from './list-rows.ts'

const FILES = ['.jsonl', '.ndjson', '.txt', 'application/jsonl', 'application/x-ndjson']

type ChooseProps = { label: string; onFile(file: File): void }

const ChooseFile = ({ label, onFile }: ChooseProps) => (
  <FileTrigger acceptedFileTypes={FILES} onSelect={(files) => files?.[0] && onFile(files[0])}>
    <Button>{label}</Button>
  </FileTrigger>
)

/** A button that takes a file with a request a line, and makes a batch of it. */
export const NewBatch = () => {
  const [file, setFile] = useState<File>()
  return (
    <>
      <ChooseFile label={t('New batch from a file')} onFile={setFile} />
      {file && <StartBatch file={file} onClose={() => setFile(undefined)} />}
    </>
  )
}

const FIELDS: readonly FieldSpec[] = [
  { name: 'labels', label: t('Labels'), help: t('As key:value.'), chips: true, isOptional: true },
  {
    name: 'webhook_url',
    label: t('Webhook URL'),
    help: t('Notified at its end.'),
    isOptional: true,
  },
]

type FileProps = { file: File; onClose(): void }

/** Checks a file before anything is sent, and then asks. */
const StartBatch = ({ file, onClose }: FileProps) => {
  const navigate = useNavigate()
  const check = useQuery({
    queryKey: ['batch-check', file.name, file.size, file.lastModified],
    queryFn: () => countRequests(file),
    retry: false,
    gcTime: 0,
    staleTime: Infinity,
  })
  if (check.data === undefined)
    return (
      <Dialog title={t('New batch')} onClose={onClose}>
        {check.error ? (
          <Wrong error={check.error} />
        ) : (
          <p>{t('Checking {name} …', { name: file.name })}</p>
        )}
      </Dialog>
    )
  const count = check.data
  return (
    <Ask
      title={t('New batch')}
      action={t('Start {count, plural, one {# request} other {# requests}}', { count })}
      fields={FIELDS}
      write={async ({ labels, webhook_url: url }) => {
        const pairs = linesOf(labels).map((text) => labelIn(text) ?? [text, ''])
        const body = {
          file: await uploadAny(file),
          ...(pairs.length > 0 && { labels: Object.fromEntries(pairs) }),
          ...(url && { webhook_url: url.trim() }),
        }
        return await send('POST', '/batches', { body })
      }}
      refresh={['batches']}
      onDone={({ batch_id: id }) =>
        void navigate({ to: '/tasks/bulk', search: { tab: 'batches', id } })
      }
      onClose={onClose}
    >
      <Note>
        {rich(
          '{name}, {size}, has {count, plural, one {# request} other {# requests}}. Paths and bodies are checked when their turn comes.',
          { name: <Bdi>{file.name}</Bdi>, size: <Bytes count={file.size} />, count },
        )}
      </Note>
    </Ask>
  )
}

/** Issues of a file, a line each. */
const Wrong = ({ error }: { error: Error }) => {
  const [message, ...lines] = error.message.split('\n')
  return <ErrorPanel error={message} rest={lines} />
}

interface RejectedProps {
  batch: string
  total: number
  /** Places of the rejected requests. */
  places: readonly number[]
}

/** Rejected requests of a batch as a file, to mend them, and as a batch of their own. The service keeps no requests of an ended batch. */
export const Rejected = ({ batch, total, places }: RejectedProps) => {
  const [again, setAgain] = useState<File>()
  const picking = useMutation({
    mutationFn: (file: File) => pickLines(file, { places: new Set(places), total }),
  })
  const { data: file } = picking
  const count = places.length
  return (
    <>
      <Row>
        <ChooseFile
          label={t('Choose the file of this batch')}
          onFile={(from) => picking.mutate(from)}
        />
        {file ? (
          <>
            <DownloadButton
              label={t(
                'Download {count, plural, one {# rejected request} other {# rejected requests}}',
                { count },
              )}
              name={`rejected-${batch.slice(0, 8)}.jsonl`}
              type="application/jsonl"
              read={() => file.text()}
            />
            <Button onPress={() => setAgain(file)}>
              {t('Retry {count, plural, one {# rejected request} other {# rejected requests}}', {
                count,
              })}
            </Button>
          </>
        ) : (
          <span className="soft small">
            {t(
              'to download or retry its {count, plural, one {# rejected request} other {# rejected requests}}',
              { count },
            )}
          </span>
        )}
      </Row>
      {picking.error && <Wrong error={picking.error} />}
      {again && <StartBatch file={again} onClose={() => setAgain(undefined)} />}
    </>
  )
}
