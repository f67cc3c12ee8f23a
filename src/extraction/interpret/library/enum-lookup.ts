import { isDict, isInstanceValue } from '../values/guards.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import { call } from '../operate/call.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { equals } from '../operate/compare.ts'
import { bind } from '../operate/bind.ts'
import { makeEmptyDict } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, DictValue, InstanceValue, Value } from '../values/value.ts'

/** `__members__`: members by name, aliases too. */
export const membersOf = (cls: ClassValue): DictValue => {
  const members = cls.namespace.get('_member_map_')
  return isDict(members) ? members : makeEmptyDict()
}

/** The members without aliases, in their order. */
export const uniqueMembers = (cls: ClassValue): InstanceValue[] => [
  ...new Set([...membersOf(cls).values.values()].filter(isInstanceValue)),
]

/** `Color(value)`; undefined if that can't be known. What no member has goes to `_missing_`. */
export const findByValue = (rt: Runtime, cls: ClassValue, value: Value): Value | undefined => {
  const members = uniqueMembers(cls)
  if (isInstanceValue(value) && members.includes(value)) return value
  let isSure = true
  rt.budget.step(members.length)
  for (const member of members) {
    const same = equals(rt, member.attributes.get('_value_') ?? null, value)
    if (same === true) return member
    if (same === undefined) isSure = false
  }
  if (!isSure) return undefined
  const missing = findInClass(rt, cls, '_missing_')
  const found = missing === undefined ? null : call(rt, bind(rt, missing, undefined, cls), [value])
  return found ?? raiseIfHandled(rt, 'ValueError', `no ${cls.name}`)
}
