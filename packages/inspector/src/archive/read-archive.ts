import { listCollisions } from './all-members.ts'
import { readContent } from './content.ts'
import { readDirectory, type PlacedMember } from './directory.ts'
import { readEndRecord } from './end-record.ts'
import type { ArchiveEntry } from './entry.ts'
import { ARCHIVE_LIMITS, type ArchiveLimits } from './limits.ts'
import { detectKind } from './magic.ts'
import { readFiles } from './read-files.ts'
import { ArchiveRejection, reject } from './reject.ts'
import type { ArchiveFact, ArchiveResult, NestedFormat, SoundArchive } from './result.ts'
import { guardSource, SourceError, withReadAhead, type RandomAccess } from './source.ts'

/**
 * Reads an archive and says whether it is sound, with its files, or why it is rejected. Every archive ends in a result;
 * it throws only what the source's reads or the signal threw.
 */
export const readArchive = async (
  source: RandomAccess,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
  signal?: AbortSignal,
): Promise<ArchiveResult> => {
  try {
    return await readSound(withReadAhead(guardSource(source, signal)), limits)
  } catch (error) {
    if (error instanceof SourceError) throw error.cause
    if (!(error instanceof ArchiveRejection)) throw error
    return { verdict: 'rejected', code: error.code, ...error.detail, message: error.message }
  }
}

const readSound = async (source: RandomAccess, limits: ArchiveLimits): Promise<SoundArchive> => {
  const place = await readEndRecord(source, limits)
  const members = await readDirectory(source, place, limits)
  const files = await readFiles(
    members.filter((member) => !member.isFolder),
    limits,
    (member, keepsText) => readEntry(source, member, keepsText),
  )
  const collisions = listCollisions(files).flatMap(ignoreCopies)
  const ignored = new Set(collisions.map(({ path }) => path))
  const entries = files.filter(({ path }) => !ignored.has(path)).toSorted(byPath)
  return {
    verdict: 'sound',
    entries,
    facts: [...collisions, ...entries.flatMap(listNested)],
    bytes: source.size,
    unpackedBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

const readEntry = async (
  source: RandomAccess,
  member: PlacedMember,
  keepsText: boolean,
): Promise<ArchiveEntry> => ({
  path: member.path,
  bytes: member.bytes,
  ...(await readContent(source, member, keepsText)),
  mode: member.mode === 0 ? undefined : member.mode & 0o777,
  place: {
    dataOffset: member.dataOffset,
    packedBytes: member.packedBytes,
    isDeflated: member.isDeflated,
  },
  executable: (member.mode & 0o111) !== 0,
})

/** All but the first of files with one folded path are ignored, if they are copies of it. */
const ignoreCopies = ([first, ...others]: [ArchiveEntry, ...ArchiveEntry[]]): ArchiveFact[] =>
  others.map((other) => {
    if (other.sha256 !== first.sha256)
      reject('name_collision', { entry: other.path, value: first.path })
    return { kind: 'name_collision', path: other.path, kept: first.path }
  })

const listNested = ({ path, head, bytes }: ArchiveEntry): ArchiveFact[] => {
  const kind = detectKind(head, bytes)
  return isNestedFormat(kind) ? [{ kind: 'nested_archive', path, format: kind }] : []
}

const isNestedFormat = (kind: string | undefined): kind is NestedFormat =>
  kind === 'zip' || kind === 'tar' || kind === '7z' || kind === 'rar'

const byPath = (left: ArchiveEntry, right: ArchiveEntry): number =>
  left.path < right.path ? -1 : 1
