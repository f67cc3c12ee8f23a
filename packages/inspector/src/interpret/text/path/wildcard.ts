import { codePoints, compareText } from '../string/code-points.ts'

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

/** `glob.escape(path)`. */
export const escapeWildcard = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]')

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
