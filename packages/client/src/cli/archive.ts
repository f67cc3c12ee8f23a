import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { lstat, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'

import { configure, ZipWriter } from '@zip.js/zip.js'

import { LocalError } from './error.ts'
import { whyLeftOut } from './left-out.ts'
import type { Project } from './parse-project.ts'

export interface PackedFolder {
  /** The zip, in a folder that `remove` takes away. */
  path: string
  bytes: number
  files: { path: string; bytes: number }[]
  /** Paths that pyproject.toml includes, each with the number of its files. */
  included: { path: string; files: number }[]
  leftOut: { path: string; why: string }[]
  /** Opens it, and reports how many of its bytes have been read. */
  open(onRead: (bytes: number) => void): ReadableStream<Uint8Array>
  remove(): Promise<void>
}

/**
 * Zips a folder: its files at the top of the archive, in the order of their names, with one date, so that the same files give
 * the same bytes. `includes` are paths that go in although git ignores them; what .comfyignore names stays out.
 */
export const packFolder = async (
  folder: string,
  { nodeId: name, includes }: Pick<Project, 'nodeId' | 'includes'>,
): Promise<PackedFolder> => {
  const leftOut: PackedFolder['leftOut'] = []
  const files = await listFiles(folder, includes, leftOut)
  if (files.length === 0) throw new LocalError(`${folder} has no files to publish`)
  const included = includes.map((path) => ({
    path,
    files: files.filter((file) => isIn(path, file.path)).length,
  }))
  const missing = included.find((one) => one.files === 0)
  if (missing)
    throw new LocalError(
      `[tool.comfy] includes names ${missing.path}, of which no file is there to publish: build it, or take it out`,
    )
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
    return { path, bytes, files, included, leftOut, open: (onRead) => open(path, onRead), remove }
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

const isIn = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

const listFiles = async (
  folder: string,
  includes: readonly string[],
  leftOut: PackedFolder['leftOut'],
): Promise<Files> => {
  const [ignored, named] = await Promise.all([listIgnored(folder), listNamed(folder)])
  const files: Files = []
  const walk = async (below: string, isBelowIgnored: boolean): Promise<void> => {
    for (const { name } of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? name : `${below}/${name}`
      const entry = await lstat(join(folder, path))
      const isKnown = entry.isFile() || entry.isDirectory()
      const isIgnored = isBelowIgnored || ignored.has(path)
      const isWanted = includes.some(
        (one) => isIn(one, path) || (entry.isDirectory() && isIn(path, one)),
      )
      const why =
        whyLeftOut(name) ??
        (isKnown ? undefined : 'a link') ??
        (named.has(path) ? `named in ${NAMES}` : undefined) ??
        (isIgnored && !isWanted ? 'ignored by git' : undefined)
      if (why !== undefined) leftOut.push({ path, why })
      else if (entry.isDirectory()) await walk(path, isIgnored)
      else files.push({ path, bytes: entry.size })
    }
  }
  await walk('', false)
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Lists what a .gitignore names, folders without their content; nothing outside of a repository. */
const listIgnored = async (folder: string): Promise<Set<string>> => {
  if (!isInRepository(await realpath(folder))) return new Set()
  const ignored = await listWithGit(folder, '.gitignore', STANDARD)
  // A folder that is ignored itself, and named all the same, has patterns of its own.
  return ignored.has('.') ? await listApart(folder, '.gitignore', STANDARD) : ignored
}

const STANDARD = '--exclude-standard'

const isInRepository = (folder: string): boolean =>
  existsSync(join(folder, '.git')) ||
  (dirname(folder) !== folder && isInRepository(dirname(folder)))

const NAMES = '.comfyignore'

/** Lists what .comfyignore names, tracked or not. */
const listNamed = async (folder: string): Promise<Set<string>> =>
  existsSync(join(folder, NAMES))
    ? await listApart(folder, NAMES, `--exclude-from=${NAMES}`)
    : new Set()

/** Lists by the patterns of a file in the folder alone: git reads them, in a repository that tracks nothing. */
const listApart = async (folder: string, names: string, excludes: string): Promise<Set<string>> => {
  const repository = await mkdtemp(join(tmpdir(), 'kiln-ignore-'))
  try {
    await git(repository, names, ['init', '-q'])
    const at = [`--git-dir=${repository}/.git`, '--work-tree=.']
    return await listWithGit(folder, names, excludes, at)
  } finally {
    await rm(repository, { recursive: true, force: true })
  }
}

const listWithGit = async (
  folder: string,
  names: string,
  excludes: string,
  at: readonly string[] = [],
): Promise<Set<string>> => {
  const args = ['ls-files', '--others', '--ignored', excludes, '--directory', '-z']
  const stdout = await git(folder, names, [...at, ...args])
  return new Set(stdout.split('\0').map((path) => path.replace(/\/$/, '')))
}

/** Runs git. Throws a LocalError that names the file whose patterns it was to read. */
const git = async (cwd: string, names: string, args: readonly string[]): Promise<string> => {
  try {
    return (await promisify(execFile)('git', args, { cwd, maxBuffer: 2 ** 28 })).stdout
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string }
    const reason = stderr?.trim() || message
    throw new LocalError(`${names} cannot be read by git, which knows its patterns: ${reason}`, {
      cause,
    })
  }
}
