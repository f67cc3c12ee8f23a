import { countOf, textOf } from '../values/read-value.ts'
import { argumentOf } from '../operate/arguments.ts'
import { ifKnown, makeInstance, makeTuple } from '../values/make-value.ts'
import { nativeState } from '../values/native.ts'
import type { ClassValue, NativeCall, Value } from '../types.ts'
import { groupText, type RegexMatch } from '../text/regex/regex.ts'
import type { Pattern } from '../text/regex/pattern.ts'

/** State of a match: of which pattern. */
interface MatchState {
  match: RegexMatch
  regex: Pattern
}

const MATCH = nativeState<MatchState>('re.Match')

export const makeMatchValue = (cls: ClassValue, state: MatchState): Value =>
  makeInstance(cls, undefined, MATCH.wrap(state))

const ofState =
  (call: (state: MatchState, args: Value[]) => Value | undefined): NativeCall =>
  (_rt, [self, ...args]) =>
    ifKnown(MATCH.of(self), (state) => call(state, args))

/** Number of a group, given by number or name; undefined for one that the pattern lacks. */
const indexOf = (state: MatchState, key: Value | undefined): number | undefined => {
  const name = textOf(key)
  const { groupCount, groupNames } = state.regex
  if (name !== undefined) return groupNames.get(name)
  const index = key === undefined ? 0 : countOf(key)
  return index !== undefined && index >= 0 && index <= groupCount ? index : undefined
}

const groupValue = (state: MatchState, key: Value | undefined): Value | undefined =>
  ifKnown(indexOf(state, key), (index) => groupText(state.match, index) ?? null)

const groupsOf = (state: MatchState, fallback: Value): Value[] =>
  state.match.spans.slice(1).map((_, at) => groupText(state.match, at + 1) ?? fallback)

export const MATCH_CALLS: Record<string, NativeCall> = {
  group: ofState((state, keys) => (keys.length < 2 ? groupValue(state, keys[0]) : undefined)),
  __getitem__: ofState((state, [key]) => groupValue(state, key)),
  groups: (_rt, [self, ...args], kwargs) => {
    const state = MATCH.of(self)
    const fallback = argumentOf(args, kwargs, 0, 'default') ?? null
    return state === undefined ? undefined : makeTuple(groupsOf(state, fallback))
  },
}
