import {
  BlobReader,
  BlobWriter,
  configure,
  ZipReader,
  ZipWriter,
} from '@zip.js/zip.js/lib/zip-core-native.js'

import { parseProject } from '../../../client/cli/parse-project.ts'
import type { Project } from '../../../client/cli/parse-project.ts'
import { findRoot, sortEntries } from './pack.ts'
import type { Entry, Pack } from './pack.ts'

/** What a folder or a zip holds. This file is loaded once something is dropped. */
configure({ useWebWorkers: false })

/** The first day that a zip can name: the same files give the same bytes. */
const EPOCH = new Date(1980, 0, 1)

/** Reads a zip. Throws when it is none. */
export const readZip = async (zip: File): Promise<Pack> => {
  const reader = new ZipReader(new BlobReader(zip))
  try {
    const entries = (await reader.getEntries()).flatMap((entry): Entry[] =>
      entry.directory
        ? []
        : [
            {
              path: entry.filename,
              bytes: entry.uncompressedSize,
              read: () => entry.getData(new BlobWriter()),
            },
          ],
    )
    // What has nothing to leave out is sent as it is.
    return await makePack(zip.name, entries, zip)
  } finally {
    await reader.close()
  }
}

/** Packs the files of a folder. */
export const readFolder = (name: string, entries: readonly Entry[]): Promise<Pack> =>
  makePack(name, entries)

const makePack = async (name: string, entries: readonly Entry[], zip?: File): Promise<Pack> => {
  const { kept, leftOut } = sortEntries(entries)
  const root = findRoot(kept.map(({ path }) => path))
  const toml = kept.find(({ path }) => path === `${root}pyproject.toml`)
  const archive = zip && leftOut.length === 0 ? zip : await packEntries(kept)
  return {
    name,
    files: kept.map(({ path, bytes }) => ({ path, bytes })),
    leftOut,
    root,
    archive,
    ...(toml && readProject(await (await toml.read()).text())),
  }
}

const readProject = (text: string): { project: Project } | { projectFault: string } => {
  try {
    return { project: parseProject(text) }
  } catch (error) {
    return { projectFault: error instanceof Error ? error.message : String(error) }
  }
}

const packEntries = async (entries: readonly Entry[]): Promise<Blob> => {
  const blob = new BlobWriter('application/zip')
  const zip = new ZipWriter(blob, { lastModDate: EPOCH })
  for (const { path, read } of entries) await zip.add(path, new BlobReader(await read()))
  await zip.close()
  return await blob.getData()
}
