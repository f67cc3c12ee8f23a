import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { FetchedPicture } from '../domain/picture-address.ts'
import { findChildUser, giveFolder, type ChildUser } from '../../platform/adapters/child-user.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { EXIT_REASONS, MAX_BYTES, MAX_BYTES_MADE } from './limits.ts'

/**
 * Fetches a stranger's picture and makes it a WebP of at most so many pixels a side. Rejects for errors of this machine
 * only.
 */
export type FetchPicture = (asked: { url: string; side: number }) => Promise<FetchedPicture>

/**
 * Makes a picture that lies in the folder a WebP of at most so many pixels a side. Rejects for errors of this machine
 * only.
 */
export type ReducePicture = (asked: {
  path: string
  side: number
  /** An SVG is one, too, drawn without what else it names. */
  mayBeSvg?: boolean
}) => Promise<FetchedPicture>

interface ReduceDeps {
  /** Folder of the files meanwhile. */
  dir: string
  /** Milliseconds to fetch one, and again to make it small. */
  maxMs: number
}

interface FetchDeps extends ReduceDeps {
  outbound: Outbound
  reducePicture: ReducePicture
}

const ENTRY = fileURLToPath(new URL('./child.js', import.meta.url))

/** The pictures are decoded in a process of its own for each: what one does to its decoder, it does to that alone. */
export const makeReducePicture = ({ dir, maxMs }: ReduceDeps): ReducePicture => {
  let user: Promise<ChildUser | undefined> | undefined
  return async ({ path, side, mayBeSvg = false }) => {
    user ??= findChildUser(dir, { programs: [process.execPath], files: [ENTRY, SHARP] })
    await giveFolder(path, await user)
    return await reduce(path, { side, maxMs, mayBeSvg, user: await user })
  }
}

export const makeFetchPicture =
  ({ outbound, reducePicture, dir, maxMs }: FetchDeps): FetchPicture =>
  async ({ url, side }) => {
    const path = join(dir, `picture-${randomUUID()}`)
    try {
      const limits = { maxBytes: MAX_BYTES, timeoutMs: maxMs, maxRedirects: 3 }
      await outbound.download({ url, toFile: path, ...limits })
      return await reducePicture({ path, side })
    } catch (error) {
      if (error instanceof OutboundError) return { bytes: null, error: error.message }
      throw error
    } finally {
      await rm(path, { force: true })
    }
  }

const SHARP = fileURLToPath(import.meta.resolve('sharp'))

interface Reducing {
  side: number
  maxMs: number
  mayBeSvg: boolean
  user: ChildUser | undefined
}

const reduce = async (
  path: string,
  { side, maxMs, mayBeSvg, user }: Reducing,
): Promise<FetchedPicture> => {
  const given = ['--max-old-space-size=64', ENTRY, path, `${side}`, `${maxMs}`]
  const limits = { timeout: maxMs, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES_MADE } as const
  const options = { ...user, ...limits, cwd: '/', env: {}, encoding: 'buffer' } as const
  try {
    const { stdout: bytes } = await run(
      process.execPath,
      mayBeSvg ? [...given, 'svg'] : given,
      options,
    )
    return { bytes, error: null }
  } catch (error) {
    const reason = reasonOf(error as ChildError)
    if (reason === undefined) throw error
    return { bytes: null, error: reason }
  }
}

const run = promisify(execFile)

type ChildError = { code?: number | string | null; signal?: string | null }

/** It said so, or made too many bytes, was killed for its time or memory, or crashed; undefined: no error of the picture. */
const reasonOf = ({ code, signal }: ChildError): string | undefined => {
  if (typeof code === 'number' && EXIT_REASONS[code]) return EXIT_REASONS[code]
  return code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' || signal
    ? 'making it small took too much time or memory'
    : undefined
}
