import { useMutation } from '@tanstack/react-query'
import { Workflow } from 'lucide-react'
import { DropZone } from 'react-aria-components/DropZone'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import styles from '../publish/publish.module.css'
import { Button } from '../ui/button.tsx'
import { ErrorPanel, Loading, Row } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import { readSaved, type Saved } from './read-file.ts'

const TYPES = ['.json', '.png', '.jpg', '.jpeg', '.webp', '.mp4']

/** Takes a workflow, dropped or chosen, and reads it here. */
export const WorkflowDrop = ({ onSaved }: { onSaved(saved: Saved): void }) => {
  const reading = useMutation({ mutationFn: readSaved, onSuccess: onSaved })
  return (
    <DropZone
      className={`drop stack ${styles.drop}`}
      getDropOperation={() => 'copy'}
      onDrop={({ items }) => {
        const file = items.find((item) => item.kind === 'file')
        if (file) reading.mutate(file.getFile())
      }}
      aria-label={t('Saved workflow')}
    >
      <Workflow className="soft" aria-hidden />
      <p>
        {t(
          'Drop a workflow here: the JSON that the host saves or exports for its API, or a PNG, JPEG, WebP, MP4, WebM or FLAC that it has made. You see which packs it needs, and what their updates do to it.',
        )}
      </p>
      <Row>
        <FileTrigger
          acceptedFileTypes={TYPES}
          onSelect={(files) => files?.[0] && reading.mutate(files[0])}
        >
          <Button variant="primary">{t('Choose a file')}</Button>
        </FileTrigger>
      </Row>
      {reading.isPending && <Loading rows={1} />}
      {reading.error && <ErrorPanel error={reading.error} />}
    </DropZone>
  )
}
