import { makeMatchValue } from './re-match.ts'
import { nativeState } from '../values/native.ts'
import { argumentOf } from '../operate/arguments.ts'
import { call } from '../operate/call.ts'
import type { ClassValue, NativeCall, Runtime, Value } from '../types.ts'
import {
  groupText,
  makeMatchBudget,
  matchAllRegex,
  matchRegex,
  splitRegex,
  substitute,
} from '../text/regex/regex.ts'
import type { MatchBudget, RegexMatch } from '../text/regex/regex.ts'
import type { Pattern } from '../text/regex/pattern.ts'
import { expandReplacement, readReplacement } from '../text/regex/replacement.ts'
import { ifKnown, makeList, makeTuple, NO_KWARGS } from '../values/make-value.ts'
import { countOf, textOf } from '../values/read-value.ts'

/** State of a compiled pattern. */
interface PatternState {
  regex: Pattern
  matchClass: ClassValue
}

export const PATTERN = nativeState<PatternState>('re.Pattern')

/** State of the pattern and the text to use it on. */
const readSubject = (
  rt: Runtime,
  [self, ...args]: Value[],
  kwargs: ReadonlyMap<string, Value>,
  index = 0,
): { state: PatternState; text: string } | undefined => {
  const state = PATTERN.of(self)
  const text = textOf(argumentOf(args, kwargs, index, 'string'))
  if (state === undefined || text === undefined) return undefined
  rt.budget.step((text.length >> 4) + 1)
  return { state, text }
}

/** A step of the run for every sixteen of the matcher. */
const charged = <T>(rt: Runtime, match: (budget: MatchBudget) => T): T => {
  const budget = makeMatchBudget()
  const before = budget.steps
  const result = match(budget)
  rt.budget.step((before - Math.max(0, budget.steps)) >> 4)
  return result
}

const find =
  (how: 'search' | 'match' | 'fullmatch'): NativeCall =>
  (rt, args, kwargs) => {
    const subject = readSubject(rt, args, kwargs)
    const start = countOf(argumentOf(args.slice(1), kwargs, 1, 'pos') ?? 0n)
    if (subject === undefined || start === undefined || args.length > 3) return undefined
    const { state, text } = subject
    const match = charged(rt, (budget) =>
      matchRegex(state.regex, text, how, { start: Math.max(0, start), budget }),
    )
    if (match === undefined) return rt.budget.spent('pattern', state.regex.text)
    return match && makeMatchValue(state.matchClass, { match, regex: state.regex })
  }

const findAll = (
  rt: Runtime,
  args: Value[],
  kwargs: ReadonlyMap<string, Value>,
): { state: PatternState; text: string; matches: RegexMatch[] } | undefined => {
  const subject = args.length > 2 ? undefined : readSubject(rt, args, kwargs)
  if (subject === undefined) return undefined
  const matches = charged(rt, (budget) =>
    matchAllRegex(subject.state.regex, subject.text, { budget }),
  )
  if (matches === undefined) return rt.budget.spent('pattern', subject.state.regex.text)
  return rt.budget.allowItems(matches.length) ? { ...subject, matches } : undefined
}

/** One group gives its text, several a tuple, none the whole match. */
const foundValue = (match: RegexMatch): Value => {
  const groups = match.spans.slice(1).map((_, at) => groupText(match, at + 1) ?? '')
  return groups.length > 1 ? makeTuple(groups) : (groups[0] ?? groupText(match, 0) ?? '')
}

const substituteAll: NativeCall = (rt, args, kwargs) => {
  const subject = readSubject(rt, args, kwargs, 1)
  const by = argumentOf(args.slice(1), kwargs, 0, 'repl')
  const count = countOf(argumentOf(args.slice(1), kwargs, 2, 'count') ?? 0n)
  if (subject === undefined || by === undefined || count === undefined) return undefined
  const { state, text } = subject
  const replacementOf = readReplacer(rt, by, state)
  return (
    replacementOf &&
    charged(rt, (budget) => substitute(state.regex, text, replacementOf, { limit: count, budget }))
  )
}

/** A text with references to groups, or a function of the match. */
const readReplacer = (rt: Runtime, by: Value, { regex, matchClass }: PatternState) => {
  const template = textOf(by)
  if (template === undefined) {
    return (match: RegexMatch) =>
      textOf(call(rt, by, [makeMatchValue(matchClass, { match, regex })], NO_KWARGS))
  }
  const replacement = readReplacement(template, regex)
  return replacement && ((match: RegexMatch) => expandReplacement(replacement, match))
}

/** Methods of a pattern, which the module has as functions too. */
export const PATTERN_CALLS: Record<string, NativeCall> = {
  search: find('search'),
  match: find('match'),
  fullmatch: find('fullmatch'),
  findall: (rt, args, kwargs) =>
    ifKnown(findAll(rt, args, kwargs), (found) => makeList(found.matches.map(foundValue))),
  split: (rt, args, kwargs) => {
    const subject = readSubject(rt, args, kwargs)
    const limit = countOf(argumentOf(args.slice(1), kwargs, 1, 'maxsplit') ?? 0n)
    if (subject === undefined || limit === undefined) return undefined
    const parts = charged(rt, (budget) =>
      splitRegex(subject.state.regex, subject.text, { limit, budget }),
    )
    if (parts === undefined) return rt.budget.spent('pattern', subject.state.regex.text)
    return makeList(parts.map((part) => part ?? null))
  },
  sub: substituteAll,
}
