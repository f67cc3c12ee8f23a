import { codePoints, MAX_TEXT } from '../string/code-points.ts'
import { findMatch, type Spans } from './match.ts'
import type { Pattern } from './pattern.ts'

/** A match: its text in characters, and where each group lies. */
export interface RegexMatch {
  text: readonly string[]
  spans: Spans
}

/** Most matches (or replacements, or splits), and the steps left for all of them. */
interface MatchLimits {
  limit?: number
  budget?: MatchBudget
}

/** Longest text a pattern is used on, in characters. */
const MAX_SUBJECT = 5000

/** `search`, `match` or `fullmatch` from a character on; null for no match, undefined over the limits. */
export const matchRegex = (
  regex: Pattern,
  subject: string,
  how: 'search' | 'match' | 'fullmatch',
  { start = 0, budget = makeMatchBudget() }: MatchLimits & { start?: number } = {},
): RegexMatch | null | undefined => {
  const text = charactersOf(subject)
  if (text === undefined) return undefined
  const options = { start, budget, anchored: how !== 'search', full: how === 'fullmatch' }
  if (start > text.length) return null
  const spans = findMatch(regex, text, options)
  return spans ? { text, spans } : spans
}

/** Every match from left to right, as `finditer` gives them, at most `limit`. */
export const matchAllRegex = (
  regex: Pattern,
  subject: string,
  { limit = Infinity, budget = makeMatchBudget() }: MatchLimits = {},
): RegexMatch[] | undefined => {
  const text = charactersOf(subject)
  if (text === undefined) return undefined
  const matches: RegexMatch[] = []
  for (let [start, mustAdvance] = [0, false]; matches.length < limit;) {
    const spans = findMatch(regex, text, { start, mustAdvance, budget })
    if (spans === undefined) return undefined
    const whole = spans?.[0]
    if (spans === null || whole === undefined) break
    matches.push({ text, spans })
    start = whole[1]
    mustAdvance = whole[0] === whole[1]
  }
  return matches
}

/** Text of a group; undefined for one that took no part. */
export const groupText = (match: RegexMatch, index: number): string | undefined => {
  const span = match.spans[index]
  return span === undefined ? undefined : match.text.slice(...span).join('')
}

/**
 * `re.sub`: the text with every match replaced by what `replacementOf` gives; undefined when that is undefined once, or
 * over the limits. A limit of 0 is all.
 */
export const substitute = (
  regex: Pattern,
  subject: string,
  replacementOf: (match: RegexMatch) => string | undefined,
  { limit: count = 0, budget = makeMatchBudget() }: MatchLimits = {},
): string | undefined => {
  const matches = matchAllRegex(regex, subject, { limit: count > 0 ? count : Infinity, budget })
  if (matches === undefined || count < 0) return undefined
  const out: string[] = []
  let [end, total] = [0, 0]
  for (const match of matches) {
    const [from, to] = match.spans[0] ?? [end, end]
    const replacement = replacementOf(match)
    if (replacement === undefined) return undefined
    out.push(match.text.slice(end, from).join(''), replacement)
    total += replacement.length
    if (total > MAX_TEXT) return undefined
    end = to
  }
  return out.join('') + codePoints(subject).slice(end).join('')
}

/** `re.split`: the texts between the matches, and those of the groups (undefined took no part). A limit of 0 is all. */
export const splitRegex = (
  regex: Pattern,
  subject: string,
  { limit = 0, budget = makeMatchBudget() }: MatchLimits = {},
): (string | undefined)[] | undefined => {
  const max = limit > 0 ? limit : Infinity
  const matches = limit < 0 ? [] : matchAllRegex(regex, subject, { limit: max, budget })
  if (matches === undefined) return undefined
  const parts: (string | undefined)[] = []
  let end = 0
  for (const match of matches) {
    const [from, to] = match.spans[0] ?? [end, end]
    parts.push(match.text.slice(end, from).join(''))
    for (let index = 1; index < match.spans.length; index += 1) parts.push(groupText(match, index))
    end = to
  }
  return [...parts, codePoints(subject).slice(end).join('')]
}

const charactersOf = (subject: string): readonly string[] | undefined => {
  if (subject.length > MAX_SUBJECT * 2) return undefined
  const characters = codePoints(subject)
  return characters.length > MAX_SUBJECT ? undefined : characters
}

export interface MatchOptions {
  /** Place to begin, in characters. */
  start: number
  /** The match has to reach the end of the text. */
  full?: boolean
  /** Only at `start`, not behind it. */
  anchored?: boolean
  /** An empty match at `start` doesn't count: the one before it was empty. */
  mustAdvance?: boolean
  /** Shared by all matches of one call. */
  budget: MatchBudget
}

/** Steps that are left. */
export interface MatchBudget {
  steps: number
}

/** Makes the budget of one call of `re`. */
export const makeMatchBudget = (): MatchBudget => ({ steps: MAX_STEPS })

/**
 * Steps of one call. Backtracking over several repeats takes the power of their number, which JavaScript's own engine
 * can't be stopped from doing; this one gives up after some 20 ms.
 */
const MAX_STEPS = 500_000
