import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom, pick } from '../faults/random.ts'
import { VIDEO_API } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'
import { OWNERS, RELIGHT, type Callers } from './callers.ts'

/** Ids that responses gave a creation: more than one, and it was made twice. */
interface Made {
  ids: Set<string>
  unknown: number
}

/** Follow-ups of a batch while its tasks are made: it is stopped, or an operation acts on them. */
export const FOLLOW_UPS = ['none', 'stop', 'cancel', 'delete', 'abort'] as const

/** A batch of a caller, with what follows. */
export interface BulkOrder {
  key: string
  owner: string
  /** `abort`: an operation that cancels, and is stopped itself. */
  next: (typeof FOLLOW_UPS)[number]
  batch: Made
  operation: Made
  /** Its requests are a file that is uploaded; the link to it, once it is there. */
  isOfFile: boolean
  file?: string | undefined
  /** Counts in the response that stopped the operation, from which on nothing more is done. */
  stoppedAt?: Record<string, number> | undefined
}

export interface BulkLine {
  index: number
  state: string
  task_id?: string
}

/** A batch or an operation as its owner reads it in the end. */
export interface EndedBulk {
  state: string
  total: number
  counts: Record<string, number>
  created_at: string
  lines: BulkLine[]
}

export interface BulkResult {
  order: BulkOrder
  batch: EndedBulk
  operation?: EndedBulk | undefined
}

/** Requests of a batch; each so many is a video, and each so many is one that its route rejects. */
export const REQUESTS = 24
const VIDEOS = 6
const BAD = 8
const MAX_WAIT_MS = PATIENCE_MS / 2
export const isBad = (index: number): boolean => index % BAD === BAD - 1
/** Prompt of a request, by which its task is found. */
export const promptOf = (key: string, index: number): string => `${key} ${index}`

export const makeBulkOrder = (order: Pick<BulkOrder, 'key' | 'next'>): BulkOrder => ({
  owner: 'alice',
  batch: { ids: new Set(), unknown: 0 },
  operation: { ids: new Set(), unknown: 0 },
  isOfFile: false,
  ...order,
})

export interface BulkOptions {
  seed: number
  batches: number
  /** Webhook URL of a batch. */
  webhookOf(key: string): string
}

/** Callers of batches and operations, who repeat what nothing is known of with the same key. */
export const makeBulkCallers = (
  { ask, wrong, image }: Pick<Callers, 'ask' | 'wrong' | 'image'>,
  { seed, batches, webhookOf }: BulkOptions,
) => {
  const random = makeRandom(seed + 2)
  const orders = Array.from({ length: batches }, (_, index) => ({
    ...makeBulkOrder({
      key: `batch-${index}`,
      next: FOLLOW_UPS[index % FOLLOW_UPS.length] ?? 'none',
    }),
    owner: pick(random, OWNERS),
    isOfFile: random() < 0.5,
  }))

  const requestOf = (key: string, index: number): object => {
    const prompt = promptOf(key, index)
    if (isBad(index)) return { path: RELIGHT, body: { prompt } }
    return index % VIDEOS === 0
      ? { path: `${VIDEO_API}/text2video`, body: { prompt } }
      : { path: RELIGHT, body: { prompt, image } }
  }

  /** Asks for one of them; true when there was a response that takes it. */
  const create = async (
    { owner }: BulkOrder,
    made: Made,
    { path, key, body }: { path: '/batches' | '/operations'; key: string; body: object },
  ): Promise<boolean> => {
    const response = await ask(owner, 'POST', path, body, { 'idempotency-key': key })
    if (response?.status === 202) {
      made.ids.add(String(response.body['batch_id'] ?? response.body['operation_id']))
      return true
    }
    made.unknown += 1
    // 429: an owner has so many open at most.
    if (response && ![409, 429, 503].includes(response.status))
      wrong.push(`POST ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return false
  }
  /** Undefined where the file is not there yet. */
  const upload = async ({ owner }: BulkOrder, requests: object[]): Promise<string | undefined> => {
    const asked = await ask(owner, 'POST', '/customers/storage', { file_name: 'a.jsonl' })
    if (asked?.status !== 200) return undefined
    const links = asked.body as unknown as Record<'upload_url' | 'download_url', string>
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const lines = requests.map((request) => JSON.stringify(request)).join('\n')
    const isThere = await fetch(links.upload_url, { method: 'PUT', body: lines, signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    return isThere ? links.download_url : undefined
  }
  const createBatch = async (order: BulkOrder): Promise<boolean> => {
    const { key } = order
    const requests = Array.from({ length: REQUESTS }, (_, index) => requestOf(key, index))
    if (order.isOfFile && !(order.file ??= await upload(order, requests))) return false
    const given = order.isOfFile ? { file: order.file } : { requests }
    const body = { ...given, labels: { batch: key }, webhook_url: webhookOf(key) }
    return await create(order, order.batch, { path: '/batches', key, body })
  }
  const hasOperation = ({ next }: BulkOrder): boolean => next !== 'none' && next !== 'stop'
  const createOperation = (order: BulkOrder): Promise<boolean> => {
    const { key, next } = order
    const action = next === 'delete' ? 'delete' : 'cancel'
    const body = { action, filter: { label: [`batch:${key}`] } }
    return create(order, order.operation, { path: '/operations', key: `${key}-operation`, body })
  }
  const stop = async ({ owner }: BulkOrder, path: string) => {
    const response = await ask(owner, 'POST', `${path}/cancel`, {})
    if (response && ![200, 409, 503].includes(response.status))
      wrong.push(`POST ${path}/cancel: ${response.status}`)
    return response?.status === 200 ? response.body : undefined
  }
  /** Waits until the first of its tasks is done; not for long, because a fault or a queue may hold them. */
  const untilDone = async ({ owner, batch: { ids } }: BulkOrder): Promise<void> => {
    const isDone = async () => {
      const read = await ask(owner, 'GET', `/batches/${[...ids].join()}`)
      const counts = read?.body['counts'] as Record<string, number> | undefined
      return (counts?.['done'] ?? 0) > 0
    }
    await waitFor('the first of its tasks is done', isDone, MAX_WAIT_MS).catch(() => {})
  }
  const followUp = async (order: BulkOrder): Promise<void> => {
    const [batch] = order.batch.ids
    if (order.next === 'cancel' || order.next === 'delete') await untilDone(order)
    if (order.next === 'stop') await stop(order, `/batches/${batch}`)
    if (!hasOperation(order) || !(await createOperation(order)) || order.next !== 'abort') return
    const [operation] = order.operation.ids
    const stopped = await stop(order, `/operations/${operation}`)
    order.stoppedAt = stopped?.['counts'] as Record<string, number> | undefined
  }

  const readEnd = async ({ owner }: BulkOrder, path: string): Promise<EndedBulk | undefined> => {
    const [read, lines] = [
      await ask(owner, 'GET', path),
      await ask(owner, 'GET', `${path}/results`),
    ]
    if (read?.status !== 200 || lines?.status !== 200) return undefined
    const ended = read.body as unknown as Omit<EndedBulk, 'lines'>
    return { ...ended, lines: lines.body as unknown as BulkLine[] }
  }
  const until = (order: BulkOrder, path: string): Promise<EndedBulk> =>
    waitFor(`${path} is read`, () => readEnd(order, path))

  return {
    orders,
    /** Asks for all of them, evenly over so many milliseconds, each once or twice. */
    async run(forMs: number): Promise<void> {
      const fulfil = async (order: BulkOrder, index: number): Promise<void> => {
        await sleep((index / orders.length) * forMs)
        if (!(await createBatch(order))) {
          await sleep(100)
          if (!(await createBatch(order))) return
        }
        // Some of its tasks are made then.
        await sleep(500 + 2000 * random())
        await followUp(order)
      }
      await Promise.all(orders.map(fulfil))
    },
    /** Repeats what has an unknown outcome until it has a response, and once more: it is the same one. */
    async reconcile(): Promise<void> {
      for (const order of orders) {
        const { key, batch, operation } = order
        await waitFor(
          `${key} is made`,
          async () => batch.ids.size > 0 || (await createBatch(order)),
        )
        if (batch.unknown > 0) await createBatch(order)
        if (!hasOperation(order)) continue
        if (operation.ids.size === 0) await untilDone(order)
        const isMade = async () => operation.ids.size > 0 || (await createOperation(order))
        await waitFor(`the operation of ${key} is made`, isMade, 2 * PATIENCE_MS)
        if (operation.unknown > 0) await createOperation(order)
      }
    },
    /** Reads them when all have ended. */
    async read(): Promise<BulkResult[]> {
      const results: BulkResult[] = []
      for (const order of orders) {
        const [batch] = order.batch.ids
        const [operation] = order.operation.ids
        results.push({
          order,
          batch: await until(order, `/batches/${batch}`),
          ...(operation !== undefined && {
            operation: await until(order, `/operations/${operation}`),
          }),
        })
      }
      return results
    },
  }
}
