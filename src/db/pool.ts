import postgres from 'postgres'

import { ARRAY_TYPES } from './array-types.ts'
import { beginSafely } from './transaction.ts'

type Options = postgres.Options<Record<string, never>>

/**
 * Makes a pool that replaces itself whenever one of its connections breaks. The driver (3.4.9) reuses the slot of a broken
 * connection while bytes of its predecessor are still unsent; every attempt to connect then times out for a while.
 * Queries under way in the old pool go on, and it closes when they have ended.
 */
export const makePool = (url: string, options: Options): postgres.Sql => {
  let current: postgres.Sql | undefined
  let ended = false

  const open = (): postgres.Sql => {
    const pool: postgres.Sql = postgres(url, {
      ...options,
      fetch_types: false,
      types: ARRAY_TYPES,
      // Only a fault closes a connection, so each close calls for a new pool.
      idle_timeout: undefined,
      max_lifetime: null,
      onclose: () => {
        if (ended) return
        if (current === pool) current = undefined
        // A pool with broken slots may never end by itself, so nobody waits for it.
        void pool.end()
      },
    })
    return pool
  }
  const use = (): postgres.Sql => {
    current ??= open()
    return current
  }
  const end = async (how?: { timeout?: number }): Promise<void> => {
    ended = true
    await use().end(how)
  }

  current = open()
  return new Proxy(current, {
    apply: (_first, self, values: unknown[]) => Reflect.apply(use(), self, values) as unknown,
    get: (_first, name) => {
      if (name === 'begin')
        return (work: Parameters<typeof beginSafely>[1]) => beginSafely(use(), work)
      if (name === 'end') return end
      return Reflect.get(use(), name) as unknown
    },
  })
}
