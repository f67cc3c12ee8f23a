import { call } from '../run-code.ts'
import { isClass, isInstanceValue, isObject, isProperty } from '../values/read-value.ts'
import { findInClass, findSpecial } from './class-lookup.ts'
import { giveTo } from './give-away.ts'
import { putInto } from './not-followed.ts'
import { makeUnknown } from '../values/make-value.ts'
import { recordWriting } from './written.ts'
import { choicesOf } from '../values/merge-values.ts'
import type { BaseValue, ClassValue, InstanceValue, Runtime, Value } from '../types.ts'

export function setAttribute(rt: Runtime, value: Value, name: string, to: Value): void {
  if (!isObject(value)) return
  switch (value.kind) {
    case 'unknown':
      return putInto(rt, value, to)
    case 'instance':
      return setBy(rt, value, value.cls, name, to, () => setPlainly(rt, value, name, to))
    case 'class':
      for (const cls of choicesOf(value).filter(isClass))
        setBy(rt, cls, cls.metaclass, name, to, () => setOnClassPlainly(rt, cls, name, to))
      return
    case 'module':
      if (value.home === 'library') giveTo(rt, makeUnknown(value.name, 'standard-library'), [to])
      return write(rt, value.namespace, name, to)
    case 'function':
      return write(rt, value.attributes, name, to)
    case 'native':
      value.attributes ??= new Map()
      value.attributes.set(name, to)
      return
    case 'method':
      return setAttribute(rt, value.function, name, to)
  }
}

/** By the `__setattr__` of its class, if that has one. */
function setBy(
  rt: Runtime,
  value: Value,
  cls: BaseValue,
  name: string,
  to: Value,
  plainly: () => void,
): void {
  const own = findSpecial(cls, '__setattr__')
  if (own === undefined) plainly()
  else call(rt, own, [value, name, to])
}

/** `object.__setattr__`. */
export function setPlainly(rt: Runtime, value: InstanceValue, name: string, to: Value): void {
  const raw = findInClass(rt, value.cls, name)
  if (isProperty(raw)) {
    if (raw.set !== null) call(rt, raw.set, [value, to])
    return
  }
  if (isInstanceValue(raw)) {
    const setter = findSpecial(raw.cls, '__set__')
    if (setter !== undefined) {
      call(rt, setter, [raw, value, to])
      return
    }
  }
  if (name === '__class__' && isClass(to)) value.cls = to
  else write(rt, value.attributes, name, to)
}

function write(rt: Runtime, names: Map<string, Value>, name: string, to: Value): void {
  recordWriting(rt, names, name)
  names.set(name, to)
}

/** `type.__setattr__`. Classes of the library are shared by nobody, but keep theirs. */
export function setOnClassPlainly(rt: Runtime, cls: ClassValue, name: string, to: Value): void {
  if (cls.module === 'builtins') return
  if (name === '__name__' && typeof to === 'string') cls.name = to
  else if (name === '__qualname__' && typeof to === 'string') cls.qualname = to
  else if (name === '__module__' && typeof to === 'string') cls.module = to
  else write(rt, cls.namespace, name, to)
}

export function deleteAttribute(rt: Runtime, value: Value, name: string): void {
  if (!isObject(value)) return
  switch (value.kind) {
    case 'instance': {
      const semaphore = findSpecial(value.cls, '__delattr__')
      const own = findInClass(rt, value.cls, name)
      if (isProperty(own)) call(rt, own.delete, [value])
      else if (semaphore === undefined) value.attributes.delete(name)
      else call(rt, semaphore, [value, name])
      return
    }
    case 'class':
      if (value.module !== 'builtins') value.namespace.delete(name)
      return
    case 'module':
      value.namespace.delete(name)
      return
    case 'function':
      value.attributes.delete(name)
  }
}
