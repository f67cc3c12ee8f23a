import { textOf, textsOf } from '../values/payload.ts'
import { argumentOf } from '../operate/arguments.ts'
import { readItems } from '../operate/iterate.ts'
import { nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ModuleValue, NativeCall, Value } from '../values/value.ts'
import { makeCollectionsAbc } from './collections-abc.ts'
import { makeCounterClass } from './counter.ts'
import { makeDequeClass } from './deque.ts'
import { makeDefaultDictClass, makeOrderedDictClass, makeUserDictClass } from './dict-classes.ts'
import { makePackNamedTuple } from './named-tuple.ts'
import { loadSubmodule } from './support/library-class.ts'

/** `collections`. */
export const makeCollections = (rt: Runtime): ModuleValue =>
  nativeModule('collections', [
    ['OrderedDict', makeOrderedDictClass(rt)],
    ['defaultdict', makeDefaultDictClass(rt)],
    ['UserDict', makeUserDictClass(rt)],
    ['Counter', makeCounterClass(rt)],
    ['deque', makeDequeClass(rt)],
    ['namedtuple', nativeFunction('collections.namedtuple', namedtuple)],
    ['abc', loadSubmodule(rt, 'collections.abc', makeCollectionsAbc)],
  ])

/** Fields are a list, or one text with blanks or commas between; defaults belong to the last ones. */
const namedtuple: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'typename'))
  const fields = readFields(rt, argumentOf(args, kwargs, 1, 'field_names'))
  if (name === undefined || fields === undefined) return undefined
  const given = kwargs.get('defaults') ?? null
  const values = given === null ? [] : readItems(rt, given).items
  const start = fields.length - values.length
  const defaults = new Map(values.map((value, at) => [fields[start + at] ?? '', value]))
  const module = textOf(kwargs.get('module') ?? null) ?? rt.state.scope.module.name
  return makePackNamedTuple(rt, { name, fields, defaults, module })
}

const readFields = (rt: Runtime, value: Value | undefined): string[] | undefined => {
  const text = textOf(value)
  if (text !== undefined) return text.split(/[\s,]+/).filter((field) => field !== '')
  const known = textsOf(value)
  if (known !== undefined || value === undefined) return known
  const { items, rest } = readItems(rt, value)
  const fields = items.map(textOf)
  return !rest && fields.every((field) => field !== undefined) ? fields : undefined
}
