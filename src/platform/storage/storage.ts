import type { Readable } from 'node:stream'

import { listCauses } from '../domain/causes.ts'
import { isCode } from './files.ts'

/** A part of a file: both ends count from 0 and are included. */
export interface ByteRange {
  start: number
  end: number
}

export interface StoredFile {
  stream: Readable
  /** Bytes of the whole file, also when only a range is read. */
  size: number
}

/** Headers that a link of the store sets in the response. */
export interface LinkedResponse {
  contentType: string
  disposition: string
  cacheControl: string
  /** When the link ends at the latest, in unix seconds; it lives for 15 minutes at most. */
  ends: number
}

/**
 * A store of files. A key is a relative path with slashes (`results/<task id>/<fence>/result-1.png`); its segments
 * hold ASCII letters, digits and `._+-` and do not begin with a dot, so that every store can take it.
 *
 * A file is either absent or whole: what is written becomes readable under its key in one step. Errors of the store
 * itself (no space, no permission, no connection) arrive as the plain errors of the system.
 */
export interface Storage {
  /** Moves a finished file of the scratch folder under the key. The file at `path` is gone afterwards. */
  putFile(key: string, path: string): Promise<void>
  /** Stores files of one folder by their names: bytes, or a path, from which it is moved. No part of it runs on after its end. */
  putFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void>
  /** Stores what a stream delivers. Throws `too_large`, and keeps nothing, once it is longer than `maxBytes`. */
  putStream(key: string, readable: Readable, limit: { maxBytes: number }): Promise<StoredDigest>
  /** Opens a file. The caller reads the stream to its end or destroys it. Throws `not_found`. */
  open(key: string, range?: ByteRange): Promise<StoredFile>
  /** A link that reads the file from the store itself, without a credential; absent where a store has no address, undefined of a file that is not there yet. */
  link?(key: string, response: LinkedResponse): Promise<string | undefined>
  /** `writtenAt`: when its last byte was written, in unix milliseconds by the clock of the store. */
  stat(key: string): Promise<{ size: number; writtenAt: number } | undefined>
  /**
   * Puts a file of the store at a local path and replaces what is there. The result may share its bytes with the store,
   * so it must only be read or removed. Throws `not_found`.
   */
  fetchToFile(key: string, path: string): Promise<void>
  /** Removes a file; one that is absent counts as removed. */
  remove(key: string): Promise<void>
  /** Removes every file below a folder: `results/1` does not touch `results/10`. */
  removePrefix(prefix: string): Promise<void>
  /** Keys below a folder, in order; `''` lists all. */
  list(prefix: string): Promise<string[]>
  /** Names of the folders directly below a folder, in any order; they may be millions. */
  listFolders(prefix: string): AsyncIterable<string>
  /** Throws when the store cannot be written. Cheap enough for a readiness probe. */
  check(): Promise<void>
  /** A local folder for unfinished files, one for each purpose, from which `putFile` moves without copying. */
  scratchDir(purpose?: string): Promise<string>
  /**
   * Removes scratch entries that nobody has written to for `olderThanMs`, and counts them. An unfinished file is
   * written to as its bytes arrive, so the age may be short where the input has a least rate. With a purpose it removes
   * entries of this purpose, and entries of the store's own writes that are 10 minutes old. Without one it removes all
   * entries of this age.
   */
  cleanUpTemporary(olderThanMs: number, purpose?: string): Promise<number>
}

export interface StoredDigest {
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/** An error of the request to the store, not of the store: no such file, not a key, more bytes than allowed. */
export class StorageError extends Error {
  override name = 'StorageError'
  readonly code: 'not_found' | 'key_invalid' | 'too_large'

  constructor(code: StorageError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Codes of a full store, of files and of servers of S3. */
const FULL = ['ENOSPC', 'EDQUOT', 'XMinioStorageFull', 'QuotaExceeded', 'InsufficientStorage']
const INSUFFICIENT_STORAGE = 507

/** True when a store has no room for a file. An engine writes files, too: the cause of its error counts. */
export const isFull = (error: unknown): boolean =>
  listCauses(error).some(
    (cause) =>
      isCode(cause, ...FULL) ||
      // Of the store alone: a server of webhooks or an engine may respond so, too.
      ('isOutage' in cause && 'status' in cause && cause.status === INSUFFICIENT_STORAGE),
  )

/** True when a store has failed in a way that is not of the request: it does not respond, has too much to do, or no space. */
export const isOutage = (error: unknown): boolean =>
  isFull(error) || listCauses(error).some((cause) => 'isOutage' in cause && cause.isOutage === true)

/** Splits a key into its segments. Throws `key_invalid` for whatever is not a key. */
export const keySegments = (key: string): string[] => {
  const segments = key.split('/')
  if (key.length > MAX_KEY_LENGTH || !segments.every((segment) => SEGMENT.test(segment)))
    throw new StorageError('key_invalid', `not a storage key: ${JSON.stringify(key.slice(0, 80))}`)
  return segments
}

// An S3 key takes 1,024 bytes, a name in a common file system 255.
const MAX_KEY_LENGTH = 1024
const SEGMENT = /^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,254}$/
