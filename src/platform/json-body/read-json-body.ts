import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

import { apiError } from '../domain/errors.ts'
import { isObject } from '../domain/is-object.ts'
import { toPointer, fromPointer } from '../domain/pointer.ts'
import { makeAssembler, type Assembler, type Hold } from './assembler.ts'
import type { BodyLimits } from './body-limits.ts'
import type { Budget, Reservation } from './budget.ts'
import { makeImageIntake, type ImageIntake } from './images.ts'
import type { InlineImage } from './inline.ts'
import { bodyRequired, notAnObject, parseBody } from './parse.ts'
import { hasBody, requireJson } from './media-type.ts'
import { USUAL_PACE, type Pace } from './pace.ts'
import { openBodySource, tooLarge } from './source.ts'
import { makeText, makeImageText } from './text.ts'

/** Dependencies of whatever reads bodies with images. */
export interface BodyDeps {
  budget: Budget
  /** Folder of this process for images of bodies that still arrive. */
  scratchDir: string
  maxImageBytes: number
  maxImagePixels: number
}

export interface ReadJsonBodyOptions extends BodyLimits {
  /** Decoded bytes of each inline image. */
  maxImageBytes: number
  /** Width × height of each inline image. */
  maxPixels: number
  /** An existing folder for the decoded images. */
  scratchDir: string
  budget: Budget
  /** Whose share of the budget it counts for. */
  address: string
  pace?: Pace
  /** True: a request without a body counts as `{}`. */
  emptyAllowed?: boolean
  /** Called once the headers are accepted, before the first byte is read: the place for `100 Continue`. */
  onAccept?: () => void
  /** Called after each piece with the bytes received so far. */
  onProgress?: (bytes: number) => void
  /** Stops the reading; its reason is thrown as it is. */
  signal?: AbortSignal
}

export interface JsonBody {
  /** The object, with an `InlineMarker` where an inline image stood. */
  value: Record<string, unknown>
  /** In the order of the text; `inline[i]` belongs to the marker with the index i. */
  inline: InlineImage[]
  /** Bytes on the wire. */
  bytes: number
  /** Removes the files of `inline` that are still in the scratch folder. The caller owns them from here on. */
  discard: () => Promise<void>
}

/** A body with the headers that say what it is: a request, or what is read like one. */
export type JsonSource = Readable & { headers: IncomingHttpHeaders }

/**
 * The one reader of JSON bodies: reads a request as it streams, strictly (RFC 8259, UTF-8, one object, no repeated key,
 * depth 64, keys of 256 characters), decodes inline images into files and keeps only the rest in memory.
 *
 * What is wrong with an inline image is returned in `inline`; everything else is thrown, and then no file is left:
 * 400 `body_required`, `json_invalid`, `json_too_deep`, `bad_request` (client gone); 408 `request_timeout`;
 * 413 `body_too_large` (body, part in memory or one decoded image); 415; 503 `busy` (budget), `unavailable` (disk).
 * The request is never destroyed: an error may leave unread bytes, see `endEarly`.
 */
export const readJsonBody = async (
  request: JsonSource,
  options: ReadJsonBodyOptions,
): Promise<JsonBody> => {
  const { headers } = request
  if (!hasBody(headers))
    return { value: emptyValue(options), inline: [], bytes: 0, discard: async () => {} }
  requireJson(headers)
  if (Number(headers['content-length'] ?? 0) > options.maxBytes) throw tooLarge(options.maxBytes)

  const reservation = options.budget.open(options.address)
  const images = makeImageIntake({ maxImages: 16, ...options })
  try {
    return await readAccepted(request, options, images, reservation)
  } catch (error) {
    await images.discard()
    throw error
  } finally {
    reservation.release()
  }
}

/** The value of a body without one. */
const emptyValue = (options: ReadJsonBodyOptions): Record<string, unknown> => {
  if (!options.emptyAllowed) throw bodyRequired()
  return {}
}

const readAccepted = async (
  request: JsonSource,
  options: ReadJsonBodyOptions,
  images: ImageIntake,
  reservation: Reservation,
): Promise<JsonBody> => {
  const source = openBodySource(request, {
    pace: USUAL_PACE,
    ...options,
    onBytes: (bytes) => reservation.take('received', bytes),
  })
  try {
    options.onAccept?.()
    const assembler = makeBodyAssembler(options, images, reservation)
    const found = await parseBody({ source, assembler, images, onProgress: options.onProgress })
    const value = found === undefined ? emptyValue(options) : found.value
    if (!isObject(value)) throw notAnObject(value)
    const inline = await images.finish()
    return { value, inline, bytes: source.received(), discard: images.discard }
  } finally {
    source.close()
  }
}

const makeBodyAssembler = (
  options: ReadJsonBodyOptions,
  images: ImageIntake,
  reservation: Reservation,
): Assembler => {
  const hold = makeHold(options.memoryBytes, reservation)
  const isImage = makePathMatcher(options.images ?? [])
  return makeAssembler({
    maxDepth: 64,
    maxMembers: options.maxMembers ?? 100_000,
    maxKeyLength: 256,
    hold,
    openImage: (depth, path) => {
      if (!isImage(depth, path)) return undefined
      return makeImageText({
        makeText: () => makeText((bytes) => hold(bytes, 0)),
        openImage: () => images.open(toPointer(path())),
      })
    },
  })
}

// What V8 takes for a member besides its text: 47 measured for one with a small value, 64 for an empty object. The
// largest body a route may allow (1,000,000 members, 16 MiB of text) just fits the share of an address, 64 MiB.
const BYTES_PER_MEMBER = 48

const makeHold = (memoryBytes: number, reservation: Reservation): Hold => {
  let kept = 0
  return (textBytes, members) => {
    kept += textBytes
    if (kept > memoryBytes)
      throw apiError(
        'body_too_large',
        `The body, inline images apart, must not be longer than ${memoryBytes} bytes.`,
      )
    reservation.take('memory', textBytes + members * BYTES_PER_MEMBER)
  }
}

/** Makes a test for places in a body: JSON Pointers in which the step `*` stands for any key or index. */
const makePathMatcher = (
  pointers: readonly string[],
): ((depth: number, path: () => readonly string[]) => boolean) => {
  const patterns = pointers.map(fromPointer)
  const depths = new Set(patterns.map((pattern) => pattern.length))
  // The path is made only where it could match: a body has many strings and few images.
  return (depth, path) => depths.has(depth) && patterns.some((pattern) => fits(pattern, path()))
}

const fits = (pattern: readonly string[], path: readonly string[]): boolean =>
  pattern.length === path.length &&
  pattern.every((step, index) => step === '*' || step === path[index])
