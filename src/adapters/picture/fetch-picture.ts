import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { FetchedPicture } from '../../domain/registry/picture-address.ts'
import { findChildUser, giveFolder, type ChildUser } from '../child-user.ts'
import type { Outbound } from '../outbound/client.ts'
import { OutboundError } from '../outbound/error.ts'
import { EXIT_REASONS, MOST_BYTES, MOST_BYTES_MADE } from './limits.ts'

/**
 * Fetches a stranger's picture and makes it a WebP of at most so many pixels a side. Rejects for errors of this machine
 * only.
 */
export type FetchPicture = (asked: { url: string; side: number }) => Promise<FetchedPicture>

interface FetchDeps {
  outbound: Outbound
  /** Folder of the files meanwhile. */
  dir: string
  /** Milliseconds to fetch one, and again to make it small. */
  mostMs: number
}

const ENTRY = fileURLToPath(new URL('./child.js', import.meta.url))

/** The pictures are decoded in a process of its own for each: what one does to its decoder, it does to that alone. */
export const makeFetchPicture = ({ outbound, dir, mostMs }: FetchDeps): FetchPicture => {
  let user: Promise<ChildUser | undefined> | undefined
  return async ({ url, side }) => {
    const path = join(dir, `picture-${randomUUID()}`)
    try {
      const limits = { maxBytes: MOST_BYTES, timeoutMs: mostMs, maxRedirects: 3 }
      await outbound.download({ url, toFile: path, ...limits })
      user ??= findChildUser(dir, { programs: [process.execPath], files: [ENTRY, SHARP] })
      await giveFolder(path, await user)
      return await reduce(path, { side, mostMs, user: await user })
    } catch (error) {
      if (error instanceof OutboundError) return { bytes: null, error: error.message }
      throw error
    } finally {
      await rm(path, { force: true })
    }
  }
}

const SHARP = fileURLToPath(import.meta.resolve('sharp'))

const reduce = async (
  path: string,
  { side, mostMs, user }: { side: number; mostMs: number; user: ChildUser | undefined },
): Promise<FetchedPicture> => {
  const given = ['--max-old-space-size=64', ENTRY, path, String(side), String(mostMs)]
  const limits = { timeout: mostMs, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES_MADE } as const
  const options = { ...user, ...limits, cwd: '/', env: {}, encoding: 'buffer' } as const
  try {
    const { stdout: bytes } = await promisify(execFile)(process.execPath, given, options)
    return { bytes, error: null }
  } catch (error) {
    const reason = reasonOf(error as ChildError)
    if (reason === undefined) throw error
    return { bytes: null, error: reason }
  }
}

type ChildError = { code?: number | string | null; signal?: string | null }

/** It said so, or made too many bytes, was killed for its time or memory, or crashed; undefined: no error of the picture. */
const reasonOf = ({ code, signal }: ChildError): string | undefined => {
  if (typeof code === 'number' && EXIT_REASONS[code]) return EXIT_REASONS[code]
  return code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' || signal
    ? 'making it small took too much time or memory'
    : undefined
}
