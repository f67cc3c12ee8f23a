import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, extname, join, sep } from 'node:path'

import { readWithRetries, RETRY } from '../lib/retry.ts'
import type { Context } from './context.ts'
import { LocalError, UsageError, withDetail } from './error.ts'

interface Format {
  type: string
  /** The first of them is the one of a name that is chosen here. */
  extensions: readonly [string, ...string[]]
  /** Found in the first bytes, read as Latin-1. */
  begins: RegExp
}

const FORMATS: readonly Format[] = [
  { type: 'image/png', extensions: ['.png'], begins: /^\x89PNG/ },
  { type: 'image/jpeg', extensions: ['.jpg', '.jpeg'], begins: /^\xFF\xD8\xFF/ },
  { type: 'image/webp', extensions: ['.webp'], begins: /^RIFF.{4}WEBP/s },
  { type: 'image/gif', extensions: ['.gif'], begins: /^GIF8/ },
  { type: 'image/avif', extensions: ['.avif'], begins: /^.{4}ftypavi[fs]/s },
  { type: 'image/tiff', extensions: ['.tiff', '.tif'], begins: /^(?:II\*\0|MM\0\*)/ },
  { type: 'video/mp4', extensions: ['.mp4', '.m4v'], begins: /^.{4}ftyp(?:iso|mp4|avc|M4V)/s },
  { type: 'video/webm', extensions: ['.webm'], begins: /^.E\xDF\xA3/s },
]

const formatOf = (path: string): Format | undefined =>
  FORMATS.find(({ extensions }) => extensions.includes(extname(path).toLowerCase()))

/** Throws where no file of a name can be made, or none at all in this folder. */
export const checkPlace = async (output = ''): Promise<void> => {
  if (output.endsWith('/') || output.endsWith(sep) || (await isDirectory(output)))
    throw new UsageError(`-o must name a file, and ${output} is a folder`)
  const folder = dirname(output)
  const isWritable = access(folder, constants.W_OK).then(() => isDirectory(folder))
  if (await isWritable.catch(() => false)) return
  throw new UsageError(
    `no file can be made in ${folder}: -o must name one in a folder that is there`,
  )
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** Throws where a name says what the result will not be. @param asked the format of an image that the request asks for */
export const checkFormat = (
  output: string | undefined,
  medium: 'image' | 'video',
  asked: unknown,
): void => {
  const format = formatOf(output ?? '')
  const goes = FORMATS.filter(({ type }) => isMade(type, medium, asked))
  if (format === undefined || goes.length === 0 || goes.includes(format)) return
  const instead = goes.flatMap(({ extensions }) => extensions).join(', ')
  const what = medium === 'image' ? 'an image' : 'a video'
  const as = typeof asked === 'string' && asked !== 'auto' ? ` in the format ${asked}` : ''
  throw new UsageError(`the result will be ${what}${as}: -o ${output} must end with ${instead}`)
}

/** True of a type that a result may have. What is no format no result has: the service rejects it, and lists those there are. */
const isMade = (type: string, medium: 'image' | 'video', asked: unknown): boolean => {
  const [kind, name = ''] = type.split('/')
  if (kind !== medium || medium === 'video' || asked === 'auto') return kind === medium
  return asked === undefined ? OUTPUT_FORMATS.includes(name) : name === asked
}

const OUTPUT_FORMATS: readonly string[] = ['png', 'jpeg', 'webp']

/** The members of a request that have its picture made as its name says. */
export const askFormat = (output: string | undefined): { kiln_output_format?: string } => {
  const [, format = ''] = formatOf(output ?? '')?.type.split('/') ?? []
  return OUTPUT_FORMATS.includes(format) ? { kiln_output_format: format } : {}
}

interface Result {
  task_id: string
  url: string
  /** Its name, or all of it but the extension. */
  output: string | { stem: string }
}

/** Saves a result; returns its name. What a name says that it is not is saved under another, which the LocalError names. */
export const saveResult = async (
  { kiln, signal }: Pick<Context, 'kiln' | 'signal'>,
  { task_id, url, output }: Result,
): Promise<string> => {
  // The download has attempts of its own; these are for a break in the midst of it.
  const asked = readWithRetries({ ...RETRY, attempts: 2 }, signal, () => kiln.download(url, signal))
  const bytes = await asked.catch((error: unknown) => {
    throw withDetail(error, hint(task_id))
  })
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  const format = FORMATS.find(({ begins }) => begins.test(head))
  // The service names what is no picture and no film by its bytes, too.
  const extension = format?.extensions[0] ?? extname(new URL(url).pathname)
  if (typeof output !== 'string') return await write(output.stem + extension, bytes, task_id)
  const named = formatOf(output)
  if (named === undefined || named.extensions.includes(extension))
    return await write(output, bytes, task_id)
  const stem = output.slice(0, -extname(output).length)
  const isTaken = existsSync(stem + extension)
  const path = isTaken ? `${stem}.${task_id.slice(0, 8)}${extension}` : stem + extension
  const saved = await write(path, bytes, task_id)
  throw new LocalError(
    `the result of ${task_id} is ${extension.slice(1).toUpperCase()}, and ${output} says otherwise: it is saved as ${saved}. Convert it, or end the name with ${extension}`,
  )
}

const hint = (id: string): string => `the result is kept: \`kiln watch ${id} -o <file>\``

/** Writes a file, which is whole or as it was before. */
const write = async (path: string, bytes: Uint8Array, id: string): Promise<string> => {
  const target = await realpath(path).catch(() => path)
  const scratch = join(dirname(target), `.${randomUUID()}.part`)
  try {
    const isFile = await stat(target).then(
      (found) => found.isFile(),
      () => true,
    )
    await writeFile(isFile ? scratch : target, bytes)
    if (isFile) await rename(scratch, target)
    return path
  } catch (error) {
    const reported = error instanceof Error ? error.message : String(error)
    throw new LocalError(`${reported}; ${hint(id)}`)
  } finally {
    await rm(scratch, { force: true })
  }
}
