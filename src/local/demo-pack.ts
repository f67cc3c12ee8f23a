import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter, configure } from '@zip.js/zip.js'

/** Puts a folder into a zip as publishing tools do: its files at the top, in the order of their names. */
export const zipFolder = async (folder: string): Promise<Uint8Array> => {
  configure({ useWebWorkers: false })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const zip = new ZipWriter(new Uint8ArrayWriter(), { lastModDate: EPOCH })
  for (const path of paths.toSorted())
    await zip.add(
      path.slice(folder.length + 1).replaceAll('\\', '/'),
      new Uint8ArrayReader(await readFile(path)),
    )
  return await zip.close()
}

/** The first day that a zip can name: the same files give the same bytes. */
const EPOCH = new Date(1980, 0, 1)
