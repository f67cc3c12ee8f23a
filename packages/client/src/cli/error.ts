import { readFile } from 'node:fs/promises'

import { ArgumentError, KilnError } from '../index.ts'
import { readSavedJson } from './read-saved.ts'

/** Exit codes; docs/client.md lists them. */
export const EXIT = { done: 0, failed: 1, usage: 2, rejected: 3, away: 4, local: 5, left: 130 }
/** Those of a pack whose host nodes cannot be read, or not all of them. */
export const EXIT_READING = { failed: 6, partial: 7 }
/** That of a check which does not know all host nodes. A build may let it pass, so a rejected check ends with 2. */
export const EXIT_UNKNOWN = 3

/** The command line is not one that is understood, or names a file or folder that is not there. */
export class UsageError extends Error {}

/** Reads a file that an argument names. */
export const readNamed = async (path: string): Promise<Buffer> =>
  await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the file ${path} cannot be read (${error.code})`)
  })

/** The JSON of a file that an argument names, or of the workflow in a picture or video. */
export const parseNamed = (content: Uint8Array, path: string): unknown => {
  try {
    return readSavedJson(content, path)
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause })
  }
}

/** Something on this machine is not as it has to be: a file, a folder, a setting. */
export class LocalError extends Error {}

/** Advice on codes that the service's message leaves open. */
const HINTS: Partial<Record<string, string[]>> = {
  version_exists: ['raise the number in pyproject.toml, and publish again'],
  unauthorized: [
    'KILN_TOKEN or KILN_API_KEY must hold a credential of this service; `kiln token --user <name>` makes one for a development server',
  ],
}

/** Throws an error of the service again; a rejection as one of wrong usage. */
export const rejectAsUsage = (error: unknown): never => {
  if (describeError(error).exitCode !== EXIT.rejected) throw error
  throw new UsageError('rejected', { cause: error })
}

interface Described {
  exitCode: number
  code: string
  message: string
  details: string[]
}

/** Exit code, message and details of an error. */
export const describeError = (error: unknown): Described => {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof KilnError) {
    const { code, status = 0, details, requestId } = error
    const isAway = code === 'unreachable' || status >= 500 || status === 429
    return {
      exitCode: isAway ? EXIT.away : EXIT.rejected,
      code,
      message: requestId === undefined ? message : `${message} (request ${requestId})`,
      details: [...details.filter((detail) => detail !== message), ...(HINTS[code] ?? [])],
    }
  }
  if (error instanceof UsageError && error.cause instanceof KilnError)
    return { ...describeError(error.cause), exitCode: EXIT.usage }
  if (error instanceof UsageError || error instanceof ArgumentError || isParseError(error))
    return { exitCode: EXIT.usage, code: 'usage', message, details: [] }
  return { exitCode: EXIT.local, code: 'local', message, details: [] }
}

/** Adds to the error of a service that does not respond where it was looked for, and who says so. */
export const withAddress = (error: unknown, address: string): unknown => {
  if (!(error instanceof KilnError) || error.code !== 'unreachable') return error
  return withDetail(error, `${address} was tried: --url or KILN_URL names another address`)
}

/** Adds to the rejection of a personal access token the publisher that it was sent for, and who named that. */
export const withPublisher = (error: unknown, publisher: string): unknown => {
  if (!(error instanceof KilnError) || error.code !== 'invalid_personal_access_token') return error
  return withDetail(error, publisher)
}

/** Adds a line to what is said of an error of the service. */
export const withDetail = (error: unknown, detail: string): unknown => {
  if (!(error instanceof KilnError)) return error
  const { code, message, status, requestId } = error
  const details = [...error.details, detail]
  return new KilnError({ code, message, status, requestId, details, cause: error })
}

const isParseError = (error: unknown): boolean =>
  error instanceof TypeError &&
  String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
