import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'

import { configure, ZipWriter } from '@zip.js/zip.js'

import { LocalError } from './error.ts'
import { whyLeftOut } from './left-out.ts'

export interface PackedFolder {
  /** The zip, in a folder that `remove` takes away. */
  path: string
  bytes: number
  files: { path: string; bytes: number }[]
  leftOut: { path: string; why: string }[]
  /** Opens it, and reports how many of its bytes have been read. */
  open(onRead: (bytes: number) => void): ReadableStream<Uint8Array>
  remove(): Promise<void>
}

/** Zips a folder: its files at the top of the archive, in the order of their names, with one date, so that the same files give the same bytes. */
export const packFolder = async (folder: string, name: string): Promise<PackedFolder> => {
  const leftOut: PackedFolder['leftOut'] = []
  const files = await listFiles(folder, leftOut)
  if (files.length === 0) throw new LocalError(`${folder} has no files to publish`)
  const scratch = await mkdtemp(join(tmpdir(), 'kiln-pack-'))
  const path = join(scratch, `${name.replaceAll(/[^\w.-]/g, '_')}.zip`)
  const remove = () => rm(scratch, { recursive: true, force: true })
  try {
    configure({ useWebWorkers: false })
    const zip = new ZipWriter(Writable.toWeb(createWriteStream(path)), { lastModDate: EPOCH })
    for (const file of files)
      await zip.add(file.path, Readable.toWeb(createReadStream(join(folder, file.path))), {
        uncompressedSize: file.bytes,
      })
    await zip.close()
    const { size: bytes } = await stat(path)
    return { path, bytes, files, leftOut, open: (onRead) => open(path, onRead), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The first day that a zip can name. */
const EPOCH = new Date(1980, 0, 1)

const open = (path: string, onRead: (bytes: number) => void): ReadableStream<Uint8Array> => {
  let read = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      out.enqueue(chunk)
      onRead((read += chunk.length))
    },
  })
  return (Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>).pipeThrough(count)
}

type Files = PackedFolder['files']

const listFiles = async (folder: string, leftOut: PackedFolder['leftOut']): Promise<Files> => {
  const ignored = new Set(await listIgnored(folder))
  const files: Files = []
  const walk = async (below: string): Promise<void> => {
    for (const { name } of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? name : `${below}/${name}`
      const entry = await lstat(join(folder, path))
      const isKnown = entry.isFile() || entry.isDirectory()
      const why = ignored.has(path)
        ? 'ignored by git'
        : (whyLeftOut(name) ?? (isKnown ? undefined : 'a link'))
      if (why !== undefined) leftOut.push({ path, why })
      else if (entry.isDirectory()) await walk(path)
      else files.push({ path, bytes: entry.size })
    }
  }
  await walk('')
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Lists what a .gitignore names, folders without their content; nothing where there is no git. */
const listIgnored = async (folder: string): Promise<string[]> => {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const git = promisify(execFile)('git', args, { cwd: folder, maxBuffer: 2 ** 28 })
  const { stdout } = await git.catch(() => ({ stdout: '' }))
  return stdout.split('\0').map((path) => path.replace(/\/$/, ''))
}
