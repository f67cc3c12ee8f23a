import type { ArchiveCode } from './codes.ts'
import type { ArchiveLimits } from './limits.ts'
import { reject } from './reject.ts'

/** Rejects a path that leaves the archive or that not every system can hold. A folder's path ends with a slash. */
export const checkPath = (path: string, limits: ArchiveLimits): void => {
  const broken = RULES.find(([, breaks]) => breaks(path))
  if (broken) reject(broken[0], { entry: path })
  checkLengths(path, limits)
}

/** A path as file systems that fold case and Unicode forms compare it; without the slash of a folder. */
export const foldPath = (path: string): string =>
  path.replace(/\/$/, '').normalize('NFC').toLowerCase().normalize('NFC')

const checkLengths = (path: string, limits: ArchiveLimits): void => {
  const segments = segmentsOf(path)
  const lengths: [number, number][] = [
    [Buffer.byteLength(path), limits.pathBytes],
    [segments.length, limits.segments],
    [Math.max(...segments.map((segment) => Buffer.byteLength(segment))), limits.segmentBytes],
  ]
  const over = lengths.find(([value, limit]) => value > limit)
  if (over) reject('path_too_long', { entry: path, limit: over[1], value: over[0] })
}

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/')

/** Rules in order: a name that breaks several is rejected by the first. */
const RULES: readonly [ArchiveCode, (path: string) => boolean][] = [
  ['path_traversal', (path) => path.split(/[\\/]/).includes('..')],
  ['path_absolute', (path) => /^(\/|\\\\|[a-z]:)/i.test(path)],
  ['path_backslash', (path) => path.includes('\\')],
  ['path_control', (path) => /\p{Cc}/u.test(path)],
  ['path_segment', (path) => segmentsOf(path).some((name) => name === '' || name === '.')],
  ['path_reserved', (path) => segmentsOf(path).some((name) => RESERVED.test(name))],
]

/** Device names with any extension, `:` (streams, drives), and ends that Windows drops. */
const RESERVED = /^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)\s*(\.|$)|:|[. ]$/i
