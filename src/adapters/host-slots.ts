export interface HostSlotsOptions {
  /** Most slots of one host taken at once. */
  perHost: number
}

/** Gives a slot back; a second call does nothing. */
export type Release = () => void

/**
 * Counts what goes on at each host in this process, so that one that hangs holds no more than its share. Nobody waits
 * here: who gets no slot comes back later.
 */
export interface HostSlots {
  /** @param host name and port, as `URL.host` has them */
  tryTake: (host: string) => Release | undefined
  /** Hosts of which a slot is taken. */
  hosts: () => number
}

export const makeHostSlots = ({ perHost }: HostSlotsOptions): HostSlots => {
  const taken = new Map<string, number>()
  const add = (host: string, change: number) => {
    const count = (taken.get(host) ?? 0) + change
    if (count === 0) taken.delete(host)
    else taken.set(host, count)
  }
  const tryTake = (host: string): Release | undefined => {
    if ((taken.get(host) ?? 0) >= perHost) return undefined
    add(host, 1)
    let held = true
    return () => {
      if (held) add(host, -1)
      held = false
    }
  }
  return { tryTake, hosts: () => taken.size }
}
