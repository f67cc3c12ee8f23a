import { makeUnknown } from '../values/make-value.ts'
import type {
  CallArguments,
  ClassValue,
  ModuleValue,
  Runtime,
  UnknownValue,
  Value,
} from '../types.ts'
import {
  isClass,
  isDict,
  isInstanceValue,
  isIterator,
  isObject,
  isSequence,
  isUnknown,
  textOf,
} from '../values/read-value.ts'
import { giveTo, isKnownSource, leadsToNodes } from './give-away.ts'
import { openReplaced } from '../values/dict.ts'

/*
 * What is not followed may have written all that it leads to. `give-away.ts` says so of what a call gets; here is what
 * reaches the pack's values by another way: as a part of one of them, through a frame, or by code whose text is unknown.
 */

/** Puts a value into one that is unknown: an object of somebody else, or one of the pack's own. */
export function putInto(rt: Runtime, target: UnknownValue, value: Value): void {
  if (!isObject(value) || isUnknown(value)) return
  giveTo(rt, target, [value])
  changePart(rt, target, [value])
}

/** A call of an unknown, or of a method of it: if it is a part of something, that may be changed by what is given. */
export function changePart(rt: Runtime, target: UnknownValue, given: readonly Value[]): void {
  const whole = wholeOf(target)
  if (isUnknown(whole)) {
    rt.state.lostNodes ||= mayBeOwn(whole) && given.some((value) => leadsToNodes(rt, value))
    return
  }
  if (READING.test(target.name)) return
  const isForeign = target.origin === 'third-party' || target.origin === 'host'
  // A base of the library calls the methods that the pack defines.
  if (isInstanceValue(whole)) giveTo(rt, isForeign ? target : makeOwn(target), [whole])
  else if (isClass(whole) || isIterator(whole)) giveTo(rt, makeOwn(target), [whole])
  else if (isDict(whole) || isSequence(whole))
    giveTo(rt, makeOwn(target), isDict(whole) ? [...whole.values.values()] : whole.items)
}

const makeOwn = (target: UnknownValue): UnknownValue => ({ ...target, origin: 'pack' })

/** The value of which an unknown is a part, or a part of a part. */
function wholeOf(target: UnknownValue): Value {
  let whole: Value = target
  while (isUnknown(whole) && whole.from !== undefined && !whole.isModule) whole = whole.from
  return whole
}

/** True for the result of a call of the library, or of the pack itself: a frame, an object that the collector lists. */
const mayBeOwn = (value: UnknownValue): boolean =>
  /[()[\]]/.test(value.name) && !['host', 'third-party'].includes(value.origin)

/** Methods that change nothing. */
const READING =
  /\.(get|items|keys|values|copy|lower|upper|strip|split|replace|format|startswith|endswith|join|index|count)$/

/** True for a module or file that is known to be none of the pack. */
export function isElsewhere(rt: Runtime, callee: Value, { args }: CallArguments): boolean {
  const whole = isUnknown(callee) ? wholeOf(callee) : callee
  const given = isUnknown(whole) ? [...args, ...(whole.call?.args ?? [])] : args
  return given.some((value) => {
    const path = textOf(value)
    return path?.startsWith('/') === true && !rt.files.isInside(path)
  })
}

/** A foreign base or metaclass gets each class. */
export function giveClass(rt: Runtime, to: UnknownValue, cls: Value): void {
  if (isClass(cls) && !isKnownSource(to)) giveTo(rt, to, cls.mro.filter(isOwn))
}

const isOwn = (base: Value): base is ClassValue => isClass(base) && base.home === 'pack'

/** All names of a foreign module may stand in the place of those that are there. */
export function openModule(rt: Runtime, from: Value, { namespace }: ModuleValue): void {
  if (!isKnownSource(from)) openReplaced({ values: namespace }, from)
}

/** Code that is not known may have written what names lead to. */
export function openNames(rt: Runtime, names: Iterable<Value>): void {
  giveTo(rt, makeUnknown('exec()'), [...names])
}
