import { createHash, randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { join } from 'node:path'

import { apiError, errors, shown, type ErrorCodeName } from '../domain/errors.ts'
import { failpoint } from '../process/failpoint.ts'
import type { Budget, Reservation } from '../json-body/budget.ts'
import { hasBody } from '../json-body/media-type.ts'
import { USUAL_PACE } from '../json-body/pace.ts'
import { openBodySource, tooLarge, type BodySource } from '../json-body/source.ts'

export interface UploadedFileDeps {
  budget: Budget
  /** Folder of this process for bodies that still arrive. */
  scratchDir: string
}

/** A file whose bytes have all arrived. */
export interface UploadedFile {
  /** In the scratch folder. Move it away to keep it. */
  path: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Its first bytes, as many as were asked for where it has them. */
  head: Buffer
}

export interface UploadRules {
  request: { incoming: IncomingMessage; address: string; accept(): void }
  maxBytes: number
  /** Number of first bytes that show what a file is. */
  headBytes: number
  /** Validates them as soon as they are there. */
  validateHead?(head: Buffer): void
  /** Error code of an upload without a byte. */
  emptyCode: ErrorCodeName
}

/** Time for the bytes of one upload. */
const DEADLINE_MS = 300_000

/**
 * Takes the body of a request into a file of the scratch folder, hashed while it passes, and gives it to `use`; the file
 * is gone afterwards. Throws 400 `emptyCode`, validation_failed or checksum_mismatch, 408, 413, 503, and what
 * `validateHead` throws.
 */
export const takeFile = async <T>(
  { budget, scratchDir }: UploadedFileDeps,
  rules: UploadRules,
  use: (file: UploadedFile) => Promise<T>,
): Promise<T> => {
  const { incoming } = rules.request
  requireWhole(incoming.headers)
  const digests = readDigests(incoming.headers)
  if (!hasBody(incoming.headers)) throw noBytes(rules)
  if (Number(incoming.headers['content-length'] ?? 0) > rules.maxBytes)
    throw tooLarge(rules.maxBytes)
  const reservation = budget.open(rules.request.address)
  const path = join(scratchDir, randomUUID())
  try {
    rules.request.accept()
    const written = await writeBody(path, rules, reservation)
    const wrong = digests.find(({ sha256 }) => sha256 !== written.sha256)
    if (wrong)
      throw apiError(
        'checksum_mismatch',
        `The bytes must have the SHA-256 ${wrong.sha256} of ${wrong.header}, and ${written.bytes} came with ${written.sha256}.`,
      )
    return await use({ path, ...written })
  } finally {
    reservation.release()
    // A file that cannot be removed goes when the folder of this process goes.
    await rm(path, { force: true }).catch(() => {})
  }
}

const writeBody = async (
  path: string,
  rules: UploadRules,
  reservation: Reservation,
): Promise<Omit<UploadedFile, 'path'>> => {
  const file = await open(path, 'wx').catch(rejectForNow)
  const { incoming } = rules.request
  const source = openBodySource(incoming, {
    ...rules,
    deadlineMs: DEADLINE_MS,
    pace: USUAL_PACE,
    onBytes: (bytes) => reservation.take('received', bytes),
  })
  try {
    const { head, sha256 } = await copyBody(source, file, rules)
    const bytes = source.received()
    if (bytes === 0) throw noBytes(rules)
    if (head.length < rules.headBytes) rules.validateHead?.(head)
    return { bytes, sha256, head }
  } finally {
    source.close()
    await file.close()
  }
}

const copyBody = async (
  source: BodySource,
  file: FileHandle,
  { headBytes, validateHead }: UploadRules,
): Promise<{ head: Buffer; sha256: string }> => {
  const digest = createHash('sha256')
  let head = Buffer.alloc(0)
  // The next bytes are hashed while these are written.
  let written = Promise.resolve()
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    if (head.length < headBytes) {
      head = Buffer.concat([head, chunk]).subarray(0, headBytes)
      if (head.length === headBytes) validateHead?.(head)
    }
    digest.update(chunk)
    await written
    // appendFile goes on after a short write, which a bare write() does not.
    written = file.appendFile(chunk).catch(rejectForNow)
    // Its error is thrown to whoever awaits it next.
    written.catch(() => {})
    failpoint('upload.mid-body')
  }
  await written
  return { head, sha256: digest.digest('hex') }
}

const noBytes = ({ emptyCode }: UploadRules) =>
  apiError(
    emptyCode,
    'No bytes came: the file, such as an image for a task, is empty. The body must be the file itself.',
  )

/** Throws 503: when the scratch folder cannot take a file (no space, no permission), the request is not to blame. */
const rejectForNow = (error: unknown): never => {
  throw errors.unavailable(error)
}

/** Rejects a part, which would be kept as the whole file (RFC 9110, 14.5). */
const requireWhole = ({ 'content-range': range }: IncomingHttpHeaders): void => {
  if (range === undefined) return
  const error = `Content-Range must be absent: an upload is sent whole, got ${shown(range)}`
  throw errors.validationFailed([error])
}

interface GivenDigest {
  header: string
  /** Lower-case hex. */
  sha256: string
}

/**
 * The SHA-256 of Repr-Digest and Content-Digest (RFC 9530) and of Digest, which many write in hex. Other algorithms are
 * left out. Throws validation_failed for what is not of its form.
 */
const readDigests = (headers: IncomingHttpHeaders): GivenDigest[] =>
  ['Repr-Digest', 'Content-Digest', 'Digest'].flatMap((header) =>
    String(headers[header.toLowerCase()] ?? '')
      .split(',')
      .map((member) => member.trim())
      .filter((member) => /^sha-256(?![^\s=;])/i.test(member))
      .map((member) => ({ header, sha256: readDigest(header, member) })),
  )

const BASE64 = /^sha-256=(:?)([a-z0-9+/]{43}=?)\1$/i
const HEX = /^sha-256=([0-9a-f]{64})$/i

const readDigest = (header: string, member: string): string => {
  const base64 = BASE64.exec(member)?.[2]
  if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex')
  const hex = header === 'Digest' ? HEX.exec(member)?.[1] : undefined
  if (hex !== undefined) return hex.toLowerCase()
  const form =
    header === 'Digest' ? 'sha-256=<32 bytes in Base64>' : 'sha-256=:<32 bytes in Base64>:'
  throw errors.validationFailed([`${header} must have the form ${form}, got ${shown(member)}`])
}
