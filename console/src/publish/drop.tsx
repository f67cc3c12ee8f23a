import { FolderOpen } from 'lucide-react'
import { useState } from 'react'
import { DropZone } from 'react-aria-components/DropZone'
import type { DropZoneProps } from 'react-aria-components/DropZone'
import { FileTrigger } from 'react-aria-components/FileTrigger'

import { whyLeftOut } from '../../../client/cli/left-out.ts'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/page.tsx'
import { ErrorPanel, Loading } from '../ui/panels.tsx'
import type { Entry, Pack } from './pack.ts'
import styles from './publish.module.css'

type DropItem = Parameters<NonNullable<DropZoneProps['onDrop']>>[0]['items'][number]

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

const readDropped = async (items: readonly DropItem[]): Promise<Pack> => {
  const { readFolder, readZip } = await import('./read-pack.ts')
  const [first] = items
  if (items.length === 1 && first?.kind === 'directory')
    return await readFolder(first.name, await walk(first.getEntries(), ''))
  if (items.length === 1 && first?.kind === 'file') return await readZip(await first.getFile())
  return await readFolder('what was dropped', await walk(items, ''))
}

const readChosen = async (files: readonly File[], isFolder: boolean): Promise<Pack> => {
  const { readFolder, readZip } = await import('./read-pack.ts')
  const [first] = files
  if (!isFolder && first) return await readZip(first)
  const name = first?.webkitRelativePath.split('/')[0] ?? 'the folder'
  const entries = files.map((file) => entryOf(file.webkitRelativePath.slice(name.length + 1), file))
  return await readFolder(name, entries)
}

/** Takes a zip or a folder, dropped or chosen, and reads it here: nothing is sent. */
export const PackDrop = ({ onPack }: { onPack(pack: Pack | undefined): void }) => {
  const [state, setState] = useState<'reading' | Error>()
  const take = async (reading: Promise<Pack>): Promise<void> => {
    setState('reading')
    onPack(undefined)
    try {
      onPack(await reading)
      setState(undefined)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      setState(new Error(`This is no zip that can be read: ${why}.`, { cause }))
    }
  }
  return (
    <DropZone
      className={styles.drop}
      getDropOperation={() => 'copy'}
      onDrop={({ items }) => void take(readDropped(items))}
      aria-label="Zip or folder of the node"
    >
      <FolderOpen aria-hidden />
      <p>
        Drop the folder of the node here, or a zip of it. It is checked here before anything is
        sent.
      </p>
      <Row>
        <FileTrigger
          acceptDirectory
          onSelect={(files) => files && void take(readChosen([...files], true))}
        >
          <Button>Choose a folder</Button>
        </FileTrigger>
        <FileTrigger
          acceptedFileTypes={['.zip', 'application/zip']}
          onSelect={(files) => files && void take(readChosen([...files], false))}
        >
          <Button>Choose a zip</Button>
        </FileTrigger>
      </Row>
      {state === 'reading' && <Loading rows={1} />}
      {state instanceof Error && <ErrorPanel error={state} />}
    </DropZone>
  )
}
