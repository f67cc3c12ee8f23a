const MIB = 1024 * 1024

/** Most that an archive may hold. Sizes are bytes. */
export const ARCHIVE_LIMITS = {
  /** The archive itself; at most 4 GiB - 1, so that zip64 offsets are never needed. */
  archiveBytes: 256 * MIB,
  /** Entries, folders included; at most 65,534, the largest number of an end record without zip64. */
  entries: 10_000,
  /** The central directory, which is read in one piece: 1.6 KiB for each of 10,000 entries. */
  directoryBytes: 16 * MIB,
  /** The comment; code hosts put a commit id there. */
  commentBytes: 1024,
  /** One unpacked entry. */
  entryBytes: 128 * MIB,
  /** All unpacked entries together. */
  unpackedBytes: 512 * MIB,
  /** Unpacked over packed size of one entry. */
  entryRatio: 200,
  /** Unpacked over packed size of the whole archive. */
  ratio: 100,
  /** Unpacked size up to which no ratio is checked: small repetitive files pack that well honestly. */
  ratioFloorBytes: MIB,
  /** A path in UTF-8. */
  pathBytes: 512,
  /** Segments of a path. */
  segments: 20,
  /** One segment in UTF-8: what common file systems hold. */
  segmentBytes: 255,
  /** One text whose content is kept. */
  textBytes: 5 * MIB,
  /** All kept texts together. */
  allTextBytes: 96 * MIB,
}

export type ArchiveLimits = typeof ARCHIVE_LIMITS
