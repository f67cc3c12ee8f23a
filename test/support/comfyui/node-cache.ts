import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

import type { Folders } from './folders.ts'
import type { NodeResult } from './render.ts'
import type { Graph } from './validate.ts'

/** Results of nodes by their signatures. */
export interface NodeCache {
  get(signature: string | undefined): NodeResult | undefined
  set(signature: string, result: NodeResult): void
  /** Forgets all but these, and as many of the latest others as the option says. */
  keep(signatures: ReadonlySet<string>): void
}

export const makeCache = (others: number): NodeCache => {
  const results = new Map<string, NodeResult>()
  return {
    get: (signature) => (signature === undefined ? undefined : results.get(signature)),
    set: (signature, result) => void results.set(signature, result),
    keep(signatures) {
      const rest = [...results.keys()].filter((signature) => !signatures.has(signature))
      for (const signature of others === 0 ? rest : rest.slice(0, -others))
        results.delete(signature)
    },
  }
}

/**
 * Signs each node by its class, its values, the file it reads and the signatures of the nodes before it: equal ones have
 * equal results, whatever their ids and titles.
 */
export const signNodes = async (graph: Graph, folders: Folders): Promise<Map<string, string>> => {
  const signatures = new Map<string, string>()
  const sign = async (id: string): Promise<string> => {
    const known = signatures.get(id)
    if (known !== undefined) return known
    const node = graph[id]
    if (!node) return ''
    const parts: unknown[] = [node.class_type]
    for (const [name, value] of Object.entries(node.inputs).toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    ))
      parts.push(name, Array.isArray(value) ? [await sign(String(value[0])), value[1]] : value)
    const file = node.inputs[node.class_type === 'LoadVideo' ? 'file' : 'image']
    if (node.class_type.startsWith('Load') && typeof file === 'string')
      parts.push(await readFile(folders.findAnnotated(file) ?? '').then(hash, () => Math.random()))
    if (node.class_type === 'KilnFault') parts.push(Math.random())
    const signature = hash(JSON.stringify(parts))
    signatures.set(id, signature)
    return signature
  }
  for (const id of Object.keys(graph)) await sign(id)
  return signatures
}

const hash = (value: Buffer | string): string => createHash('sha256').update(value).digest('hex')
