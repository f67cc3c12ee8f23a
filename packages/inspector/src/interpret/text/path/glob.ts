import { joinPath } from './posix.ts'
import { codePoints, compareText } from '../string/code-points.ts'

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

/** One step of a wildcard: any run, any one character, or one of a set. */
type Step = { kind: 'run' } | { kind: 'one'; matches: (character: string) => boolean }

/** Longest pattern and text that are compared, in characters: their product bounds the work. */
const MAX_LENGTH = 5000

/**
 * `fnmatch.fnmatchcase(name, pattern)`: `*`, `?`, `[set]`, `[!set]`; a slash is no special character. Undefined for
 * texts beyond 5,000 characters. Not a regular expression, so no pattern takes long.
 */
export const matchWildcard = (name: string, pattern: string): boolean | undefined => {
  if (name.length > MAX_LENGTH || pattern.length > MAX_LENGTH) return undefined
  return matchSteps(codePoints(name), readSteps(codePoints(pattern)))
}

/** True when the text has any of `*`, `?`, `[`: `glob.has_magic`. */
export const hasWildcard = (pattern: string): boolean => /[*?[]/.test(pattern)

/** Goes back to the last `*` only: enough, since an earlier one could only match what the last one can. */
const matchSteps = (name: readonly string[], steps: readonly Step[]): boolean => {
  let [at, step, lastRun, resumeAt] = [0, 0, -1, 0]
  while (at < name.length) {
    const current = steps[step]
    if (current?.kind === 'run') {
      lastRun = step
      resumeAt = at
      step += 1
    } else if (current !== undefined && current.matches(name[at] ?? '')) {
      step += 1
      at += 1
    } else if (lastRun >= 0) {
      resumeAt += 1
      at = resumeAt
      step = lastRun + 1
    } else return false
  }
  return steps.slice(step).every(({ kind }) => kind === 'run')
}

const readSteps = (pattern: readonly string[]): Step[] => {
  const steps: Step[] = []
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? ''
    const end = character === '[' ? endOfSet(pattern, at + 1) : -1
    if (end >= 0) {
      steps.push({ kind: 'one', matches: readSet(pattern.slice(at + 1, end)) })
      at = end
    } else if (character === '*') steps.push({ kind: 'run' })
    else if (character === '?') steps.push({ kind: 'one', matches: () => true })
    else steps.push({ kind: 'one', matches: (other) => other === character })
  }
  return steps
}

/** A `]` directly after `[` or `[!` belongs to the set; -1 when none closes it, and `[` is itself. */
const endOfSet = (pattern: readonly string[], start: number): number =>
  pattern.indexOf(']', start + (pattern[start] === '!' ? 2 : 1))

const readSet = (members: readonly string[]): ((character: string) => boolean) => {
  const negated = members[0] === '!'
  const rest = negated ? members.slice(1) : members
  const ranges: [string, string][] = []
  for (let at = 0; at < rest.length; at += 1) {
    const first = rest[at] ?? ''
    const isRange = rest[at + 1] === '-' && at + 2 < rest.length
    ranges.push([first, isRange ? (rest[at + 2] ?? '') : first])
    if (isRange) at += 2
  }
  return (character) =>
    negated !==
    ranges.some(
      ([low, high]) => compareText(low, character) <= 0 && compareText(character, high) <= 0,
    )
}
