import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** All addresses of a host name. Ends when the signal is aborted. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** Asks the system, which also knows the hosts file and the names of a cluster, for a host that an operator has named. */
export const resolveBySystem = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export interface ResolverOptions {
  /** Name servers, such as `127.0.0.1:53`; the system's unless given. */
  servers?: readonly string[]
  /** Names that need no name server. */
  hostsFile?: string
  /** For one look-up, in milliseconds. */
  timeoutMs?: number
}

/**
 * Makes the look-up of names by the hosts file, then by the name servers. It is not `dns.lookup`, which cannot be ended
 * and runs in the four threads of libuv: eight names of a silent name server made all other look-ups of the process, and
 * its files, wait for 40 s.
 */
export const makeResolver =
  ({ servers, hostsFile = '/etc/hosts', timeoutMs = 5_000 }: ResolverOptions = {}): Resolve =>
  async (host, signal) => {
    const listed = await listInHosts(hostsFile, host)
    if (listed.length > 0) return listed
    signal.throwIfAborted()
    // One for each look-up: to cancel ends all that a resolver has under way. It also reads resolv.conf again.
    const resolver = new Resolver({ timeout: 2_000, tries: 2 })
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    const timer = setTimeout(cancel, timeoutMs)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await askBoth(resolver, host)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }

/** IPv4 first: where a machine has no route to one family, the other is dialled next. */
const askBoth = async (resolver: Resolver, host: string): Promise<string[]> => {
  const responses = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = responses.flatMap((response) =>
    response.status === 'fulfilled' ? response.value : [],
  )
  if (addresses.length > 0) return addresses
  throw (
    responses.find((response) => response.status === 'rejected')?.reason ?? new Error('no address')
  )
}

const listInHosts = async (file: string, host: string): Promise<string[]> => {
  const text = await readFile(file, 'utf8').catch(() => '')
  const found = text
    .split('\n')
    .map((connection) => connection.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([address = '', ...names]) => isDialled(address) && names.includes(host))
    .map(([address = '']) => address)
  return found.length > 0 || host !== 'localhost' ? found : ['127.0.0.1', '::1']
}

/** The loopback of macOS has an address with a zone, too, which no rule can match. */
const isDialled = (address: string): boolean => isIP(address) !== 0 && !address.includes('%')
