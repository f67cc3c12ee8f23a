import { reject } from './reject.ts'
import { readView } from './source.ts'
import type { RandomAccess } from './source.ts'

/** Numbers of an end record, plain or zip64. */
interface EndNumbers {
  disk: number
  directoryDisk: number
  diskEntries: number
  entries: number
  bytes: number
  offset: number
}

/**
 * The numbers of the zip64 end record (APPNOTE 4.3.14) if its locator lies before the plain one, and where it starts.
 * Some tools write both though the plain one would do; then they must agree. Where the plain one has no room (all bits
 * set) and no zip64 record follows, the number stands as it is and the limits apply to it.
 */
export const findZip64End = async (
  source: RandomAccess,
  endAt: number,
  plain: EndNumbers,
): Promise<(EndNumbers & { start: number }) | undefined> => {
  const start = endAt - LOCATOR_BYTES - RECORD_BYTES
  if (endAt < LOCATOR_BYTES) return undefined
  const locator = await readView(source, endAt - LOCATOR_BYTES, LOCATOR_BYTES)
  if (locator.getUint32(0, true) !== LOCATOR) return undefined
  if (locator.getUint32(4, true) !== 0 || locator.getUint32(16, true) > 1) reject('multi_disk')
  if (start < 0) return reject('malformed')
  const record = await readView(source, start, RECORD_BYTES)
  // Another length means extensible data: an encrypted directory, or something nobody reads.
  if (record.getUint32(0, true) !== RECORD || readNumber(record, 4) !== RECORD_BYTES - 12)
    reject('malformed')
  const located = readNumber(locator, 8)
  if (located !== start) reject(located < start ? 'prepended_data' : 'malformed')
  return { ...merge(plain, readNumbers(record)), start }
}

const readNumbers = (record: DataView): EndNumbers => ({
  disk: record.getUint32(16, true),
  directoryDisk: record.getUint32(20, true),
  diskEntries: readNumber(record, 24),
  entries: readNumber(record, 32),
  bytes: readNumber(record, 40),
  offset: readNumber(record, 48),
})

const merge = (plain: EndNumbers, long: EndNumbers): EndNumbers => {
  for (const [name, most] of MOST) {
    const differs = plain[name] !== long[name]
    if (differs && plain[name] !== most) reject('malformed')
  }
  return long
}

const readNumber = (view: DataView, at: number): number => {
  const value = view.getBigUint64(at, true)
  return value > Number.MAX_SAFE_INTEGER ? reject('malformed') : Number(value)
}

/** Numbers of the plain record that mean that only the zip64 one has room. */
const MOST = [
  ['disk', 0xffff],
  ['directoryDisk', 0xffff],
  ['diskEntries', 0xffff],
  ['entries', 0xffff],
  ['bytes', 0xffffffff],
  ['offset', 0xffffffff],
] as const
const LOCATOR = 0x07064b50
const RECORD = 0x06064b50
const LOCATOR_BYTES = 20
const RECORD_BYTES = 56
