import { joinPath } from './posix.ts'
import { compareText } from '../string/code-points.ts'

/** The files that a glob sees. Names are sorted; undefined is no folder, or one that can't be known. */
export interface GlobFiles {
  list: (folder: string) => string[] | undefined
  exists: (path: string) => boolean
  isFolder: (path: string) => boolean
  /** Called before names are compared: characters of a name times those of the pattern, at most so many comparisons. */
  charge: (comparisons: number) => void
}

interface GlobOptions {
  /** `**` stands for any number of folders; else it is `*`. */
  recursive: boolean
  /** Names with a leading dot match wildcards too, as in pathlib. */
  includeHidden: boolean
}

/** Most paths of one result, and folders looked into for it. */
const MAX_PATHS = 20_000

/**
 * Paths below `root` that match the pattern's parts, in the order of `glob.glob`, each joined to `root` as it is
 * written. Undefined when there are more than 20,000 paths to look at.
 */
export const globPaths = (
  root: string,
  pattern: string,
  files: GlobFiles,
  options: GlobOptions,
): string[] | undefined => {
  let paths = [root]
  const parts = pattern.split('/')
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1
    const found = step(paths, part, isLast, files, options)
    if (found === undefined || found.length > MAX_PATHS) return undefined
    paths = found
  }
  return paths
}

const step = (
  paths: readonly string[],
  part: string,
  isLast: boolean,
  files: GlobFiles,
  options: GlobOptions,
): string[] | undefined => {
  if (part === '**' && options.recursive) return descend(paths, isLast, files, options)
  const found: string[] = []
  for (const path of paths) {
    if (hasWildcard(part)) {
      const names = (files.list(path) ?? []).filter((name) => {
        files.charge(name.length * part.length)
        return isMatch(name, part, options)
      })
      for (const name of names) {
        const child = joinPath(path, name)
        if (isLast || files.isFolder(child)) found.push(child)
      }
    } else {
      const child = joinPath(path, part)
      // A trailing slash asks for folders.
      if (part === '' ? files.isFolder(path) : files.exists(child)) found.push(child)
    }
    if (found.length > MAX_PATHS) return undefined
  }
  return found
}

/** The folders themselves and everything below; files too when nothing follows. */
const descend = (
  paths: readonly string[],
  isLast: boolean,
  files: GlobFiles,
  options: GlobOptions,
): string[] | undefined => {
  const found = new Set<string>()
  const waiting = paths.map((path) => (isLast ? joinPath(path, '') : path)).toReversed()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    found.add(path)
    if (found.size > MAX_PATHS) return undefined
    const names = (files.list(path) ?? []).filter(
      (name) => options.includeHidden || !name.startsWith('.'),
    )
    const children = names.map((name) => joinPath(path, name))
    const kept = isLast ? children : children.filter((child) => files.isFolder(child))
    if (waiting.length + kept.length > MAX_PATHS) return undefined
    waiting.push(...kept.toReversed())
  }
  return [...found]
}

const isMatch = (name: string, part: string, options: GlobOptions): boolean =>
  (options.includeHidden || part.startsWith('.') || !name.startsWith('.')) &&
  matchWildcard(name, part) === true

/** Longest pattern and text that are compared, in characters: their product bounds the work. */
const MAX_LENGTH = 5000

/**
 * `fnmatch.fnmatchcase(name, pattern)`: `*`, `?`, `[set]`, `[!set]`; a slash is no special character. Undefined for
 * texts beyond 5,000 characters.
 */
export const matchWildcard = (name: string, pattern: string): boolean | undefined =>
  name.length > MAX_LENGTH || pattern.length > MAX_LENGTH
    ? undefined
    : readWildcard(pattern).test(name)

/** True when the text has any of `*`, `?`, `[`: `glob.has_magic`. */
export const hasWildcard = (pattern: string): boolean => /[*?[]/.test(pattern)

/** Stars; a set, to which a `]` directly after `[` or `[!` belongs; any other character. */
const PIECE = /\*+|\[(?:!([^][^\]]*)|(?!!)([^][^\]]*))\]|[^]/gu

/**
 * As `fnmatch.translate` does it, what stands between two stars is taken where it first comes, once and for all: so no
 * pattern takes long.
 */
const readWildcard = (pattern: string): RegExp => {
  const runs = ['']
  for (const [piece, others, members] of pattern.matchAll(PIECE)) {
    if (piece.startsWith('*')) runs.push('')
    else if (others !== undefined) runs.push(`${runs.pop()}[^${readSet(others)}]`)
    else if (members !== undefined) runs.push(`${runs.pop()}[${readSet(members)}]`)
    else runs.push(`${runs.pop()}${piece === '?' ? '.' : escapeOf(piece)}`)
  }
  const end = runs.length > 1 ? `.*${runs.pop()}` : ''
  const taken = runs.map((run, at) => (at === 0 ? run : `(?=(?<run${at}>.*?${run}))\\k<run${at}>`))
  return new RegExp(`^${taken.join('')}${end}$`, 'su')
}

const readSet = (members: string): string =>
  [...members.matchAll(/([^])(?:-([^]))?/gu)]
    .filter(([, low = '', high = low]) => compareText(low, high) <= 0)
    .map(([, low = '', high = low]) => `${escapeOf(low)}-${escapeOf(high)}`)
    .join('')

const escapeOf = (character: string): string =>
  String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
