import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { digestFile } from '../src/adapters/storage/measure.ts'
import { StorageError } from '../src/adapters/storage/storage.ts'
import type { StoredArchive } from '../src/db/registry/archive.ts'
import { CHECK_ERRORS } from '../src/domain/registry/archive-check.ts'
import type { CheckErrorCode } from '../src/domain/registry/archive-check.ts'
import type { MediaDependencies } from './dependencies.ts'

/** An error of the service, by its code. */
export class CheckError extends Error {
  override name = 'CheckError'
  readonly code: CheckErrorCode

  constructor(code: CheckErrorCode, options?: ErrorOptions) {
    super(CHECK_ERRORS[code], options)
    this.code = code
  }
}

/**
 * Does some work on a local copy of a stored archive and removes it. Throws unless the copy is, byte for byte, what was
 * uploaded.
 */
export const withArchive = async <T>(
  { storage, scratchDir }: Pick<MediaDependencies, 'storage' | 'scratchDir'>,
  { archive }: { archive: StoredArchive },
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> => {
  const path = join(scratchDir, randomUUID())
  try {
    await storage.fetchToFile(archive.storageKey, path).catch((error: unknown) => {
      const isMissing = error instanceof StorageError && error.code === 'not_found'
      throw isMissing ? new CheckError('archive_missing', { cause: error }) : error
    })
    const { bytes, sha256 } = await digestFile(path, signal)
    if (bytes !== archive.bytes || sha256 !== archive.sha256)
      throw new CheckError('archive_differs')
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}
