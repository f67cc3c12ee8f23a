import { intOf, isTuple, isUndecided, payloadOf, textOf } from '../values/read-value.ts'
import { argumentOf, optional } from '../operate/arguments.ts'
import { truthOf } from '../operate/truth.ts'
import { iterate, readItems } from '../operate/iterate.ts'
import { ifKnown, makeList } from '../values/make-value.ts'
import type { Kwargs, Runtime, Value } from '../types.ts'
import { join, replace } from '../text/string/build.ts'
import { capitalize, isLower, isUpper, lower, title, upper } from '../text/string/case.ts'
import {
  isAlnum,
  isAlpha,
  isAscii,
  isDigit,
  isIdentifier,
  isSpace,
} from '../text/string/classes.ts'
import { countOf, endsWith, find, startsWith } from '../text/string/find.ts'
import { split, splitFromEnd, splitLines } from '../text/string/split.ts'
import { removePrefix, removeSuffix, strip, stripEnd, stripStart } from '../text/string/strip.ts'
import { callsOf } from '../values/native.ts'
import { formatMethod } from './text-format.ts'

/** A method of str: `text` is self, `args` what follows. */
type TextMethod = (rt: Runtime, text: string, args: Value[], kwargs: Kwargs) => Value | undefined

/** Pure text to text, or text to bool. */
const plain =
  (method: (text: string) => Value | undefined): TextMethod =>
  (_, text) =>
    method(text)

/** One optional text: the characters to strip. */
const stripping =
  (method: (text: string, chars?: string) => string): TextMethod =>
  (_, text, args) => {
    const { known, value } = optional(args[0], textOf)
    if (!known) return undefined
    return value === undefined ? method(text) : method(text, value)
  }

/** One text that has to be there. */
const withText =
  (method: (text: string, other: string) => Value | undefined): TextMethod =>
  (_, text, args) =>
    ifKnown(textOf(args[0]), (other) => method(text, other))

const splitting =
  (method: typeof split): TextMethod =>
  (_, text, args, kwargs) => {
    const separator = optional(argumentOf(args, kwargs, 0, 'sep'), textOf)
    const limit = optional(argumentOf(args, kwargs, 1, 'maxsplit'), intOf)
    if (!separator.known || !limit.known) return undefined
    const parts = method(text, separator.value, limit.value ?? -1n)
    return parts && makeList(parts)
  }

/** A search in a part of the text is not known. */
const searching =
  (method: (text: string, part: string) => number): TextMethod =>
  (_, text, args) => {
    const part = textOf(args[0])
    return part === undefined || args.length > 1 ? undefined : BigInt(method(text, part))
  }

/** One text, or a tuple of several. */
const matching =
  (method: typeof startsWith): TextMethod =>
  (_, text, args) => {
    const [given] = args
    const items = isTuple(given) ? given.items : [given]
    const parts = items.map((item) => textOf(item))
    if (args.length > 1) return undefined
    const known = parts.filter((part) => part !== undefined)
    if (method(text, known)) return true
    return known.length === parts.length ? false : undefined
  }

const joining: TextMethod = (rt, text, args) => {
  const [given] = args
  if (given === undefined || iterate(rt, given) === undefined) return undefined
  const { items, rest } = readItems(rt, given)
  const parts = items.map((item) => textOf(item)).filter((part) => part !== undefined)
  const isKnown = !rest && parts.length === items.length && !isUndecided(payloadOf(given))
  return isKnown ? join(text, parts) : undefined
}

const replacing: TextMethod = (_, text, args, kwargs) => {
  const [from, to] = [textOf(args[0]), textOf(args[1])]
  const count = optional(argumentOf(args, kwargs, 2, 'count'), intOf)
  if (from === undefined || to === undefined || !count.known) return undefined
  return replace(text, from, to, count.value ?? -1n)
}

const METHODS: Record<string, TextMethod> = {
  upper: plain(upper),
  lower: plain(lower),
  title: plain(title),
  capitalize: plain(capitalize),
  isupper: plain(isUpper),
  islower: plain(isLower),
  isspace: plain(isSpace),
  isdigit: plain(isDigit),
  isalpha: plain(isAlpha),
  isalnum: plain(isAlnum),
  isidentifier: plain(isIdentifier),
  isascii: plain(isAscii),
  strip: stripping(strip),
  lstrip: stripping(stripStart),
  rstrip: stripping(stripEnd),
  removeprefix: withText(removePrefix),
  removesuffix: withText(removeSuffix),
  split: splitting(split),
  rsplit: splitting(splitFromEnd),
  splitlines: (rt, text, args, kwargs) =>
    ifKnown(truthOf(rt, argumentOf(args, kwargs, 0, 'keepends') ?? false), (keep) =>
      makeList(splitLines(text, keep)),
    ),
  find: searching(find),
  count: searching(countOf),
  startswith: matching(startsWith),
  endswith: matching(endsWith),
  join: joining,
  replace: replacing,
  format: (rt, text, args, kwargs) => formatMethod(rt, text, args, kwargs),
}

/** The methods of str as natives: `args[0]` is self. */
export const TEXT_METHODS = callsOf(METHODS, (method) => (rt, [self, ...args], kwargs) => {
  const text = textOf(self)
  if (text === undefined) return undefined
  const result = method(rt, text, args, kwargs)
  return typeof result === 'string' && !rt.budget.allowString(result.length) ? undefined : result
})
