import { readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

import { reasonOf } from '../lib/retry.ts'
import { draftNodeList } from './draft-node-list.ts'
import type { Names, Pack } from './draft-node-list.ts'
import { LocalError } from './error.ts'
import type { Reading } from './reader.ts'
import { counted } from './words.ts'

interface Given extends Pack {
  nodeId: string
  /** Address of a running host that has the pack. */
  host: string | undefined
  signal: AbortSignal
}

/**
 * Writes `node_list.json` for a pack whose mapping cannot be read, and says so. What the file has already stays. A running
 * host knows the names; without one those are written that the pack's files suggest.
 */
export const writeNodeList = async (given: Given): Promise<string> => {
  const { folder, reading, host } = given
  const why = reading && whyNotWritten(reading)
  if (why !== undefined) return why
  const path = join(folder, FILE)
  const before = await readNodeList(path)
  const found = host === undefined ? await draftNodeList(given) : await askHost(host, given)
  const fresh = [...found].filter(([name]) => !before.has(name))
  const last = host === undefined ? `: ${DRAFTED}` : ''
  if (fresh.length === 0) return `no name to add to ${FILE}${last}`
  const added = fresh.map(([name, { description = '' }]) => [name, description])
  const list = Object.fromEntries([...before, ...added])
  await writeFile(path, `${JSON.stringify(list, undefined, 2)}\n`)
  const names = fresh.map(([name, { file }]) => (file === undefined ? name : `${name} (${file})`))
  return `${path} has ${counted(fresh.length, 'new name')}${last}: ${names.join(', ')}`
}

const FILE = 'node_list.json'
const DRAFTED =
  'its files suggest names, a host may show others; correct them, or --host asks one that has the pack'

/** Why the service would not take `node_list.json`; undefined where evaluation gives no names, which is when it does. */
const whyNotWritten = ({ how, partial, reason, nodes }: Reading): string | undefined => {
  if (how === 'v1' || how === 'v3') {
    const read = counted(Object.keys(nodes).length, 'host node')
    if (partial) return `${FILE} is not written: it does not count beside ${read} of the mapping`
    return `${FILE} is not needed: the host nodes can be read`
  }
  if (partial && !/^(own_module_missing|import_raised)$/.test(reason ?? '')) return undefined
  if (reason === undefined) return `${FILE} is not needed: the pack has no host nodes`
  return `${FILE} is not written: it does not count while the reading fails by ${reason}`
}

/** Reads the list as the service does, so that what is an error there is one here. */
const readNodeList = async (path: string): Promise<Map<string, unknown>> => {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  const list = parseObject(new TextDecoder().decode(bytes) || '{}')
  if (list) return new Map(Object.entries(list).map(([name, text]) => [name.trim(), text]))
  const form = 'one JSON object, from the name of each host node to its description'
  throw new LocalError(
    `${path} must be ${form}, without a comma after the last entry: mend or remove it`,
  )
}

const parseObject = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Lists what a host shows as nodes of this pack. */
const askHost = async (host: string, { folder, nodeId, signal }: Given): Promise<Names> => {
  const url = `${host.replace(/\/$/, '')}/object_info`
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOST_MS)])
  const asked = fetch(url, { signal: limit }).then((response) => response.text())
  const text = await asked.catch((cause: unknown) => {
    throw new LocalError(`the host at ${host} cannot be reached: ${reasonOf(cause)}`, { cause })
  })
  const shown = parseObject(text) as Record<string, HostNode> | undefined
  if (!shown) throw new LocalError(`${url} lists no nodes: --host must be the address of the host`)
  const modules = [basename(resolve(folder)), nodeId].map((name) => `custom_nodes.${name}`)
  const own = Object.entries(shown).filter(([, node]) => modules.includes(node.python_module ?? ''))
  if (own.length > 0) return new Map(own)
  throw new LocalError(`${host} shows no nodes of ${modules.join(' or ')}: install the pack there`)
}

type HostNode = { python_module?: string; description?: string }

/** A host with hundreds of packs lists its models, too. */
const HOST_MS = 60_000
