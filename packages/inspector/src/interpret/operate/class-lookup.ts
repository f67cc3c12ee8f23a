import { words } from '../../words.ts'
import { makeUnknown } from '../values/make-value.ts'
import type { BaseValue, ClassValue, Runtime, UnknownValue, Value } from '../types.ts'

// What `object` has for every class; an unknown base rarely replaces it in a way that matters here.
const PLUMBING = new Set(
  words(
    '__init__ __new__ __init_subclass__ __subclasshook__ __setattr__ __delattr__ __getattribute__ __dir__',
  ),
)

/**
 * Attribute as it stands in the class and its bases, no descriptor applied. A known class behind an unknown base still counts, as known beats unknown; what `object`
 * alone has does not, plumbing aside.
 */
export function findInClass(rt: Runtime, cls: ClassValue, name: string): Value | undefined {
  return findAlong(rt, cls.mro, name)
}

export function findAlong(rt: Runtime, order: BaseValue[], name: string): Value | undefined {
  let unknown: UnknownValue | undefined
  for (const base of order) {
    if (base.kind === 'unknown') {
      const fact = rt.facts.find(`${base.name}.${name}`)
      if (fact !== undefined) return fact
      if (!rt.facts.lacks?.(`${base.name}.${name}`)) unknown ??= base
      continue
    }
    const value = base.namespace.get(name)
    if (value === undefined) continue
    if (unknown && base.name === 'object' && !PLUMBING.has(name)) break
    return value
  }
  return unknown && (unknown.origin === 'host' || !isNodeAttribute(name))
    ? makeUnknown(`${unknown.name}.${name}`, unknown.origin)
    : undefined
}

/**
 * Names that packs ask for to tell node classes from others: on an unknown from outside the host there is none. This
 * keeps every class of a foreign namespace from becoming a node.
 */
export function isNodeAttribute(name: string): boolean {
  return (
    name === 'INPUT_TYPES' || name === 'RETURN_TYPES' || name === 'FUNCTION' || name === 'CATEGORY'
  )
}

/** A special method that a class of the pack or the library defines; those of builtin types don't count. */
export function findSpecial(cls: BaseValue, name: string): Value | undefined {
  if (cls.kind === 'unknown') return undefined
  for (const base of cls.mro) {
    if (base.kind === 'unknown' || base.module === 'builtins') continue
    const value = base.namespace.get(name)
    if (value !== undefined) return value === null ? undefined : value
  }
  return undefined
}

export function hasUnknownBase(cls: ClassValue): boolean {
  return cls.mro.some((base) => base.kind === 'unknown')
}

/**
 * C3 linearisation; undefined where Python rejects the bases. An unknown base has only itself before `object`.
 */
export function linearise(cls: ClassValue, object: ClassValue): BaseValue[] | undefined {
  const heads = cls.bases.map((base) => (base.kind === 'class' ? base.mro.slice() : [base, object]))
  const lists = [...heads, cls.bases.slice()].filter((list) => list.length > 0)
  const order: BaseValue[] = [cls]
  while (lists.some((list) => list.length > 0)) {
    const next = lists.find((list) => list[0] && isGoodHead(list[0], lists))?.[0]
    if (!next) return undefined
    order.push(next)
    for (const list of lists) if (list[0] && isSameBase(list[0], next)) list.shift()
  }
  return order
}

function isGoodHead(base: BaseValue, lists: BaseValue[][]): boolean {
  return !lists.some((list) => list.slice(1).some((other) => isSameBase(other, base)))
}

/** Two unknowns of one name are one base: each import makes its own. */
function isSameBase(a: BaseValue, b: BaseValue): boolean {
  return a === b || (a.kind === 'unknown' && b.kind === 'unknown' && a.name === b.name)
}
