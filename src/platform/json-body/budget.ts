import { errors } from '../domain/errors.ts'

interface Limit {
  /** Bytes of the whole process. */
  total: number
  /** Bytes for one address. */
  share: number
}

/** Bytes that are counted: of bodies that arrive, of those in memory, and of responses not yet sent. */
export type Counted = 'received' | 'memory' | 'unsent'

/**
 * Most bytes that one process takes at once. `memory` has room for the largest body that a route may allow (1,000,000
 * members, 16 MiB of text) from two addresses.
 */
const LIMITS: Record<Counted, Limit> = {
  received: { total: 2 ** 31, share: 2 ** 29 },
  memory: { total: 2 ** 27, share: 2 ** 26 },
  unsent: { total: 2 ** 28, share: 2 ** 26 },
}

/** Bytes of each request that count nothing: a small one passes whatever the large ones do. */
export const SMALL = 65_536

/** Bytes that one request has taken from the budget of its process. */
export interface Reservation {
  /**
   * Adds bytes.
   *
   * @throws 503 `busy` when the process, or the address, would have too many.
   */
  take: (kind: Counted, bytes: number) => void
  /** Gives everything back; further calls do nothing. */
  release: () => void
}

export interface Budget {
  /** Begins to count a request of an address, as quotas have it. */
  open: (address: string) => Reservation
  /** Bytes that are taken at this moment. */
  used: () => Record<Counted, number>
}

/**
 * Counts the bytes that one process receives, holds and has yet to send, as they come and go, so that much of them ends
 * in 503 and not in a full disk or a full heap.
 */
export const makeBudget = (limits: Partial<typeof LIMITS> = {}): Budget => {
  const all = { ...LIMITS, ...limits }
  const used = { received: 0, memory: 0, unsent: 0 }
  const byAddress = new Map<string, number>()

  const add = (kind: Counted, address: string, bytes: number) => {
    const name = `${kind} ${address}`
    const ofAddress = (byAddress.get(name) ?? 0) + bytes
    const { total, share } = all[kind]
    if (bytes > 0 && (used[kind] + bytes > total || ofAddress > share)) throw errors.busy()
    used[kind] += bytes
    if (ofAddress === 0) byAddress.delete(name)
    else byAddress.set(name, ofAddress)
  }

  const open = (address: string): Reservation => {
    const taken = { received: 0, memory: 0, unsent: 0 }
    let isOpen = true
    return {
      take: (kind, bytes) => {
        if (!isOpen) return
        add(kind, address, counting(taken[kind] + bytes) - counting(taken[kind]))
        taken[kind] += bytes
      },
      release: () => {
        if (!isOpen) return
        isOpen = false
        for (const kind of KINDS) add(kind, address, -counting(taken[kind]))
      },
    }
  }
  return { open, used: () => ({ ...used }) }
}

const KINDS = ['received', 'memory', 'unsent'] as const

const counting = (bytes: number): number => Math.max(0, bytes - SMALL)
