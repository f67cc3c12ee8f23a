import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom } from '../faults/random.ts'
import { IMAGE_API, VIDEO_API, makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { answer, hangUp } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import type { WebhookReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'

/** Something a caller asks for, and what was answered: the ledger of the callers. */
export interface Order {
  key: string
  kind: 'image' | 'video' | 'version'
  /** What it is to come to, if nobody is killed at the wrong moment. */
  end: 'done' | 'failed' | 'cancelled'
  owner: string
  /** Ids that answers gave it. More than one: it was made twice. */
  ids: Set<string>
  /** How often nothing was known: the connection broke, or 503, or 409 while the first is under way. */
  unknown: number
  /** What a version's archive is put to. */
  uploadPath: string | undefined
  isUploaded: boolean
}

/** What one caller read of a task, in the order of its reads. */
export interface Read {
  id: string
  status: string
}

/** Whom callers call, and where they are called back: a world, or a service and a receiver. */
export interface Called {
  service: Pick<Service, 'token'>
  /** Of the apis. */
  members: ReadonlyMap<string, { baseUrl: string }>
  receiver: WebhookReceiver
  links: { receiver: { port: number } }
}

export interface Callers {
  orders: Order[]
  reads: Read[]
  /** Answers that nobody may be given. */
  wrong: string[]
  /** What nobody may find in a log: tokens, secrets, payloads. */
  canaries: string[]
  /** Secrets that sign what an owner is told. */
  secrets: ReadonlyMap<string, string>
  /** Asks for one of them; whether it was answered. */
  create(order: Order): Promise<boolean>
  /** The same with its upload or cancel; twice, when nothing is known of the first time. */
  fulfil(order: Order): Promise<void>
  /** Asks for everything once or twice, many at a time, evenly over so many milliseconds. */
  run(forMs: number): Promise<void>
  /** Repeats what nothing is known of, until all is answered. */
  reconcile(): Promise<void>
}

export interface CallersOptions {
  seed: number
  tasks: number
  versions: number
}

const OWNERS = ['alice', 'bob', 'carol', 'dave']
const AT_ONCE = 16
/** Of a hundred tasks. */
const VIDEOS = 15
const FAILING = 5
const CANCELLED = 5
/** One of so many receivers refuses, or hangs up, the first time. */
const MOODY = 10
const PUBLISHER = 'acme'
const PACK = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
`
const PATIENCE_MS = 120_000
const RELIGHT = `${IMAGE_API}/image-relight`

/** Callers of a service of two apis, who repeat what nothing is known of with the same key. Needs a healthy service. */
export const makeCallers = async (world: Called, options: CallersOptions): Promise<Callers> => {
  const random = makeRandom(options.seed + 1)
  const apis = ['api-1', 'api-2'] as const
  const clients = new Map<string, Client[]>()
  const secrets = new Map<string, string>()
  for (const owner of OWNERS) {
    const token = await world.service.token(owner)
    const own = apis.map((api) => makeClient(world.members.get(api)?.baseUrl ?? '', token))
    clients.set(owner, own)
    const made = (await own[0]?.get('/webhook-secret'))?.body['secrets'] as
      | { secret: string }[]
      | undefined
    secrets.set(owner, made?.[0]?.secret ?? '')
  }
  const [publisher] = clients.get('alice') ?? []
  await publisher?.post('/publishers', { id: PUBLISHER })
  const pat = await publisher?.post(`/publishers/${PUBLISHER}/tokens`, { name: 'nemesis' })
  const token = String(pat?.body['token'])
  const image = await base64()
  const archive = makeZip(PACK)
  const payload = 'canary-payload'

  const orders = planOrders(options, random)
  const reads: Read[] = []
  const wrong: string[] = []
  const receiverUrl = (path: string) => `http://127.0.0.1:${world.links.receiver.port}${path}`

  const anyClient = (owner: string): Client => {
    const own = clients.get(owner) ?? []
    return own[Math.floor(random() * own.length)] as Client
  }
  /** Undefined when nobody answered. An answer that is not documented, no JSON, or another than 503 of a fault is noted. */
  const ask = async (what: string, work: () => Promise<Answer>): Promise<Answer | undefined> => {
    try {
      const answer = await work()
      if (answer.status >= 500 && answer.status !== 503) wrong.push(`${what}: ${answer.status}`)
      return answer
    } catch (error) {
      if (isUndocumented(error)) wrong.push(`${what}: ${String(error).slice(0, 300)}`)
      return undefined
    }
  }

  const bodyOf = ({ key, kind, end }: Order): [string, object] => {
    const webhook = receiverUrl(`/t/${key}`)
    const missing = receiverUrl('/missing.png')
    if (kind === 'version')
      return [
        `/publishers/${PUBLISHER}/nodes/${key}/versions`,
        { node: {}, node_version: { version: '1.0.0' }, personal_access_token: token },
      ]
    if (kind === 'image')
      return [RELIGHT, { image: end === 'failed' ? missing : image, webhook_url: webhook }]
    const more = end === 'failed' ? { images: [missing] } : {}
    return [`${VIDEO_API}/text2video`, { prompt: 'ocean', callback_url: webhook, payload, ...more }]
  }

  const create = async (order: Order): Promise<boolean> => {
    const [path, body] = bodyOf(order)
    const answer = await ask(`POST ${path}`, () =>
      anyClient(order.owner).post(path, body, { 'idempotency-key': order.key }),
    )
    const isMade = answer !== undefined && answer.status < 300
    if (!isMade) {
      order.unknown += 1
      if (answer && ![409, 503].includes(answer.status))
        wrong.push(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return false
    }
    order.ids.add(idOf(order, answer))
    if (order.kind === 'version') {
      const { pathname, search } = new URL(String(answer.body['signedUrl']))
      order.uploadPath = pathname + search
    }
    return true
  }

  const upload = async (order: Order): Promise<boolean> => {
    if (order.isUploaded || order.uploadPath === undefined) return true
    const base = world.members.get(random() < 0.5 ? 'api-1' : 'api-2')?.baseUrl ?? ''
    const answer = await fetch(base + order.uploadPath, {
      method: 'PUT',
      body: Uint8Array.from(archive),
      signal: AbortSignal.timeout(30_000),
    }).catch(() => undefined)
    if (answer && ![200, 503].includes(answer.status)) wrong.push(`PUT archive: ${answer.status}`)
    order.isUploaded = answer?.status === 200
    return order.isUploaded
  }

  const cancel = async ({ kind, ids, owner }: Order): Promise<void> => {
    const [id] = ids
    const path = kind === 'image' ? `${RELIGHT}/${id}/cancel` : `${VIDEO_API}/tasks/${id}/cancel`
    await ask(`POST ${path}`, () => anyClient(owner).post(path, {}))
  }

  const fulfil = async (order: Order): Promise<void> => {
    if (!(await create(order))) {
      await sleep(100)
      if (!(await create(order))) return
    }
    if (order.end === 'cancelled') await cancel(order)
    await upload(order)
  }

  /** Reads tasks that were acknowledged, one after another, for as long as there are creations. */
  const watch = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const order = orders[Math.floor(random() * orders.length)] as Order
      const [id] = order.ids
      if (id !== undefined && order.kind !== 'version') {
        const path =
          order.kind === 'image' ? `${RELIGHT}/${id}` : `${VIDEO_API}/tasks/${id}/creations`
        const answer = await ask(`GET ${path}`, () => anyClient(order.owner).get(path))
        if (answer?.status === 200)
          reads.push({ id, status: answer.body.data?.status ?? String(answer.body['state']) })
        else if (answer && answer.status !== 503) wrong.push(`GET ${path}: ${answer.status}`)
      }
      await sleep(20)
    }
  }

  for (const { key } of orders.filter((_, index) => index % MOODY === 0))
    world.receiver.script(`/t/${key}`, (turn) =>
      (turn.earlier > 0 ? answer(204) : turn.request.body.length % 2 ? answer(500) : hangUp)(turn),
    )
  world.receiver.script('/missing.png', answer(404))

  return {
    orders,
    reads,
    wrong,
    secrets,
    canaries: [token, payload, ...secrets.values()],
    create,
    fulfil,
    async run(forMs) {
      const start = performance.now()
      const over = new AbortController()
      const watching = watch(over.signal)
      let next = 0
      const lane = async (): Promise<void> => {
        for (let index = next++; index < orders.length; index = next++) {
          const dueMs = (index / orders.length) * forMs - (performance.now() - start)
          await sleep(Math.max(0, dueMs))
          await fulfil(orders[index] as Order)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
      over.abort()
      await watching
    },
    async reconcile() {
      for (const order of orders)
        await waitFor(
          `${order.key} is answered`,
          async () => (order.ids.size > 0 || (await create(order))) && (await upload(order)),
          PATIENCE_MS,
        )
      // Each that was unknown is repeated once more: it is the same one.
      for (const order of orders.filter(({ unknown }) => unknown > 0)) await create(order)
    },
  }
}

const planOrders = ({ tasks, versions }: CallersOptions, random: () => number): Order[] => {
  const order = (key: string, kind: Order['kind'], end: Order['end']): Order => ({
    key,
    kind,
    end,
    owner: OWNERS[Math.floor(random() * OWNERS.length)] ?? '',
    ids: new Set(),
    unknown: 0,
    uploadPath: undefined,
    isUploaded: false,
  })
  const made = Array.from({ length: tasks }, (_, index) => {
    const drawn = random() * 100
    const end = drawn < FAILING ? 'failed' : drawn < FAILING + CANCELLED ? 'cancelled' : 'done'
    return order(`task-${index}`, random() * 100 < VIDEOS ? 'video' : 'image', end)
  })
  const each = versions > 0 ? Math.max(1, Math.floor(tasks / versions)) : 0
  for (let index = 0; index < versions; index += 1)
    made.splice(index * (each + 1), 0, {
      ...order(`pack-${index}`, 'version', 'done'),
      owner: 'alice',
    })
  return made
}

const idOf = ({ kind }: Order, { body }: Answer): string => {
  if (kind === 'image') return body.data.task_id
  if (kind === 'video') return body['task_id'] ?? ''
  return (body['node_version'] as unknown as { id: string }).id
}

/** The client throws so at an answer that the OpenAPI document does not have, and at one that is no JSON. */
const isUndocumented = (error: unknown): boolean =>
  error instanceof SyntaxError || (error as { code?: string }).code === 'ERR_ASSERTION'
