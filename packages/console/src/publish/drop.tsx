import { useMutation } from '@tanstack/react-query'
import { FolderOpen } from 'lucide-react'
import { DropZone, type DropZoneProps } from 'react-aria-components/DropZone'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { whyLeftOut } from '../../../client/src/cli/left-out.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel, Loading, Row } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import type { Entry, Pack } from './pack.ts'
import styles from './publish.module.css'

type DropItem = Parameters<NonNullable<DropZoneProps['onDrop']>>[0]['items'][number]

/** Entries of a folder by its name, or a zip. */
type Dropped = { name: string; given: Entry[] | File }

/** A file of a folder is read when it is packed. */
const entryOf = (path: string, file: File): Entry => ({
  path,
  bytes: file.size,
  read: () => Promise.resolve(file),
})

/** The files below a dropped folder. Folders that no pack needs are named, not walked: they hold the most files. */
const walk = async (items: AsyncIterable<DropItem> | readonly DropItem[], below: string) => {
  const entries: Entry[] = []
  for await (const item of items)
    if (item.kind === 'file') entries.push(entryOf(below + item.name, await item.getFile()))
    else if (item.kind === 'directory')
      if (whyLeftOut(item.name) === undefined)
        entries.push(...(await walk(item.getEntries(), `${below}${item.name}/`)))
      else entries.push(entryOf(`${below}${item.name}/`, new File([], item.name)))
  return entries
}

const findDropped = async (items: readonly DropItem[]): Promise<Dropped> => {
  const [only] = items.length === 1 ? items : []
  if (only?.kind === 'directory')
    return { name: only.name, given: await walk(only.getEntries(), '') }
  if (only?.kind === 'file') return { name: only.name, given: await only.getFile() }
  return { name: t('The selection'), given: await walk(items, '') }
}

const findChosen = (files: readonly File[]): Dropped => {
  const name = files[0]?.webkitRelativePath.split('/')[0] ?? t('the folder')
  const pathOf = (file: File): string => file.webkitRelativePath.slice(name.length + 1)
  return { name, given: files.map((file) => entryOf(pathOf(file), file)) }
}

const readDropped = async (dropped: Dropped | Promise<Dropped>): Promise<Pack> => {
  const { readPack } = await import('./read-pack.ts')
  try {
    const { name, given } = await dropped
    return await readPack(name, given)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(t('This zip can’t be read: {why}.', { why }), { cause })
  }
}

/** Takes a zip or a folder, dropped or chosen, and reads it here: nothing is sent. */
export const PackDrop = ({ onPack }: { onPack(pack: Pack | undefined): void }) => {
  const forget = (): void => onPack(undefined)
  const reading = useMutation({ mutationFn: readDropped, onMutate: forget, onSuccess: onPack })
  return (
    <DropZone
      className={`drop stack ${styles.drop}`}
      getDropOperation={() => 'copy'}
      onDrop={({ items }) => reading.mutate(findDropped(items))}
      aria-label={t('Zip or folder of the pack')}
    >
      <FolderOpen className="soft" aria-hidden />
      <p>
        {t(
          'Drop the folder of the pack here, or a zip of it. The service reads and scans it before anything is published, and keeps nothing of that.',
        )}
      </p>
      <Row>
        <FileTrigger
          acceptDirectory
          onSelect={(files) => files && reading.mutate(findChosen([...files]))}
        >
          <Button>{t('Choose a folder')}</Button>
        </FileTrigger>
        <FileTrigger
          acceptedFileTypes={['.zip', 'application/zip']}
          onSelect={(files) =>
            files?.[0] && reading.mutate({ name: files[0].name, given: files[0] })
          }
        >
          <Button>{t('Choose a zip')}</Button>
        </FileTrigger>
      </Row>
      {reading.isPending && <Loading rows={1} />}
      {reading.error && <ErrorPanel error={reading.error} />}
    </DropZone>
  )
}
