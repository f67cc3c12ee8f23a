import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'

import type { ArchiveFile } from '../../../packages/inspector/src/inspection.ts'

/** Unpacks the bytes that a file takes up in an archive. Rejects where they hold more than it has. */
export const unpackFile = async (
  packed: Buffer,
  { bytes, isDeflated }: Pick<ArchiveFile, 'bytes' | 'isDeflated'>,
): Promise<Buffer> =>
  isDeflated ? await promisify(inflateRaw)(packed, { maxOutputLength: bytes + 1 }) : packed
