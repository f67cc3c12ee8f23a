import { isClass, isInstanceValue, isSequence, isStaticMethod } from '../values/guards.ts'
import { countOf, payloadOf } from '../values/payload.ts'
import { call } from '../operate/call.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { setEntry } from '../operate/mapping.ts'
import { equals } from '../operate/compare.ts'
import { makeInstance, makeList, NO_KWARGS } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, InstanceValue, Value } from '../values/value.ts'
import { isAuto, resolveAuto } from './enum-auto.ts'
import { membersOf, uniqueMembers } from './enum-lookup.ts'

/** Not `__x__` and not `_x_`. */
export const isMemberName = (name: string): boolean => !/^_.*_$/s.test(name)

/** Makes the members of an enum that has none yet. */
export const addMembers = (
  rt: Runtime,
  cls: ClassValue,
  candidates: readonly (readonly [string, Value])[],
): void => {
  const values: Value[] = []
  const resolved = new Map<Value, Value>()
  for (const [name, candidate] of candidates) {
    const value = withoutAuto(rt, cls, { name, candidate, values, resolved })
    values.push(value)
    const made = makeMember(rt, cls, value)
    rt.budget.step(values.length)
    const alias = uniqueMembers(cls).find(
      (other) => equals(rt, valueOf(other), valueOf(made)) === true,
    )
    const member = alias ?? made
    if (alias === undefined) {
      made.attributes.set('_name_', name)
      initialise(rt, made, value)
      const names = cls.namespace.get('_member_names_')
      if (isSequence(names)) names.items.push(name)
    }
    setEntry(rt, membersOf(cls), name, member)
    cls.namespace.set(name, member)
  }
}

interface Place {
  name: string
  candidate: Value
  /** Values of the members before it. */
  values: readonly Value[]
  /** What each `auto()` met so far stands for. */
  resolved: Map<Value, Value>
}

/** `auto()`, alone or in a tuple, stands for the next value. */
const withoutAuto = (rt: Runtime, cls: ClassValue, place: Place): Value => {
  const { candidate } = place
  const next = () => nextValue(rt, cls, place)
  if (isAuto(candidate)) return resolveAuto(rt, candidate, place.resolved, next)
  if (isSequence(candidate) && candidate.kind === 'tuple' && candidate.items.some(isAuto)) {
    const items = candidate.items.map((item) =>
      isAuto(item) ? resolveAuto(rt, item, place.resolved, next) : item,
    )
    return { ...candidate, items }
  }
  return candidate
}

/** By the class's `_generate_next_value_` if it has one; else the lower-case name, or one more. */
const nextValue = (rt: Runtime, cls: ClassValue, { name, values }: Place): Value => {
  const own = findInClass(rt, cls, '_generate_next_value_')
  if (own !== undefined) {
    const generate = isStaticMethod(own) ? own.function : own
    return call(rt, generate, [name, 1n, BigInt(values.length), makeList([...values])])
  }
  if (derivesFrom(cls, 'StrEnum')) return name.toLowerCase()
  const highest = Math.max(0, ...values.map((value) => countOf(value) ?? 0))
  return BigInt(highest) + 1n
}

const derivesFrom = (cls: ClassValue, name: string): boolean =>
  cls.mro.some((base) => isClass(base) && base.home === 'library' && base.name === name)

const makeMember = (rt: Runtime, cls: ClassValue, value: Value): InstanceValue => {
  const args = argumentsOf(value)
  const own = findPackNew(cls)
  const made = own === undefined ? undefined : call(rt, own, [cls, ...args])
  const member = isInstanceValue(made) ? made : makeInstance(cls, makeContent(rt, cls, args))
  if (!member.attributes.has('_value_')) {
    // Of str, int … the member's value is its content; without such a type it is what was written.
    member.attributes.set(
      '_value_',
      payloadOf(member) === member ? value : (member.payload ?? value),
    )
  }
  return member
}

/** A tuple is given to `__new__` and `__init__` item by item. */
const argumentsOf = (value: Value): Value[] =>
  isSequence(value) && value.kind === 'tuple' ? value.items : [value]

const findPackNew = (cls: ClassValue): Value | undefined => {
  for (const base of cls.mro) {
    if (!isClass(base) || base.home === 'library') continue
    const found = base.namespace.get('__new__')
    if (found !== undefined) {
      return isStaticMethod(found) ? found.function : found
    }
  }
  return undefined
}

const makeContent = (rt: Runtime, cls: ClassValue, args: Value[]): Value | undefined =>
  cls.payload === undefined ? undefined : call(rt, rt.builtinClass(cls.payload), args, NO_KWARGS)

const initialise = (rt: Runtime, member: InstanceValue, value: Value): void => {
  for (const base of member.cls.mro) {
    if (!isClass(base) || base.home === 'library') continue
    const init = base.namespace.get('__init__')
    if (init === undefined) continue
    call(rt, init, [member, ...argumentsOf(value)])
    return
  }
}

const valueOf = (member: InstanceValue): Value => member.attributes.get('_value_') ?? null
