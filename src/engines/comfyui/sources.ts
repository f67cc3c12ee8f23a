import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'

import { isCode } from '../../platform/storage/files.ts'
import { resolveBySystem } from '../../platform/outbound/resolver.ts'
import { readInstanceFile } from '../domain/fleet-item.ts'
import type { FleetItem, NamedInstance } from '../domain/fleet-item.ts'

/** Finds all addresses of a host; rejects with ENOTFOUND where it has none. */
export type Resolve = (host: string) => Promise<string[]>

/**
 * Reads the instances of an item of COMFYUI_URLS. One that a name resolves to is called by its address and port, so that
 * the name is never another one's.
 */
export const readItem = async (
  item: FleetItem,
  resolve: Resolve = resolveBySystem,
): Promise<NamedInstance[]> => {
  if (item.kind === 'instance') return [item]
  const { depth, showsErrors } = item
  const options = {
    ...(depth !== undefined && { depth }),
    ...(showsErrors !== undefined && { showsErrors }),
  }
  if (item.kind === 'file')
    return readInstanceFile(await readFile(item.path, 'utf8')).map((line) => ({
      ...options,
      ...line,
    }))
  const addresses = await resolve(item.host).catch((error: unknown): string[] => {
    // A service without machines has no addresses. Any other error says nothing of them.
    if (isCode(error, 'ENOTFOUND')) return []
    throw error
  })
  return addresses
    .toSorted()
    .map((address) => `${isIPv6(address) ? `[${address}]` : address}:${item.port}`)
    .map((name) => ({ name, url: `http://${name}`, ...options }))
    .filter(({ url }) => URL.canParse(url))
}

/** Instances that there should be now, and why a source could not be read, by its name. */
export interface FoundInstances {
  instances: NamedInstance[]
  issues: Record<string, string>
}

/** Makes the function that reads all items. What was read before of one that cannot be read stays. */
export const makeReadInstances = (items: readonly FleetItem[], resolve?: Resolve) => {
  const last = new Map<FleetItem, NamedInstance[]>()
  return async (): Promise<FoundInstances> => {
    const issues: Record<string, string> = {}
    for (const item of items) {
      const read = await readItem(item, resolve).catch((error: Error) => {
        issues[nameOf(item)] = error.message
      })
      if (read) last.set(item, read)
    }
    const instances = new Map<string, NamedInstance>()
    for (const instance of items.flatMap((item) => last.get(item) ?? [])) {
      const { name, url } = instance
      if ((instances.get(name)?.url ?? url) !== url) issues[name] = 'it names two addresses'
      else instances.set(name, instance)
    }
    return { instances: [...instances.values()], issues }
  }
}

/** An item as COMFYUI_URLS has it. */
export const nameOf = (item: FleetItem): string => {
  if (item.kind === 'instance') return item.name
  return item.kind === 'dns' ? `dns:${item.host}:${item.port}` : `file:${item.path}`
}
