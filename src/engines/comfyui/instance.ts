import { setTimeout as sleep } from 'node:timers/promises'

import { describeCauses } from '../../platform/domain/causes.ts'
import { isObject } from '../../platform/domain/is-object.ts'
import { abilityIssues } from '../domain/template/fill.ts'
import { readNodeClass } from '../domain/template/node-class.ts'
import type { NodeClass, NodeClasses } from '../domain/template/node-class.ts'
import { folderOf, listGivenNames, listLeftFiles } from '../domain/template/run-end.ts'
import type { OutputFile } from '../domain/template/run-end.ts'
import { LOADERS, isModel } from '../../tasks/domain/model-file.ts'
import type { Template } from '../domain/template/template.ts'
import type { Host } from '../host.ts'
import { SilentError, type OriginOptions } from '../origin.ts'
import { watchSilence } from '../silence.ts'
import { makeComfyClient } from './client.ts'
import type { ComfyClient } from './client.ts'
import { makeEvents } from './events.ts'
import type { Events } from './events.ts'

/** Ids of prompts in the order in which they run. */
interface Queue {
  running: string[]
  pending: string[]
}

/** Place of a prompt; `absent` where an instance knows nothing of it. */
export type Found =
  | { state: 'running' | 'pending' | 'absent'; entry?: never }
  | { state: 'ended'; entry: Record<string, unknown> }

/** An instance as this process sees it. A prompt is the work of a placement, and has its id. */
export interface Instance extends Host {
  client: ComfyClient
  listen: Events['listen']
  /** Finds a prompt. What the instance knew before `since`, in milliseconds of the process, does not count. */
  find(id: string, since: number): Promise<Found>
  /** Classes of a template as this instance has them, or why it cannot run it. */
  readClasses(template: Template): Promise<{ classes: NodeClasses; issues: string[] }>
  /** Lists the files of models that its loaders offer, each below its folder; undefined where that was done minutes ago. */
  listModels(): Promise<string[] | undefined>
  /** Explains to an operator why it cannot run a template, and names the nearest class for one that it does not have. */
  explainClasses: Instance['readClasses']
  /** Takes a prompt that waits out of the queue. False: it is still there, runs, or has run. */
  withdraw(id: string): Promise<boolean>
  /**
   * Empties the files of a prompt that has ended, because no route removes them, and forgets it.
   * @param inputs names of what was uploaded
   * @param entry its entry of the history; absent: its results are found by the names that it was given
   */
  empty(id: string, inputs: readonly string[], entry?: Record<string, unknown>): Promise<void>
}

export interface InstanceOptions extends OriginOptions {
  lostMs: number
  depth: number
}

/** After this time, and after a template has failed, an operator may have added what was missing. */
const CLASSES_MS = 60_000
/** Models are files of gigabytes, which come and go seldom. */
const MODELS_MS = 300_000
/** Files of models of one instance. */
const MODELS_MAX = 20_000
/** A choice does not wait for an instance that stands still. */
const PROBE_MS = 500

export const makeInstance = (options: InstanceOptions): Instance => {
  const client = makeComfyClient(options)
  const events = makeEvents(options)
  const { readQueue, ...health } = watchQueue(client, events, options.lostMs)
  const ability = readAbility(client)
  const find: Instance['find'] = async (id, since) => {
    // Running → history happens under one lock there, so in this order nothing falls between the two.
    const { running, pending } = await readQueue(since)
    if (running.includes(id)) return { state: 'running' }
    if (pending.includes(id)) return { state: 'pending' }
    const { body } = await client.get(`/history/${id}`)
    const entry = body[id]
    return isObject(entry) ? { state: 'ended', entry } : { state: 'absent' }
  }
  let hasJobs = true
  return {
    name: options.name,
    url: options.url,
    depth: options.depth,
    client,
    listen: events.listen,
    ...health,
    ...ability,
    find,
    isFull: () => false,
    close: () => client.close(),
    freeMemory: () => client.post('/free', { unload_models: true, free_memory: true }),
    async withdraw(id) {
      await client.post('/queue', { delete: [id] })
      return (await find(id, performance.now())).state === 'absent'
    },
    async probe(since) {
      await Promise.race([
        readQueue(since).catch(() => undefined),
        sleep(PROBE_MS, undefined, { ref: false }),
      ])
    },
    async cancel(id) {
      if (hasJobs) {
        const { status } = await client.post(`/api/jobs/${id}/cancel`, {})
        if (status < 300) return
        hasJobs = false
      }
      await client.post('/queue', { delete: [id] })
      await client.post('/interrupt', { prompt_id: id })
    },
    async empty(id, inputs, entry) {
      const given = inputs.map((filename) => ({ filename, subfolder: folderOf(id), type: 'input' }))
      const made = entry ? listLeftFiles(entry) : await findMade(client, id)
      for (const file of [...given, ...made]) await client.upload({ ...file, path: null })
      await client.post('/history', { delete: [id] })
    },
  }
}

/** More than any batch has. */
const FILES_MAX = 10_000

/** Finds the files of a prompt that is in no history, as after a kill: the process is new and its folders are not. */
const findMade = async (client: ComfyClient, id: string): Promise<OutputFile[]> => {
  const made: OutputFile[] = []
  for (let number = 1; number < FILES_MAX; number += 1) {
    const names = listGivenNames(id, number)
    const there = await Promise.all(names.map((file) => client.has(file)))
    if (!there.includes(true)) break
    made.push(...names.filter((_, index) => there[index]))
  }
  return made
}

const watchQueue = (client: ComfyClient, events: Events, lostMs: number) => {
  let asked: { at: number; response: Promise<Queue> } | undefined
  let queue: Queue = { running: [], pending: [] }
  const { silence, doubt, end } = watchSilence()
  let movedAt = performance.now()
  const ask = async (): Promise<Queue> => {
    try {
      const { body } = await client.get('/queue')
      const read = { running: idsOf(body['queue_running']), pending: idsOf(body['queue_pending']) }
      if (read.running[0] !== queue.running[0]) movedAt = performance.now()
      queue = read
      end()
      return read
    } catch (error) {
      doubt(describeCauses(error))
      throw error
    }
  }
  const readQueue = (since: number): Promise<Queue> => {
    if (!asked || asked.at < since) {
      asked = { at: performance.now(), response: ask() }
      asked.response.catch(() => {})
    }
    return asked.response
  }
  return {
    readQueue,
    state: (): ReturnType<Host['state']> => {
      const { ms } = silence() ?? {}
      if (ms === undefined) return asked ? 'up' : 'doubtful'
      return ms < lostMs ? 'doubtful' : 'down'
    },
    silence,
    doubt,
    countOthers: (ids: readonly string[]) =>
      [...queue.running, ...queue.pending].filter((id) => !ids.includes(id)).length,
    stalledMs: () =>
      queue.running.length === 0 ? 0 : performance.now() - Math.max(movedAt, events.lastAt()),
  }
}

/** An item is `[number, id, prompt, extra_data, output ids]`. */
const idsOf = (items: unknown): string[] => {
  if (!Array.isArray(items)) throw new SilentError('its queue cannot be read')
  return items.map((item: unknown) => (Array.isArray(item) ? String(item[1]) : ''))
}

/** Reads version and command line of the body of `GET /system_stats`; the version of any other is empty. */
export const readSystem = (stats: Record<string, unknown>) => {
  const { comfyui_version: version, argv } = isObject(stats['system']) ? stats['system'] : {}
  return {
    version: typeof version === 'string' ? version : '',
    argv: Array.isArray(argv) ? (argv as unknown[]) : [],
  }
}

const readAbility = (client: ComfyClient) => {
  const known = new Map<string, NodeClass | undefined>()
  const forgotten = new Map<string, string>()
  const facts = { version: '', vram: 0, maxUpload: Infinity }
  let readAt = -Infinity
  let listedAt = -Infinity
  const readFacts = async (): Promise<void> => {
    const [features, { body: stats }] = [
      await client.get('/features'),
      await client.get('/system_stats'),
    ]
    const { max_upload_size: max } = features.body
    facts.maxUpload = typeof max === 'number' ? max : Infinity
    facts.version = readSystem(stats).version
    const devices = Array.isArray(stats['devices']) ? (stats['devices'] as unknown[]) : []
    facts.vram = Math.max(
      0,
      ...devices.filter(isObject).map(({ vram_total: bytes }) => Number(bytes) || 0),
    )
  }
  let listed: readonly string[] | undefined
  /** Lists all classes, once: the response has megabytes where many packs are installed. */
  const listClasses = async (): Promise<readonly string[]> =>
    (listed ??= await client.get('/object_info').then(
      ({ body }) => Object.keys(body),
      () => [],
    ))
  const listIssues = (
    template: Template,
    classes: NodeClasses,
    names?: readonly string[],
  ): string[] => {
    const issue = forgotten.get(template.name)
    return [...abilityIssues(template, classes, names), ...(issue === undefined ? [] : [issue])]
  }
  const readClasses: Instance['readClasses'] = async (template) => {
    if (performance.now() - readAt > CLASSES_MS) {
      await readFacts()
      known.clear()
      forgotten.clear()
      readAt = performance.now()
    }
    // Another call may empty the cache meanwhile.
    const classes: Record<string, NodeClass | undefined> = {}
    for (const { class_type: name } of Object.values(template.graph)) {
      const cached = known.has(name)
        ? known.get(name)
        : readNodeClass((await client.get(`/object_info/${encodeURIComponent(name)}`)).body, name)
      known.set(name, cached)
      classes[name] = cached
    }
    return { classes, issues: listIssues(template, classes) }
  }
  return {
    facts: () => facts,
    forget(template: string, issue: string) {
      forgotten.set(template, issue)
    },
    readClasses,
    async listModels() {
      if (performance.now() - listedAt < MODELS_MS) return undefined
      const files = new Set<string>()
      const folders = new Set<string>()
      for (const [name, folder] of LOADERS) {
        if (folders.has(folder)) continue
        const { body } = await client.get(`/object_info/${name}`)
        const inputs = Object.values(readNodeClass(body, name) ?? {})
        for (const file of inputs.flatMap(({ choices = [] }) => choices))
          if (isModel(file) && folders.add(folder))
            files.add(`${folder}/${file.replaceAll('\\', '/')}`)
      }
      listedAt = performance.now()
      return [...files].slice(0, MODELS_MAX)
    },
    async explainClasses(template: Template) {
      const read = await readClasses(template)
      const hasAll = Object.values(read.classes).every((known) => known !== undefined)
      if (hasAll) return read
      return { ...read, issues: listIssues(template, read.classes, await listClasses()) }
    },
  }
}
