import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom, pick } from '../faults/random.ts'
import { IMAGE_API, VIDEO_API, makeClient } from '../support/client.ts'
import type { HttpResponse, Client } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import {
  respond,
  dripBody,
  dripHead,
  flood,
  hang,
  hangUp,
  reset,
  resetAfter,
} from '../support/receiver.ts'
import type { Reply, WebhookReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'

/** Request of a caller with what came of it; the ledger of the callers. */
export interface Order {
  key: string
  kind: 'image' | 'video' | 'version'
  /** Intended end, if nobody is killed at the wrong moment. */
  end: 'done' | 'failed' | 'cancelled'
  owner: string
  /** Ids that responses gave it. More than one: it was made twice. */
  ids: Set<string>
  /** Number of unknown outcomes: the connection broke, or 503, or 409 while the first is under way. */
  unknown: number
  /** Path that a version's archive is put to. */
  uploadPath: string | undefined
  isUploaded: boolean
  /** Receiver of its webhooks. */
  receiver: ReceiverKind
}

/** Moody: it fails the first time. Slow: so that it costs time. Gone: it wants nothing. Dead: nobody is there. Named: it is called by a name. None: no URL was given. */
export type ReceiverKind = 'well' | 'moody' | 'slow' | 'gone' | 'dead' | 'named' | 'none'

/** Response to a caller, as it came. */
export interface Asked {
  /** Unix milliseconds of the request, and milliseconds until its response. */
  at: number
  ms: number
  isCreation: boolean
}

/** States of a task in the order in which one caller read them. */
export interface Read {
  id: string
  status: string
}

/** Whom callers call, and where they are called back: a world, or a service and a receiver. */
export interface Called {
  service: Pick<Service, 'token'>
  /** Processes of the apis, by name. */
  members: ReadonlyMap<string, { baseUrl: string }>
  receiver: WebhookReceiver
  links: { receiver: { port: number } }
  /** Other ways to a receiver: by its name, and to the same one by an address of its own. */
  named?: { url(path: string): string }
  slow?: { url(of: string): string }
}

export type Callers = Awaited<ReturnType<typeof makeCallers>>

export interface CallersOptions {
  seed: number
  tasks: number
  versions: number
  /** Number in a hundred tasks; and how many go to receivers that are not well. */
  videos?: number
  receivers?: Partial<typeof RECEIVERS>
}

export const OWNERS = ['alice', 'bob', 'carol', 'dave']
const AT_ONCE = 16
/** Number in a hundred tasks. */
const VIDEOS = 15
const FAILING = 5
const CANCELLED = 5
/** Receivers of each kind, of a hundred tasks; the others are well. */
export const RECEIVERS = { moody: 10, slow: 2, gone: 1, dead: 1, named: 3 }
/** First replies of a receiver that is moody, or slow. */
const MOODS: Record<'moody' | 'slow', readonly Reply[]> = {
  moody: [
    respond(500),
    hangUp,
    reset,
    respond(301, { location: 'http://127.0.0.1:1/' }),
    respond(429, { 'retry-after': '1' }),
    resetAfter('HTTP/1.1 204 No Content\r\n\r\n'),
    // A gigabyte.
    flood(200, 2 ** 30),
  ],
  slow: [hang, dripHead(), dripBody()],
}
/** Payload that callers give their videos, for their webhooks. */
export const PAYLOAD = 'canary-payload'
const PUBLISHER = 'acme'
const PACK = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
`
export const RELIGHT = `${IMAGE_API}/image-relight`

/** Callers of a service of two apis, who repeat what nothing is known of with the same key. Needs a healthy service. */
export const makeCallers = async (world: Called, options: CallersOptions) => {
  const random = makeRandom(options.seed + 1)
  const bases = ['api-1', 'api-2'].map((api) => world.members.get(api)?.baseUrl ?? '')
  const tokens = new Map<string, string>()
  const secrets = new Map<string, string>()
  const anyClient = (owner: string): Client => makeClient(pick(random, bases), tokens.get(owner))
  for (const owner of OWNERS) {
    tokens.set(owner, await world.service.token(owner))
    const { body } = await anyClient(owner).get('/webhook-secret')
    const [made] = body['secrets'] as unknown as { secret: string }[]
    secrets.set(owner, made?.secret ?? '')
  }
  await anyClient('alice').post('/publishers', { id: PUBLISHER })
  const pat = await anyClient('alice').post(`/publishers/${PUBLISHER}/tokens`, { name: 'nemesis' })
  const token = String(pat.body['token'])
  const image = await base64()
  const archive = makeZip(PACK)

  const orders = planOrders(options, random)
  const reads: Read[] = []
  const wrong: string[] = []
  const asked: Asked[] = []
  const waiting = [...orders]
  const receiverUrl = (path: string) => `http://127.0.0.1:${world.links.receiver.port}${path}`
  const webhookOf = ({ key, receiver }: Order): string | undefined => {
    if (receiver === 'named') return world.named?.url(`/t/${key}`)
    // The slow ones are another host, because each host has a share of the slots.
    if (receiver === 'slow') return world.slow?.url(receiverUrl(`/t/${key}`))
    return receiver === 'dead' ? `http://127.0.0.4:1/${key}` : receiverUrl(`/t/${key}`)
  }

  /** Undefined without a response. One that is undocumented, no JSON, or a 5xx other than 503 is recorded as wrong. */
  const ask = async (
    owner: string,
    ...[method, path, ...rest]: Parameters<Client['call']>
  ): Promise<HttpResponse | undefined> => {
    const what = `${method} ${path}`
    const [at, start] = [Date.now(), performance.now()]
    try {
      const respond = await anyClient(owner).call(method, path, ...rest)
      const { status, headers } = respond
      // One that was taken, not one that was rejected for now.
      const isCreation = status === 200 && method === 'POST' && !path.endsWith('/cancel')
      asked.push({ at, ms: performance.now() - start, isCreation })
      if (status >= 500 && status !== 503) wrong.push(`${what}: ${status}`)
      if (status === 503 && !headers.has('retry-after')) wrong.push(`${what}: no Retry-After`)
      return respond
    } catch (error) {
      if (isUndocumented(error)) wrong.push(`${what}: ${String(error).slice(0, 300)}`)
      return undefined
    }
  }

  const bodyOf = (order: Order): [string, object] => {
    const { key, kind, end } = order
    const webhook = webhookOf(order)
    const missing = receiverUrl('/missing.png')
    if (kind === 'version')
      return [
        `/publishers/${PUBLISHER}/nodes/${key}/versions`,
        { node: {}, node_version: { version: '1.0.0' }, personal_access_token: token },
      ]
    if (kind === 'image')
      return [RELIGHT, { image: end === 'failed' ? missing : image, webhook_url: webhook }]
    const more = end === 'failed' ? { images: [missing] } : {}
    const webhookMembers = { callback_url: webhook, payload: PAYLOAD }
    return [`${VIDEO_API}/text2video`, { prompt: 'ocean', ...webhookMembers, ...more }]
  }

  /** Asks for one of them; true when there was a response. */
  const create = async (order: Order): Promise<boolean> => {
    const [path, body] = bodyOf(order)
    const respond = await ask(order.owner, 'POST', path, body, { 'idempotency-key': order.key })
    if (respond === undefined || respond.status >= 300) {
      order.unknown += 1
      if (respond && ![409, 503].includes(respond.status))
        wrong.push(`POST ${path}: ${respond.status} ${JSON.stringify(respond.body)}`)
      return false
    }
    order.ids.add(idOf(order, respond))
    if (order.kind === 'version') {
      const { pathname, search } = new URL(String(respond.body['signedUrl']))
      order.uploadPath = pathname + search
    }
    return true
  }

  const upload = async (order: Order): Promise<boolean> => {
    if (order.isUploaded || order.uploadPath === undefined) return true
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const sent = { method: 'PUT', body: Uint8Array.from(archive), signal }
    const url = pick(random, bases) + order.uploadPath
    const status = await fetch(url, sent).then(
      (response) => response.status,
      () => undefined,
    )
    if (status !== undefined && ![200, 503].includes(status)) wrong.push(`PUT archive: ${status}`)
    order.isUploaded = status === 200
    return order.isUploaded
  }

  /** The same with its upload or cancel; twice, when nothing is known of the first time. */
  const fulfil = async (order: Order): Promise<void> => {
    if (!(await create(order))) {
      await sleep(100)
      if (!(await create(order))) return
    }
    if (order.end === 'cancelled') await ask(order.owner, 'POST', `${pathOf(order)}/cancel`, {})
    await upload(order)
  }

  /** Reads tasks that were acknowledged, one after another, for as long as there are creations. */
  const watch = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const order = pick(random, orders)
      const [id] = order.ids
      if (id !== undefined && order.kind !== 'version') {
        const path = `${pathOf(order)}${order.kind === 'video' ? '/creations' : ''}`
        const respond = await ask(order.owner, 'GET', path)
        if (respond?.status === 200)
          reads.push({ id, status: respond.body.data?.status ?? String(respond.body['state']) })
        else if (respond && respond.status !== 503) wrong.push(`GET ${path}: ${respond.status}`)
      }
      await sleep(20)
    }
  }

  for (const [index, { key, receiver }] of orders.entries()) {
    const path = `/t/${key}`
    if (receiver === 'gone') world.receiver.script(path, respond(410))
    if (receiver !== 'moody' && receiver !== 'slow') continue
    const mood = MOODS[receiver][index % MOODS[receiver].length] ?? hangUp
    world.receiver.script(path, (turn) => (turn.earlier > 0 ? respond(204) : mood)(turn))
  }
  world.receiver.script('/missing.png', respond(404))

  return {
    orders,
    reads,
    /** Responses that nobody may be given. */
    wrong,
    asked,
    ask,
    /** Picture of a request, as Base64. */
    image,
    receiverUrl,
    /** Secrets that sign the webhooks of an owner. */
    secrets: secrets as ReadonlyMap<string, string>,
    /** Texts that nobody may find in logs, histories or metrics. */
    canaries: [PAYLOAD, token, ...tokens.values(), ...secrets.values()],
    create,
    fulfil,
    /** Asks for what was not asked for yet, or so much of it, once or twice, many at a time, evenly over so many milliseconds. */
    async run(forMs: number, max = Infinity): Promise<void> {
      const start = performance.now()
      const over = new AbortController()
      const watching = watch(over.signal)
      const due = waiting.splice(0, max)
      const { length } = due
      const lane = async (): Promise<void> => {
        for (let order = due.shift(); order !== undefined; order = due.shift()) {
          const dueMs = (1 - (due.length + 1) / length) * forMs - (performance.now() - start)
          await sleep(Math.max(0, dueMs))
          await fulfil(order)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
      over.abort()
      await watching
    },
    /** Repeats orders with an unknown outcome until each has a response. */
    async reconcile(): Promise<void> {
      for (const order of orders) {
        const isDone = async () =>
          (order.ids.size > 0 || (await create(order))) && (await upload(order))
        await waitFor(`${order.key} has a response`, isDone, 2 * PATIENCE_MS)
      }
      // Each that was unknown is repeated once more: it is the same one.
      for (const order of orders.filter(({ unknown }) => unknown > 0)) await create(order)
    },
  }
}

/** Makes an order that has no response yet. */
export const makeOrder = (order: Pick<Order, 'key' | 'kind' | 'end'> & Partial<Order>): Order => ({
  owner: 'alice',
  ids: new Set(),
  unknown: 0,
  uploadPath: undefined,
  isUploaded: false,
  receiver: 'well',
  ...order,
})

const planOrders = (
  { tasks, versions, videos = VIDEOS, receivers = { moody: 10 } }: CallersOptions,
  random: () => number,
): Order[] => {
  const made = Array.from({ length: tasks }, (_, index) => {
    const drawn = random() * 100
    return makeOrder({
      key: `task-${index}`,
      kind: random() * 100 < videos ? 'video' : 'image',
      end: drawn < FAILING ? 'failed' : drawn < FAILING + CANCELLED ? 'cancelled' : 'done',
      owner: pick(random, OWNERS),
      receiver: drawReceiver(receivers, random() * 100),
    })
  })
  const each = Math.max(1, Math.floor(tasks / versions))
  for (let index = 0; index < versions; index += 1) {
    const version = makeOrder({ key: `pack-${index}`, kind: 'version', end: 'done' })
    made.splice(index * (each + 1), 0, version)
  }
  return made
}

const drawReceiver = (shares: Partial<typeof RECEIVERS>, drawn: number): ReceiverKind => {
  const kinds = Object.entries(shares).flatMap(([kind, share]) => Array<string>(share).fill(kind))
  return (kinds[Math.floor(drawn)] ?? 'well') as ReceiverKind
}

/** Returns the path of a task. */
const pathOf = ({ kind, ids }: Order): string =>
  `${kind === 'image' ? RELIGHT : `${VIDEO_API}/tasks`}/${[...ids][0]}`

const idOf = ({ kind }: Order, { body }: HttpResponse): string => {
  if (kind === 'image') return body.data.task_id
  if (kind === 'video') return body['task_id'] ?? ''
  return (body['node_version'] as unknown as { id: string }).id
}

/** True for what the client throws at a response that the OpenAPI document does not have, or that is no JSON. */
const isUndocumented = (error: unknown): boolean =>
  error instanceof SyntaxError || (error as { code?: string }).code === 'ERR_ASSERTION'
