import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { cpuMilliseconds } from '../cpu-clock.ts'
import { openFileSource } from '../archive/source.ts'
import { checkPath } from '../archive/member.ts'
import { ArchiveRejection } from '../archive/reject.ts'
import { addBrokenExamples } from '../examples.ts'
import { describeRejected, inspect, inspectPack } from '../inspect.ts'
import type { Inspection } from '../inspection.ts'
import { makePack } from '../pack.ts'
import type { PythonParser } from '../python/parse.ts'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { HEAD_BYTES, type ArchiveEntry } from '../archive/entry.ts'
import { ARCHIVE_LIMITS } from '../archive/limits.ts'
import { readFiles } from '../archive/read-files.ts'

/** Reads a zip, or a folder as if it were a zip. Throws when there is nothing to read. */
export const readInput = async (input: string, parser: PythonParser): Promise<Inspection> =>
  addBrokenExamples((await readSections(input, parser)) as Inspection)

/** Reads of it the sections that are wanted. */
export const readSections = async (
  input: string,
  parser: PythonParser,
  isWanted: (section: keyof Inspection) => boolean = () => true,
): Promise<Partial<Inspection>> => {
  const found: Partial<Inspection> = {}
  const options = {
    parser,
    now: cpuMilliseconds,
    onBegin: isWanted,
    onSection: (part: Partial<Inspection>) => void Object.assign(found, part),
  }
  const path = resolve(input)
  // The node's id is not known here; a folder or file often has its name.
  const nodeId = basename(path).replace(/\.zip$/i, '')
  if ((await stat(path)).isDirectory()) {
    const entries = await readFolder(path)
    const rejection = findRejection(entries)
    if (rejection) return rejection
    const unpackedBytes = entries.reduce((sum, { bytes }) => sum + bytes, 0)
    found.archive = { verdict: 'sound', entries: entries.length, unpackedBytes }
    await inspectPack(makePack(entries, { nodeId }), [], options)
  } else {
    const source = await openFileSource(path)
    try {
      await inspect({ ...options, source, nodeId })
    } finally {
      await source.close()
    }
  }
  return found
}

/** Finds the first path that an archive of the folder would be rejected for. */
const findRejection = (entries: readonly ArchiveEntry[]): Inspection | undefined => {
  try {
    for (const { path } of entries) checkPath(path, ARCHIVE_LIMITS)
    return undefined
  } catch (error) {
    if (!(error instanceof ArchiveRejection)) throw error
    const { code, message, detail } = error
    return describeRejected({ verdict: 'rejected', code, message, entry: detail.entry })
  }
}

/** A publisher's tools leave these folders out. */
const LEFT_OUT = new Set(['.git', '.hg', '.svn', '__pycache__', 'node_modules', '.venv', 'venv'])

/** Lists the files of a folder as its archive would have them. It follows no links. */
const readFolder = async (folder: string): Promise<ArchiveEntry[]> => {
  const paths = (await listFiles(folder)).toSorted()
  const files = await Promise.all(
    paths.map(async (file) => {
      const { size: bytes, mode } = await stat(file)
      return { path: relative(folder, file).split(sep).join('/'), bytes, mode, file }
    }),
  )
  return await readFiles(files, ARCHIVE_LIMITS, readEntry)
}

const listFiles = async (folder: string): Promise<string[]> => {
  const children = await readdir(folder, { withFileTypes: true })
  const lists = await Promise.all(
    children.map(async (child) => {
      const path = join(folder, child.name)
      if (child.isDirectory()) return LEFT_OUT.has(child.name) ? [] : await listFiles(path)
      return child.isFile() ? [path] : []
    }),
  )
  return lists.flat()
}

interface FolderFile {
  path: string
  bytes: number
  mode: number
  /** Path on the disk. */
  file: string
}

const readEntry = async (
  { path, bytes, mode, file }: FolderFile,
  keepsText: boolean,
): Promise<ArchiveEntry> => {
  const text = keepsText ? await readFile(file) : undefined
  return {
    path,
    bytes,
    sha256: await hashFile(file),
    head: text ? text.subarray(0, HEAD_BYTES) : await readHead(file),
    text,
    mode: mode & 0o777,
    executable: (mode & 0o111) !== 0,
  }
}

const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const readHead = (path: string): Promise<Uint8Array> =>
  buffer(createReadStream(path, { end: HEAD_BYTES - 1 }))
