import { makeNotifier, type Notifier } from '../domain/notifier.ts'

/** Delivery attempts that a worker makes at once, by what they share. */
export const ATTEMPT_SLOTS = {
  /** One host, with its port. */
  host: 8,
  /** One address. Twice as many as a host has: unrelated webhook URLs share addresses. */
  address: 16,
  /** One owner, or all anonymous callers. A wildcard zone gives an owner as many hosts and addresses as it likes. */
  owner: 48,
  /** One account: an owner, or of anonymous callers the network of one. */
  account: 24,
  /** The look-ups of all owners: a silent name server holds each for as long as a connection may take. */
  lookUps: 64,
  /** The look-ups of one account. */
  lookUpsOfAccount: 12,
}

export type SlotKind = keyof typeof ATTEMPT_SLOTS

/** Kind and key of a slot, such as `['host', 'hooks.example.com']`. */
export type Wanted = readonly [kind: SlotKind, key: string]

/** The slots; or what was full, and the number of groups turned away, each as large as a key has slots. */
export type Taken =
  | {
      /** Gives the slots back; a second call does nothing. */
      release: () => void
      groups?: never
    }
  | { release?: never; groups: number; full: SlotKind }

export interface Patience {
  /** Longest wait for slots, in milliseconds; 0: none. */
  waitMs: number
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

/**
 * Counts what attempts in this process hold, so that a host, address or owner that hangs holds no more than its share.
 * An attempt that has waited in vain comes back later.
 */
export interface AttemptSlots {
  /** Takes all of these or none. */
  take: (wanted: readonly Wanted[], patience: Patience) => Promise<Taken>
  /** Counts the keys that have at least one slot taken. */
  size: () => number
}

export const makeAttemptSlots = (
  limits: Record<SlotKind, number> = ATTEMPT_SLOTS,
): AttemptSlots => {
  const taken = new Map<string, number>()
  /** Attempts turned away since a slot was last given back: about as many wait for it. */
  const away = new Map<string, number>()
  /** Notifiers of attempts that wait for a slot, by key. */
  const notifiers = new Map<string, Notifier>()
  const add = (name: string, change: number) => {
    const count = (taken.get(name) ?? 0) + change
    if (count === 0) taken.delete(name)
    else taken.set(name, count)
  }
  const findFull = (wanted: readonly Wanted[]): Wanted | undefined =>
    wanted.find((one) => (taken.get(nameOf(one)) ?? 0) >= limits[one[0]])
  const turnAway = (full: Wanted): Taken => {
    const name = nameOf(full)
    const turned = (away.get(name) ?? 0) + 1
    away.set(name, turned)
    return { groups: Math.ceil(turned / limits[full[0]]), full: full[0] }
  }
  const hold = (wanted: readonly Wanted[]): Taken => {
    let own = wanted.map(nameOf)
    for (const name of own) add(name, 1)
    const release = () => {
      const given = own
      own = []
      for (const name of given) {
        add(name, -1)
        away.delete(name)
      }
      for (const name of given) {
        notifiers.get(name)?.notify()
        if (!taken.has(name)) notifiers.delete(name)
      }
    }
    return { release }
  }
  const waitFor = async (name: string, { waitMs, signal }: Patience): Promise<void> => {
    const notifier = notifiers.get(name) ?? makeNotifier()
    notifiers.set(name, notifier)
    await notifier.wait(waitMs, signal)
  }
  const take = async (wanted: readonly Wanted[], { waitMs, signal }: Patience): Promise<Taken> => {
    const end = performance.now() + waitMs
    for (;;) {
      const full = findFull(wanted)
      if (!full) return hold(wanted)
      const left = end - performance.now()
      if (left <= 0 || signal?.aborted) return turnAway(full)
      await waitFor(nameOf(full), { waitMs: left, signal })
    }
  }
  return { take, size: () => taken.size }
}

const nameOf = ([kind, key]: Wanted): string => `${kind} ${key}`
