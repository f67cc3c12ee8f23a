import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { send } from '../api/client.ts'
import { uploadAny } from '../try/queries.ts'
import { linesOf } from '../ui/ask-field.tsx'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/layers.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Note, Row } from '../ui/panels.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { countRequests, pickLines } from './batch-file.ts'
import { labelIn } from './list-rows.ts'

const FILES = ['.jsonl', '.ndjson', '.txt', 'application/jsonl', 'application/x-ndjson']

/** Key of the file that a batch was made of, while this page is open: the service keeps no requests of an ended one. */
const fileKey = (batch: string) => ['batch-file', batch]

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
      <ChooseFile label="New batch from a file" onFile={setFile} />
      {file && <StartBatch file={file} onClose={() => setFile(undefined)} />}
    </>
  )
}

type FileProps = { file: File; onClose(): void }

/** Checks a file before anything is sent, and then asks. */
const StartBatch = ({ file, onClose }: FileProps) => {
  const queries = useQueryClient()
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
      <Dialog title="New batch" onClose={onClose}>
        {check.error ? <Wrong error={check.error} /> : <p>Checking {file.name} …</p>}
      </Dialog>
    )
  const what = counted(check.data, 'request')
  return (
    <Ask
      title="New batch"
      action={`Start ${what}`}
      fields={[
        {
          name: 'labels',
          label: 'Labels',
          help: 'As key:value. Each task gets them.',
          chips: true,
          isOptional: true,
        },
        {
          name: 'webhook_url',
          label: 'Webhook URL',
          help: 'Notified once, when the last task has ended.',
          isOptional: true,
        },
      ]}
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
      onDone={({ batch_id: id }) => {
        queries.setQueryData(fileKey(id), file)
        void navigate({ to: '/tasks/bulk', search: { tab: 'batches', id } })
      }}
      onClose={onClose}
    >
      <Note tone="ok">
        <Bdi>{file.name}</Bdi> has {what} (<Bytes count={file.size} />
        ), each a line of JSON. Paths and bodies are checked when their turn comes.
      </Note>
    </Ask>
  )
}

/** What is wrong with a file, a line each. */
const Wrong = ({ error }: { error: Error }) => (
  <Note tone="bad">
    {error.message.split('\n').map((line) => (
      <Bdi key={line} as="p">
        {line}
      </Bdi>
    ))}
    <p>Nothing was sent.</p>
  </Note>
)

interface RejectedProps {
  batch: string
  total: number
  /** Places of the rejected requests. */
  places: readonly number[]
}

/** Rejected requests of a batch as a file, to mend them, and as a batch of their own. Asks for the file where this page has not made the batch. */
export const Rejected = ({ batch, total, places }: RejectedProps) => {
  const queries = useQueryClient()
  const [again, setAgain] = useState<File>()
  const { data: file } = useQuery<File>({
    queryKey: fileKey(batch),
    queryFn: skipToken,
    gcTime: Infinity,
    staleTime: Infinity,
  })
  const pick = (from: File): Promise<File> => pickLines(from, { places: new Set(places), total })
  const choosing = useMutation({
    mutationFn: async (given: File) => {
      await pick(given)
      queries.setQueryData(fileKey(batch), given)
    },
  })
  const running = useMutation({ mutationFn: pick, onSuccess: setAgain })
  const what = counted(places.length, 'rejected request')
  if (!file)
    return (
      <>
        <Row>
          <ChooseFile label="Choose the file of this batch" onFile={(given) => choosing.mutate(given)} />
          <span className="soft small">to download or retry its {what}: Kiln keeps no copy</span>
        </Row>
        {choosing.error && <Wrong error={choosing.error} />}
      </>
    )
  return (
    <>
      <Row>
        <DownloadButton
          label={`Download ${what}`}
          name={`rejected-${batch.slice(0, 8)}.jsonl`}
          type="application/jsonl"
          read={async () => await (await pick(file)).text()}
        />
        <Button onPress={() => running.mutate(file)}>Retry {what}</Button>
      </Row>
      {again && <StartBatch file={again} onClose={() => setAgain(undefined)} />}
    </>
  )
}
