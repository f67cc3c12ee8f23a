import { countOf, textOf } from '../values/read-value.ts'
import { argumentOf } from '../operate/arguments.ts'
import { callsOf, nativeClass, nativeModule } from '../values/native.ts'
import type { ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { FLAG_LETTERS, REGEX_FLAGS, type Pattern } from '../text/regex/pattern.ts'
import { compileRegex } from '../text/regex/read-pattern.ts'
import { escapePattern } from '../text/regex/replacement.ts'
import { MATCH_CALLS } from './re-match.ts'
import { PATTERN, PATTERN_CALLS } from './re-pattern.ts'
import { ifKnown, makeInstance } from '../values/make-value.ts'

/** `re` for str: what the own matcher can't decide within its limits is unknown. */
export const makeRe = (rt: Runtime): ModuleValue => {
  const matchClass = nativeClass(rt, { name: 'Match', module: 're', methods: MATCH_CALLS })
  const patternClass = nativeClass(rt, { name: 'Pattern', module: 're', methods: PATTERN_CALLS })
  const compile: NativeCall = (rt, args, kwargs) => {
    const pattern = argumentOf(args, kwargs, 0, 'pattern')
    if (PATTERN.of(pattern) !== undefined) return pattern
    return ifKnown(readPattern(rt, pattern, argumentOf(args, kwargs, 1, 'flags')), (regex) =>
      makeInstance(patternClass, undefined, PATTERN.wrap({ regex, matchClass })),
    )
  }
  return nativeModule('re', {
    attributes: {
      Pattern: patternClass,
      Match: matchClass,
      error: rt.builtinClass('ValueError'),
      ...Object.fromEntries(FLAGS),
    },
    functions: { compile, escape, ...moduleFunctions(compile) },
  })
}

/** Each under its letter and its name. */
const FLAGS = Object.entries(FLAG_LETTERS).flatMap(([letter, flag]) =>
  [letter, flag].map((name) => [name.toUpperCase(), BigInt(REGEX_FLAGS[flag])] as const),
)

/** Position of the flags in `re.search(pattern, string, flags)` and its kin. */
const FLAG_INDEX = new Map([
  ['sub', 4],
  ['split', 3],
])

/** `re.search(pattern, ...)` is `re.compile(pattern, flags).search(...)`. */
const moduleFunctions = (compile: NativeCall): Record<string, NativeCall> =>
  callsOf(PATTERN_CALLS, (call, name) => (rt, args, kwargs) => {
    const index = FLAG_INDEX.get(name) ?? 2
    const flags = argumentOf(args, kwargs, index, 'flags') ?? 0n
    const pattern = compile(rt, [args[0] ?? kwargs.get('pattern') ?? null, flags], new Map())
    const rest = args[0] === undefined ? args : args.slice(1, index)
    return pattern === undefined ? undefined : call(rt, [pattern, ...rest], kwargs)
  })

const readPattern = (
  rt: Runtime,
  pattern: Value | undefined,
  flags: Value | undefined,
): Pattern | undefined => {
  const [text, bits] = [textOf(pattern), countOf(flags ?? 0n)]
  if (text === undefined || bits === undefined) return undefined
  const regex = compileRegex(text, bits)
  return regex ?? rt.budget.spent('pattern', text.slice(0, 200))
}

const escape: NativeCall = (_rt, [pattern]) => ifKnown(textOf(pattern), escapePattern)
