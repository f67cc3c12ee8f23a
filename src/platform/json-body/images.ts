import { probeImage } from '../../../packages/engines/src/image-probe.ts'
import { apiError } from '../domain/errors.ts'
import { makeBase64Decoder, type Base64Decoder, type Base64Issue } from './base64.ts'
import { makeImageFile, type ImageFile } from './image-file.ts'
import { makeInlineMarker, type ImageIssue, type InlineImage } from './inline.ts'
import type { TextSink } from './text.ts'

export interface ImageLimits {
  scratchDir: string
  /** Decoded bytes of each image. */
  maxImageBytes: number
  /** Width × height of each image. */
  maxPixels: number
  /** Inline images in one body: each one costs a file and a probe. Further images are dropped while they arrive. */
  maxImages: number
}

/** Receives the inline images of one body, one after another. */
export interface ImageIntake {
  /** Begins an image. Its `end` gives the marker that stands for it. */
  open: (pointer: string) => TextSink & { reject: (reason: string) => void }
  /** Call after each piece of the body: hands full buffers to the file system and completes images that have ended. */
  flush: () => Promise<void>
  /** Reads the header of each image; its issues are in the list, not thrown. */
  finish: () => Promise<InlineImage[]>
  /** Removes all files. */
  discard: () => Promise<void>
}

interface Entry {
  pointer: string
  file: ImageFile
  decoder: Base64Decoder
  ended: boolean
  sha256: string
  issue: ImageIssue | undefined
}

export const makeImageIntake = (limits: ImageLimits): ImageIntake => {
  const entries: Entry[] = []
  let pending: Entry[] = []

  const add = (pointer: string): Entry => {
    const taken = entries.length < limits.maxImages
    const entry = {
      pointer,
      file: taken ? makeImageFile(limits.scratchDir) : NO_FILE,
      decoder: makeBase64Decoder(),
      ended: false,
      sha256: '',
      issue: taken ? undefined : tooMany(pointer, limits.maxImages),
    }
    entries.push(entry)
    pending.push(entry)
    return entry
  }

  const flushEntry = async (entry: Entry) => {
    if (entry.issue === undefined) await entry.file.flush(entry.ended)
    if (!entry.ended) return
    entry.sha256 = entry.file.sha256()
    await entry.file.close()
  }

  return {
    open: (pointer) => {
      // The first image beyond the limit stands for all others. Nothing of those is kept.
      if (entries.length > limits.maxImages) return makeDrop(limits.maxImages)
      const entry = add(pointer)
      const index = entries.length - 1
      return {
        write: (piece) => {
          decode(entry, (target, offset) => entry.decoder.write(piece, target, offset))
          rejectOversize(entry, limits.maxImageBytes)
        },
        reject: (reason) => {
          entry.issue = notBase64(pointer, reason)
        },
        end: () => {
          decode(entry, (target, offset) => entry.decoder.end(target, offset))
          rejectOversize(entry, limits.maxImageBytes)
          entry.ended = true
          return makeInlineMarker(index)
        },
      }
    },
    flush: async () => {
      for (const entry of pending) await flushEntry(entry)
      pending = pending.filter((entry) => !entry.ended)
    },
    finish: () => Promise.all(entries.map((entry) => probe(entry, limits.maxPixels))),
    discard: async () => {
      await Promise.all(entries.map((entry) => entry.file.discard()))
    },
  }
}

const makeDrop = (index: number): ReturnType<ImageIntake['open']> => ({
  write: () => {},
  reject: () => {},
  end: () => makeInlineMarker(index),
})

/** File of an image that is not taken. */
const NO_FILE: ImageFile = {
  path: '',
  bytes: () => 0,
  fill: () => {},
  flush: () => Promise.resolve(),
  sha256: () => '',
  close: () => Promise.resolve(),
  discard: () => Promise.resolve(),
}

const tooMany = (pointer: string, maxImages: number): ImageIssue => ({
  code: 'image_invalid',
  message: `${pointer} expected at most ${maxImages} inline images in one body.`,
})

/** A faulty image takes nothing more, but the body around it is read on, so that all its issues are shown at once. */
const decode = (
  entry: Entry,
  write: (target: Buffer, offset: number) => number | Base64Issue,
): void => {
  if (entry.issue !== undefined) return
  entry.file.fill((target, offset) => {
    const result = write(target, offset)
    if (typeof result === 'number') return result
    entry.issue = notBase64(entry.pointer, `${result.reason} (character ${result.at})`)
    return 0
  })
}

const rejectOversize = (entry: Entry, maxImageBytes: number): void => {
  if (entry.file.bytes() <= maxImageBytes) return
  throw apiError(
    'body_too_large',
    `${entry.pointer} expected an image of at most ${maxImageBytes} bytes.`,
  )
}

const notBase64 = (pointer: string, reason: string): ImageIssue => ({
  code: 'image_invalid',
  message: `${pointer} expected an image as URL, data URI or Base64: ${reason}.`,
})

const probe = async (entry: Entry, maxPixels: number): Promise<InlineImage> => {
  const { pointer, file, sha256, issue: failure } = entry
  const inline = { pointer, path: file.path, bytes: file.bytes(), sha256 }
  if (failure !== undefined) return { ...inline, issue: failure }
  try {
    return { ...inline, image: await probeImage(file.path, { maxPixels }) }
  } catch (error) {
    if (!isImageError(error)) throw error
    return { ...inline, issue: { code: error.code, message: `${pointer}: ${error.message}` } }
  }
}

const isImageError = (error: unknown): error is Error & { code: ImageIssue['code'] } =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'image_invalid' || error.code === 'pixel_limit')
