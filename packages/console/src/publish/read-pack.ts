import * as zip from '@zip.js/zip.js/lib/zip-core-native.js'

import { findRoot } from '../../../client/src/cli/check-pack.ts'
import { parseProject } from '../../../client/src/cli/parse-project.ts'
import { sortEntries, type Entry, type Pack } from './pack.ts'

// Reads a folder or a zip; this file is loaded once something is dropped.
zip.configure({ useWebWorkers: false })

/** The first day that a zip can name: the same files give the same bytes. */
const EPOCH = new Date(1980, 0, 1)

/** Reads a zip, or packs the entries of a folder. Throws when a zip is none. */
export const readPack = async (name: string, given: readonly Entry[] | File): Promise<Pack> => {
  if (!(given instanceof File)) return await makePack(name, given)
  const reader = new zip.ZipReader(new zip.BlobReader(given))
  try {
    const entries = (await reader.getEntries()).filter((entry) => !entry.directory)
    const files = entries.map((entry) => ({
      path: pathOf(entry),
      bytes: entry.uncompressedSize,
      read: () => entry.getData(new zip.BlobWriter()),
    }))
    // Folders of Windows tools may end with `\` and have no other mark.
    const paths = files.filter(({ path }) => !path.endsWith('/'))
    return await makePack(name, paths, given)
  } finally {
    await reader.close()
  }
}

/** The path of an entry, as `pathOfName` of the inspector reads it: tools of MS-DOS (0) and NTFS (10) may write `\`. */
const pathOf = ({ filename, versionMadeBy }: zip.Entry): string =>
  [0, 10].includes(versionMadeBy >> 8) && !filename.includes('/')
    ? filename.replaceAll('\\', '/')
    : filename

/** A zip that has nothing to leave out is sent as it is. */
const makePack = async (name: string, entries: readonly Entry[], packed?: File): Promise<Pack> => {
  const { kept, leftOut } = sortEntries(entries)
  const root = findRoot(kept.map(({ path }) => path))
  const readText = async (file: string): Promise<string | undefined> =>
    await (await kept.find(({ path }) => path === root + file)?.read())?.text()
  const toml = await readText('pyproject.toml')
  return {
    name,
    files: kept.map(({ path, bytes }) => ({ path, bytes })),
    leftOut,
    root,
    archive: packed && leftOut.length === 0 ? packed : await packEntries(kept),
    ...(toml !== undefined && readProject(toml)),
  }
}

const readProject = (text: string): Pick<Pack, 'project' | 'projectIssue'> => {
  try {
    return { project: parseProject(text) }
  } catch (error) {
    return { projectIssue: error instanceof Error ? error.message : String(error) }
  }
}

const packEntries = async (entries: readonly Entry[]): Promise<Blob> => {
  const blob = new zip.BlobWriter('application/zip')
  const writer = new zip.ZipWriter(blob, { lastModDate: EPOCH })
  for (const { path, read } of entries) await writer.add(path, new zip.BlobReader(await read()))
  await writer.close()
  return await blob.getData()
}
