import { readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

import { LocalError } from './error.ts'
import type { Reading } from './reader.ts'
import { counted } from './words.ts'

/** Names of host nodes with what each does, as `node_list.json` holds them. */
type NodeList = Map<string, string>

interface Given {
  folder: string
  /** Paths of the files that will be published. */
  paths: readonly string[]
  /** Undefined where the reader is not around. */
  reading: Reading | undefined
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
  if (reading && !isUnread(reading)) return `${FILE} is not needed: the host nodes can be read`
  const found = host === undefined ? await draftNodeList(given) : await askHost(host, given)
  const path = join(folder, FILE)
  const before = await readNodeList(path)
  const fresh = [...found].filter(([name]) => !before.has(name))
  const last = host === undefined ? `: ${DRAFTED}` : ''
  if (fresh.length === 0) return `no name to add to ${FILE}${last}`
  const list = Object.fromEntries([...before, ...fresh])
  await writeFile(path, `${JSON.stringify(list, undefined, 2)}\n`)
  return `${path} has ${counted(fresh.length, 'new name')}${last}`
}

const FILE = 'node_list.json'
const DRAFTED =
  'its classes suggest names, a host may show others; --host asks one that has the pack'

/** True where the service would take the names of `node_list.json`: evaluation gave none. */
const isUnread = ({ how, reason }: Reading): boolean =>
  how === 'node_list' || how === 'literal_scan' || reason === 'mapping_unknown'

const readNodeList = async (path: string): Promise<NodeList> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  try {
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  } catch (cause) {
    throw new LocalError(`${path} is no JSON: mend or remove it`, { cause })
  }
}

/** Lists what a host shows as nodes of this folder. */
const askHost = async (host: string, { folder, signal }: Given): Promise<NodeList> => {
  const module = `custom_nodes.${basename(resolve(folder))}`
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(HOST_MS)])
    const response = await fetch(new URL('/object_info', host), { signal: limit })
    const shown = (await response.json()) as Record<string, HostNode>
    const own = Object.entries(shown).filter(([, node]) => node.python_module === module)
    return new Map(own.map(([name, { description }]) => [name, description ?? '']))
  } catch (cause) {
    throw new LocalError(`${host} does not list its nodes at /object_info`, { cause })
  }
}

type HostNode = { python_module?: string; description?: string }

/** A host with hundreds of packs lists its models, too. */
const HOST_MS = 60_000

/** Lists the names that evaluation saw, then classes that look like nodes, and ids of schemas. */
const draftNodeList = async ({ folder, paths, reading }: Given): Promise<NodeList> => {
  const names = new Set(reading?.how === 'literal_scan' ? Object.keys(reading.nodes) : [])
  for (const path of paths.filter((path) => path.endsWith('.py') && !ASIDE.test(path)))
    for (const name of namesIn(await readFile(join(folder, path), 'utf8'))) names.add(name)
  return new Map([...names].map((name) => [name, '']))
}

/** Files that show how nodes are used or tested. */
const ASIDE = /(^|\/)(tests?|docs?|examples?)\/|(^|\/)(test_[^/]*|conftest)\.py$/

/** Lists, of each class at the top of a file, the id of its schema, or its name if it has the older form. */
const namesIn = (source: string): string[] =>
  source.split(/^(?=\S)/m).flatMap((block) => {
    const name = /^class\s+(\w+)/.exec(block)?.[1]
    const id = /\bnode_id\s*=\s*(["'])(.+?)\1/.exec(block)?.[2]
    if (name === undefined) return []
    return id ?? (/\bdef\s+INPUT_TYPES\b/.test(block) ? name : [])
  })
