import type { ArchiveLimits } from './limits.ts'
import { foldPath, type Member } from './member.ts'
import { reject } from './reject.ts'

/** Checks that need all entries: names against names, places against places, sums. */
export const checkMembers = (
  members: readonly Member[],
  archiveBytes: number,
  limits: ArchiveLimits,
): void => {
  checkCollisions(members)
  checkFolders(members)
  checkSpans(members)
  checkTotal(members, archiveBytes, limits)
}

/** Files whose paths differ only by case or Unicode form, in the order of the directory, at least two each. */
export const listCollisions = <Path extends { path: string }>(
  files: readonly Path[],
): [Path, ...Path[]][] => {
  const byFold = new Map<string, [Path, ...Path[]]>()
  for (const file of files) {
    const same = byFold.get(foldPath(file.path))
    if (same) same.push(file)
    else byFold.set(foldPath(file.path), [file])
  }
  return [...byFold.values()].filter((same) => same.length > 1)
}

/**
 * Compares what the directory says of the contents. Those it calls equal are compared again after they were read.
 */
const checkCollisions = (members: readonly Member[]): void => {
  for (const [first, ...others] of listCollisions(members.filter(isFile)))
    for (const other of others)
      if (other.bytes !== first.bytes || other.crc32 !== first.crc32)
        reject('name_collision', { entry: other.path, value: first.path })
}

/** No file may be a folder of another entry, in any case: one of the two would be lost on some system. */
const checkFolders = (members: readonly Member[]): void => {
  const files = new Set(members.filter(isFile).map(({ path }) => foldPath(path)))
  for (const member of members) {
    const folded = foldPath(member.path)
    const ends = [...folded.matchAll(/\//g)].map((slash) => slash.index)
    const folders = ends.map((end) => folded.slice(0, end))
    if (member.isFolder) folders.push(folded)
    const lost = folders.find((folder) => files.has(folder))
    if (lost !== undefined) reject('file_is_folder', { entry: member.path, value: lost })
  }
}

const isFile = (member: Member): boolean => !member.isFolder

const checkSpans = (members: readonly Member[]): void => {
  const sorted = members.toSorted((left, right) => left.offset - right.offset)
  for (const [index, member] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && next.offset < member.offset + member.spanBytes)
      reject('overlap', { entry: next.path, value: member.path })
  }
}

const checkTotal = (
  members: readonly Member[],
  archiveBytes: number,
  limits: ArchiveLimits,
): void => {
  const total = members.reduce((sum, member) => sum + member.bytes, 0)
  if (total > limits.unpackedBytes)
    reject('total_too_big', { limit: limits.unpackedBytes, value: total })
  const ratio = Math.ceil(total / archiveBytes)
  if (total > limits.ratioFloorBytes && ratio > limits.ratio)
    reject('ratio', { limit: limits.ratio, value: ratio })
}
