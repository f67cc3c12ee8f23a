import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { StorageFault } from '../src/adapters/storage/storage.ts'
import type { StoredArchive } from '../src/db/registry/archive.ts'
import { CHECK_FAULTS } from '../src/domain/registry/archive-check.ts'
import type { CheckFaultCode } from '../src/domain/registry/archive-check.ts'
import type { MediaDependencies } from './dependencies.ts'

/** A fault of the service, by its code. */
export class CheckFault extends Error {
  override name = 'CheckFault'
  readonly code: CheckFaultCode

  constructor(code: CheckFaultCode, options?: ErrorOptions) {
    super(CHECK_FAULTS[code], options)
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
      const isMissing = error instanceof StorageFault && error.code === 'not_found'
      throw isMissing ? new CheckFault('archive_missing', { cause: error }) : error
    })
    const digest = createHash('sha256')
    const { size } = await stat(path)
    await pipeline(createReadStream(path), digest, { signal })
    if (size !== archive.bytes || digest.digest('hex') !== archive.sha256)
      throw new CheckFault('archive_differs')
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}
