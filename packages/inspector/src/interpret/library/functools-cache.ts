import { textOf } from '../values/payload.ts'
import { findAttribute } from '../operate/attribute.ts'
import { call } from '../operate/call.ts'
import { hashKey } from '../operate/hash-key.ts'
import { makeTuple } from '../values/make-value.ts'
import { nativeFunction, nativeMethod } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { HashKey, Value } from '../values/value.ts'

/** Results kept for one function. */
const MAX_RESULTS = 10_000

/**
 * The function, called once for equal arguments: packs keep registries in what a cached function gave, so it has to be
 * the same object each time.
 */
export const cacheFunction = (rt: Runtime, target: Value): Value => {
  const results = new Map<HashKey, Value>()
  const cached = nativeMethod(nameOf(rt, target), (rt, args, kwargs) => {
    const words = [...kwargs].flat()
    const key = hashKey(rt, makeTuple([...args, null, ...words]))
    const known = key === undefined ? undefined : results.get(key)
    if (known !== undefined) return known
    const result = call(rt, target, args, kwargs)
    if (key !== undefined && results.size < MAX_RESULTS) results.set(key, result)
    return result
  })
  const clear = nativeFunction('functools.lru_cache.cache_clear', () => {
    results.clear()
    return null
  })
  cached.attributes = new Map<string, Value>([
    ['__wrapped__', target],
    ['cache_clear', clear],
  ])
  for (const name of ['__module__', '__name__', '__qualname__', '__doc__']) {
    const value = findAttribute(rt, target, name)
    if (value !== undefined) cached.attributes.set(name, value)
  }
  return cached
}

const nameOf = (rt: Runtime, target: Value): string =>
  textOf(findAttribute(rt, target, '__qualname__')) ?? 'functools.lru_cache()'
