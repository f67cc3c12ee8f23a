/** Most that an archive may hold. Sizes are bytes. */
export interface ArchiveLimits {
  /** The archive itself; at most 4 GiB - 1, so that zip64 offsets are never needed. */
  archiveBytes: number
  /** Entries, folders included; at most 65,534, the largest number of an end record without zip64. */
  entries: number
  /** The central directory, which is read in one piece: 1.6 KiB for each of 10,000 entries. */
  directoryBytes: number
  /** The comment; code hosts put a commit id there. */
  commentBytes: number
  /** One unpacked entry. */
  entryBytes: number
  /** All unpacked entries together. */
  unpackedBytes: number
  /** Unpacked over packed size of one entry. */
  entryRatio: number
  /** Unpacked over packed size of the whole archive. */
  ratio: number
  /** Unpacked size up to which no ratio is checked: small repetitive files pack that well honestly. */
  ratioFloorBytes: number
  /** A path in UTF-8. */
  pathBytes: number
  /** Segments of a path. */
  segments: number
  /** One segment in UTF-8: what common file systems hold. */
  segmentBytes: number
  /** One text whose content is kept. */
  textBytes: number
  /** All kept texts together. */
  allTextBytes: number
}

const MIB = 1024 * 1024

export const ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytes: 256 * MIB,
  entries: 10_000,
  directoryBytes: 16 * MIB,
  commentBytes: 1024,
  entryBytes: 128 * MIB,
  unpackedBytes: 512 * MIB,
  entryRatio: 200,
  ratio: 100,
  ratioFloorBytes: MIB,
  pathBytes: 512,
  segments: 20,
  segmentBytes: 255,
  textBytes: 5 * MIB,
  allTextBytes: 96 * MIB,
}
