import { setTimeout as sleep } from 'node:timers/promises'

import { findVideoBinaries } from '../../../packages/engines/src/binaries.ts'
import type { VideoBinaries } from '../../../packages/engines/src/binaries.ts'
import { spoilOutput } from './folders.ts'
import type { Folders, StoredFile } from './folders.ts'
import { makeCache, signNodes } from './node-cache.ts'
import { NODE_FUNCTIONS, PYTHON_ERRORS, PythonError } from './render.ts'
import type { Sockets } from './socket.ts'
import type { Graph, GraphNode } from './validate.ts'

/** Number, id, graph, extra data and output nodes, as `/queue` lists a prompt. */
export type QueueItem = [
  number: number,
  id: string,
  graph: Graph,
  extra: Record<string, unknown>,
  outputs: string[],
]

type Message = [type: string, data: Record<string, unknown>]

export interface HistoryEntry {
  prompt: QueueItem
  outputs: Record<string, unknown>
  status: { status_str: 'success' | 'error'; completed: boolean; messages: Message[] }
  meta: Record<string, unknown>
}

/**
 * Fault of the next prompt that begins: it raises (out of memory in three ways, an error of CUDA, a model that is gone,
 * any other), it is interrupted by somebody else, it never ends, it ends the worker's thread while all routes respond on,
 * it is forgotten by the queue and the history, or what it saved is gone, cut or not listed.
 */
export type PromptFault =
  | keyof typeof PYTHON_ERRORS
  /** An error of CUDA, which all later prompts of the process have, too. */
  | 'device'
  | 'interrupted'
  | 'stall'
  | 'zombie'
  | 'forgotten'
  | 'output-gone'
  | 'output-truncated'
  | 'no-output'

export interface WorkerOptions {
  folders: Folders
  sockets: Sockets
  /** Faults of the prompts that begin next, in turn. */
  faults: PromptFault[]
  /** Fault of every prompt with such a graph. */
  poisonOf: (graph: Graph) => PromptFault | undefined
  /** Duration of every node that is not cached. */
  nodeMs: () => number
  /** Pending while a test holds what runs. */
  held: () => Promise<void> | undefined
  /** Pending while the process stands still. */
  thawed: () => Promise<void>
  withMetadata: boolean
  /** Nodes of earlier prompts that stay cached. */
  cacheLru: number
  /** Ends the process, as a killed one. */
  kill(): void
}

/** The memory of a process of ComfyUI: a queue, a history, a cache and the one thread that runs prompts. */
export interface Worker {
  queue(): { queue_running: QueueItem[]; queue_pending: QueueItem[] }
  remaining(): number
  history: Map<string, HistoryEntry>
  put(item: QueueItem): void
  /** Takes one that is pending out of the queue. */
  remove(id: string): boolean
  clear(): void
  /** Interrupts what runs: the named prompt alone, or whatever it is. True when there was one. */
  interrupt(id?: string): boolean
  /** The node that runs for a client, for a socket that comes late. */
  current(client: string): string | undefined
  /** True while a node runs. */
  isRunning(): boolean
  free(): void
  /** The process is gone: what runs has no effect any more. */
  end(): void
}

class Interrupted extends Error {}

export const makeWorker = (options: WorkerOptions): Worker => {
  const { folders, sockets, faults } = options
  const pending: QueueItem[] = []
  const history = new Map<string, HistoryEntry>()
  const cache = makeCache(options.cacheLru)
  const ended = new AbortController()
  let running: QueueItem | undefined
  let binaries: Promise<VideoBinaries> | undefined
  let busy = false
  let isZombie = false
  let isDeviceBroken = false
  let interrupts = new AbortController()
  let client: string | undefined
  let currentNode: string | undefined

  const findBinaries = (): Promise<VideoBinaries> =>
    (binaries ??= findVideoBinaries({
      searchPath: process.env['PATH'] ?? '',
      production: false,
    }))
  const remaining = (): number => pending.length + (running ? 1 : 0)
  const updated = (): void =>
    sockets.send('status', { status: { exec_info: { queue_remaining: remaining() } } })
  const notify = (type: string, data: unknown, everyone = false): void => {
    if (client !== undefined || everyone) sockets.send(type, data, client)
  }

  const work = async (): Promise<void> => {
    if (busy || isZombie) return
    busy = true
    for (let next = takeFirst(pending); next && !ended.signal.aborted; next = takeFirst(pending)) {
      running = next
      updated()
      await options.thawed()
      await run(next)
      if (isZombie || ended.signal.aborted) return
      await options.thawed()
    }
    busy = false
  }

  const run = async (item: QueueItem): Promise<void> => {
    const [, id, graph, extra, outputs] = item
    interrupts = new AbortController()
    client = typeof extra['client_id'] === 'string' ? extra['client_id'] : undefined
    const fault = isDeviceBroken ? 'device' : (options.poisonOf(graph) ?? faults.shift())
    isDeviceBroken = fault === 'device'
    const messages: Message[] = []
    const add = (type: string, data: Record<string, unknown>, everyone = false): void => {
      const message = { ...data, timestamp: Date.now() }
      messages.push([type, message])
      notify(type, message, everyone)
    }
    add('execution_start', { prompt_id: id })
    const signatures = await signNodes(graph, folders)
    cache.keep(new Set(signatures.values()))
    const cached = Object.keys(graph).filter((node) => cache.get(signatures.get(node)))
    add('execution_cached', { nodes: cached, prompt_id: id })
    const order = orderNodes(graph, outputs, (node) => cached.includes(node))
    const progress = makeProgress(id, (data) => sockets.send('progress_state', data, client))
    const executed: string[] = []
    const saved: StoredFile[] = []
    let success = true
    for (const node of order) {
      const { class_type, inputs } = graph[node] as GraphNode
      const hit = cache.get(signatures.get(node))
      if (hit) {
        notify('executed', { node, display_node: node, output: hit.ui ?? null, prompt_id: id })
        progress.finish(node)
        continue
      }
      progress.start(node)
      currentNode = node
      notify('executing', { node, display_node: node, prompt_id: id })
      try {
        await begin(executed.length === 0 ? fault : undefined)
        const values = Object.entries(inputs).map(([name, value]) => [name, resolve(value)])
        const result = await (NODE_FUNCTIONS[class_type] as (typeof NODE_FUNCTIONS)[string])({
          inputs: Object.fromEntries(values),
          folders,
          metadata: options.withMetadata ? graph : undefined,
          binaries: findBinaries,
          step: (value, max) => {
            if (interrupts.signal.aborted) throw new Interrupted()
            progress.step(node, value, max)
            notify('progress', { value, max, prompt_id: id, node }, true)
          },
          sleep: async (ms) => await sleep(ms, undefined, { signal: ended.signal }),
          die,
        })
        cache.set(signatures.get(node) ?? '', result)
        if (result.ui) {
          saved.push(...(result.ui.images ?? []), ...(result.ui.audio ?? []))
          notify('executed', { node, display_node: node, output: result.ui, prompt_id: id })
        }
      } catch (error) {
        if (isZombie || ended.signal.aborted) return
        success = false
        const where = { prompt_id: id, node_id: node, node_type: class_type, executed }
        if (error instanceof Interrupted) add('execution_interrupted', where, true)
        else add('execution_error', { ...where, ...describe(error, inputs), current_outputs: [] })
        break
      }
      progress.finish(node)
      executed.push(node)
    }
    await options.thawed()
    if (ended.signal.aborted) return
    if (success) add('execution_success', { prompt_id: id })
    for (const file of saved)
      if (fault === 'output-gone' || fault === 'output-truncated')
        await spoilOutput(
          `${folders.path(file.type)}/${file.subfolder}/${file.filename}`,
          fault === 'output-gone' ? 'gone' : 'truncated',
        )
    const shown = Object.keys(graph).flatMap((node) => {
      const ui = cache.get(signatures.get(node))?.ui
      return ui && fault !== 'no-output' ? [[node, ui] as const] : []
    })
    currentNode = undefined
    running = undefined
    if (fault !== 'forgotten')
      history.set(id, {
        prompt: item,
        outputs: Object.fromEntries(shown),
        status: { status_str: success ? 'success' : 'error', completed: success, messages },
        meta: Object.fromEntries(shown.map(([node]) => [node, makeMeta(node)])),
      })
    updated()
    notify('executing', { node: null, prompt_id: id })

    function resolve(value: unknown): unknown {
      if (!Array.isArray(value)) return value
      const [source, slot] = value as [string, number]
      return cache.get(signatures.get(source))?.values[slot]
    }
  }

  /** Waits before a node as the test wants it, and then for the interrupt, which a node meets at its start. */
  const begin = async (fault: PromptFault | undefined): Promise<void> => {
    await options.thawed()
    const { signal } = interrupts
    const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    if (fault === 'stall') await untilAborted(ended.signal)
    if (fault === 'zombie') await die('thread')
    if (!signal.aborted) await Promise.race([cut, options.held() ?? sleep(options.nodeMs())])
    await options.thawed()
    if (ended.signal.aborted || signal.aborted || fault === 'interrupted') throw new Interrupted()
    if (fault === 'device') throw PYTHON_ERRORS.cuda
    if (fault !== undefined && fault in PYTHON_ERRORS)
      throw PYTHON_ERRORS[fault as keyof typeof PYTHON_ERRORS]
  }

  const die = async (how: 'thread' | 'process'): Promise<never> => {
    if (how === 'thread') isZombie = true
    else options.kill()
    throw new Error(how)
  }

  return {
    queue: () => ({
      queue_running: running ? [running] : [],
      queue_pending: pending.toSorted(byTurn),
    }),
    remaining,
    history,
    put(item) {
      pending.push(item)
      updated()
      setImmediate(() => void work())
    },
    remove(id) {
      const at = pending.findIndex((item) => item[1] === id)
      if (at === -1) return false
      pending.splice(at, 1)
      updated()
      return true
    },
    clear() {
      pending.length = 0
      updated()
    },
    interrupt(id) {
      const hits = running !== undefined && (id === undefined || running[1] === id)
      if (hits) interrupts.abort()
      return hits
    },
    current: (name) => (name === client ? currentNode : undefined),
    isRunning: () => currentNode !== undefined,
    free: () => cache.keep(new Set()),
    end() {
      ended.abort()
      interrupts.abort()
    },
  }
}

const untilAborted = async (signal: AbortSignal): Promise<never> =>
  await new Promise((_, reject) => {
    if (signal.aborted) reject(new Error('ended'))
    signal.addEventListener('abort', () => reject(new Error('ended')))
  })

const byTurn = (a: QueueItem, b: QueueItem): number => a[0] - b[0] || (a[1] < b[1] ? -1 : 1)

const takeFirst = (pending: QueueItem[]): QueueItem | undefined => {
  const [first] = pending.toSorted(byTurn)
  if (first) pending.splice(pending.indexOf(first), 1)
  return first
}

/** Each node behind those that it has links to; what is before a cached one does not run. */
const orderNodes = (
  graph: Graph,
  outputs: string[],
  isCached: (node: string) => boolean,
): string[] => {
  const order: string[] = []
  const visit = (node: string): void => {
    if (order.includes(node)) return
    for (const value of isCached(node) ? [] : Object.values(graph[node]?.inputs ?? {}))
      if (Array.isArray(value) && !isCached(String(value[0]))) visit(String(value[0]))
    order.push(node)
  }
  for (const output of outputs) visit(output)
  return order
}

const makeMeta = (node: string) => ({
  node_id: node,
  display_node: node,
  parent_node: null,
  real_node_id: node,
})

/** Progress of all nodes that have begun, which is sent whole whenever one changes. */
const makeProgress = (id: string, send: (data: unknown) => void) => {
  const nodes: Record<string, Record<string, unknown>> = {}
  const set = (node: string, state: Record<string, unknown>): void => {
    nodes[node] = {
      value: 0,
      max: 1,
      ...nodes[node],
      ...state,
      node_id: node,
      prompt_id: id,
      display_node_id: node,
      parent_node_id: null,
      real_node_id: node,
    }
    send({ prompt_id: id, nodes })
  }
  return {
    start: (node: string) => set(node, { state: 'running' }),
    step: (node: string, value: number, max: number) => set(node, { state: 'running', value, max }),
    finish: (node: string) => set(node, { state: 'finished', value: nodes[node]?.['max'] ?? 1 }),
  }
}

const describe = (error: unknown, inputs: Record<string, unknown>) => ({
  exception_message: error instanceof Error ? error.message : String(error),
  exception_type: error instanceof PythonError ? error.type : 'RuntimeError',
  traceback: ['  File "/comfyui/execution.py", line 496, in execute\n'],
  current_inputs: Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      name,
      [Array.isArray(value) ? 'tensor([[[[0.1' : value],
    ]),
  ),
})
