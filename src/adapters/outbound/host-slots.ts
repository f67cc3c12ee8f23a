/** Attempts at one host that a worker makes at once. */
export const PER_HOST = 8

export interface HostSlotsOptions {
  /** Most slots of one host taken at once. */
  perHost: number
}

/** Gives a slot back; a second call does nothing. */
export type Release = () => void

/**
 * Counts the attempts at each host in this process, so that a host that hangs holds no more than its share. Nobody
 * waits here: an attempt without a slot comes back later.
 */
export interface HostSlots {
  /** @param host name and port, as `URL.host` has them */
  tryTake: (host: string) => Release | undefined
  /** How often a host had no slot left since one was last given back: about as many attempts wait for it. */
  turnedAway: (host: string) => number
  /** Hosts with at least one slot taken. */
  hosts: () => number
}

export const makeHostSlots = ({ perHost }: HostSlotsOptions): HostSlots => {
  const taken = new Map<string, number>()
  const away = new Map<string, number>()
  const add = (host: string, change: number) => {
    const count = (taken.get(host) ?? 0) + change
    if (count === 0) taken.delete(host)
    else taken.set(host, count)
  }
  const tryTake = (host: string): Release | undefined => {
    if ((taken.get(host) ?? 0) >= perHost) {
      away.set(host, (away.get(host) ?? 0) + 1)
      return undefined
    }
    add(host, 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      add(host, -1)
      away.delete(host)
    }
  }
  return { tryTake, turnedAway: (host) => away.get(host) ?? 0, hosts: () => taken.size }
}
