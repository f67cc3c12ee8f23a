import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'

import fc from 'fast-check'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import { ROOT } from '../../src/local/root.ts'
import { USER, seed as seedThings } from '../contract/seed.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { ageScratch, untilSwept } from '../faults/scratch.ts'
import { makeClient } from '../support/client.ts'
import { readContract, readDocument } from '../support/contract.ts'
import { makePicture } from '../support/pictures.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import { startTestServers } from '../support/servers.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { makeFiles, sendFile } from './fuzz-files.ts'
import { learn, makeRequests } from './fuzz-requests.ts'
import type { Things, Wire } from './fuzz-requests.ts'

export interface FuzzOptions {
  seed: number
  seconds: number
  /** The only request to send. */
  only: number | undefined
}

interface WireAnswer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
  /** Milliseconds since the last byte of the request was sent. */
  ms: number
}

/** What a run has seen. */
interface Seen {
  statuses: Map<string, number>
  files: Map<string, number>
  slowest: { ms: number; what: string }
  /** Bytes of memory that a child of the media worker has had. */
  peak: number
  faults: string[]
}

/** Longest that an answer may take. One that takes longer on a busy machine is asked for again, alone. */
const LONGEST_MS = 2000
const GIVE_UP_MS = 20_000
const SETTLE_MS = 180_000
const LANES = 8
const FILE_LANES = 2
/** Of a body that is refused so much is still read; the connection of who sends more at once may break before the answer. */
const DRAINED = 2 ** 20
/** A child's own limit, and what it may grow by between two looks of its parent. */
const MOST_MEMORY = 2 ** 20 * (512 + 256)

export const SETTINGS = {
  ADMIN_SUBJECTS: USER,
  VIDEO_TINY: 'true',
  OWNER_TASK_LIMIT: '30',
  STREAMS_MAX: '10000',
  IMAGE_MAX_BYTES: '300000',
  ARCHIVE_MAX_BYTES: '5000000',
  WEBHOOK_TIME_FACTOR: '0.00001',
  DATABASE_TIMEOUT_MS: '30000',
  // Whatever becomes of an address, nothing outside of this machine is called.
  OUTBOUND_DENY:
    '0.0.0.0/2,64.0.0.0/3,96.0.0.0/4,112.0.0.0/5,120.0.0.0/6,124.0.0.0/7,126.0.0.0/8,128.0.0.0/1,::/0',
}

/** Sends bad input of every kind for some time, and answers whether only what is documented came of it. */
export const fuzz = async (options: FuzzOptions, say: (line: string) => void): Promise<boolean> => {
  const servers = await startTestServers(() => {})
  Object.assign(process.env, servers.env)
  try {
    const service = await startService({ env: SETTINGS })
    const receiver = await startWebhookReceiver()
    try {
      const seen = await attack(service, `http://localhost:${receiver.port}/`, options)
      report(seen, say)
      const left = await findLeft(service)
      for (const what of left.slice(0, 50)) say(`  ${what}`)
      say(`  ${left.length === 0 ? 'nothing' : left.length} left behind`)
      return seen.faults.length + left.length === 0
    } finally {
      await service.stop()
      await receiver.stop()
    }
  } finally {
    await servers.stop()
  }
}

const attack = async (service: Service, hook: string, { seed, seconds, only }: FuzzOptions) => {
  const things = await makeThings(service, hook)
  const requests = makeRequests(await readDocument(), things)
  const client = makeClient(service.baseUrl, await service.token('files'))
  const files = await makeFiles(await renderVideo(service))
  await client.post('/publishers', { id: 'fuzz' })
  const { body: made } = await client.post('/publishers/fuzz/tokens', { name: 'fuzz' })
  const slowest = { ms: 0, what: '' }
  const seen: Seen = { statuses: new Map(), files: new Map(), slowest, peak: 0, faults: [] }
  const judge = await makeJudge(seen)
  const folder = join(ROOT, '.built/faults', `fuzz-${seed}-${Date.now()}`)
  const keep = async (name: string, what: string, bytes: Buffer): Promise<void> => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, name), bytes)
    seen.faults.push(`${what}, kept as ${join(folder, name)}`)
  }
  const overAt = Date.now() + seconds * 1000
  const draw = <T>(from: fc.Arbitrary<T>, number: number): T =>
    fc.sample(from, { seed: seed * 10_000_000 + number, numRuns: 1 })[0] as T
  let alone: Promise<unknown> = Promise.resolve()

  /** Sends every so many'th request, one after another. */
  const sendRequests = async (number: number): Promise<void> => {
    const send = openLane(Number(new URL(service.baseUrl).port))
    for (; Date.now() < overAt; number += LANES) {
      await alone
      const wire = draw(requests, number)
      let answer = await send(wire)
      for (let tries = 0; tries < 2 && isSlow(answer); tries += 1)
        answer = (await (alone = alone.then(() => send(wire)))) as WireAnswer | undefined
      const fault = judge(wire, answer)
      const [head] = wire.bytes.toString('latin1', 0, 300).split('\r\n')
      if (fault !== undefined)
        await keep(`${number}.http`, `case ${number}: ${fault}: ${head}`, wire.bytes)
      if (answer && answer.status < 300) learn(things, wire.template, readJson(answer))
      if (only !== undefined) return
    }
  }
  const sendFiles = async (number: number): Promise<void> => {
    for (; Date.now() < overAt; number += FILE_LANES) {
      const file = draw(files, number)
      await sendFile(client, file, `fuzz-${number}`, String(made['token'])).then(
        (end) => count(seen.files, `${file.kind}: ${end}`),
        (error: unknown) =>
          keep(`${number}.${file.kind}`, `file ${number}: ${String(error)}`, file.bytes),
      )
      seen.peak = Math.max(seen.peak, await measureChildren(service))
    }
  }
  const first = only ?? 1
  const lanes = only === undefined ? LANES : 1
  await Promise.all([
    ...Array.from({ length: lanes }, (_, lane) => sendRequests(first + lane)),
    ...Array.from({ length: only === undefined ? FILE_LANES : 0 }, (_, lane) =>
      sendFiles(1 + lane),
    ),
  ])
  if (seen.peak > MOST_MEMORY) seen.faults.push(`a child had ${seen.peak} bytes of memory`)
  return seen
}

const count = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

const isSlow = (answer: WireAnswer | undefined): boolean =>
  answer !== undefined && answer.ms > LONGEST_MS

export const makeThings = async (service: Service, hook: string): Promise<Things> => {
  const told = await seedThings(service)
  const image = told['KILN_IMAGE'] ?? ''
  const url = told['KILN_IMAGE_URL'] ?? ''
  return {
    host: new URL(service.baseUrl).host,
    tokens: [told['KILN_TOKEN'] ?? '', told['KILN_KEY'] ?? '', await service.token('alice')],
    images: [image, url, `data:image/png;base64,${image}`],
    urls: [hook, `${hook}x?y=1`, url, 'http://localhost:1/'],
    files: [await makePicture(), makeZip('x = 1\n'), Buffer.alloc(0), Buffer.alloc(900_000)],
    personalAccessToken: told['KILN_PERSONAL_ACCESS_TOKEN'] ?? '',
    known: new Map([
      ['publishers id', ['acme']],
      ['nodes id', ['image-tools']],
      ['versions version', ['1.2.0']],
    ]),
    links: [],
  }
}

/** A right video, of the service itself. */
const renderVideo = async ({ baseUrl, token }: Service): Promise<Buffer> => {
  const client = makeClient(baseUrl, await token('files'))
  const { body } = await client.create('/proxy/vidvendor/text2video', { prompt: 'ocean' })
  const { creations } = await client.untilVideoEnded(String(body['task_id']))
  return Buffer.from(await (await fetch(String(creations[0]?.url))).arrayBuffer())
}

export const readJson = ({ headers, body }: WireAnswer): unknown =>
  headers['content-type']?.startsWith('application/json') && body.length > 0
    ? JSON.parse(body.toString())
    : undefined

/** Statuses of what is refused before it has a route. */
const BEFORE_ROUTES = new Set([400, 404, 405, 408, 413])

/** Makes the judge of answers, who tells what is wrong with one, if anything. */
export const makeJudge = async (seen: Seen) => {
  const check = await readContract()
  return (wire: Wire, answer: WireAnswer | undefined): string | undefined => {
    const { id, method, template, target, isOdd, bytes } = wire
    if (!answer) return isOdd || bytes.length > DRAINED ? undefined : 'no answer'
    const { status, ms, headers } = answer
    count(seen.statuses, `${template} ${status}`)
    if (ms > seen.slowest.ms) seen.slowest = { ms, what: `${method} ${template}` }
    if (ms > LONGEST_MS) return `${status} after ${ms} ms`
    try {
      const body = readJson(answer) as { error?: string; request_id?: string } | undefined
      const isTold = (body?.error ?? '') in ERROR_CODES && body?.request_id !== undefined
      if (status > 399 && method !== 'HEAD' && template !== '/ready' && !isTold)
        return `${status} without a code`
      if (status > 499 && body?.error !== 'busy' && template !== '/ready')
        return `${status} ${body?.error}`
      if (status === 431 || (isOdd && BEFORE_ROUTES.has(status))) return undefined
      if (id !== undefined && headers['x-request-id'] !== id) return 'the answer to another request'
      if (method !== 'OPTIONS' || status !== 204) check({ method, path: target, status, body })
      return undefined
    } catch (error) {
      return String(error).slice(0, 400)
    }
  }
}

/** A connection that sends bytes as they are, one request after another; a new one where the last has ended. */
export const openLane = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = async (wire: Wire): Promise<WireAnswer | undefined> => {
    let sentAt = performance.now()
    const method = wire.method === 'HEAD' ? 'HEAD' : 'GET'
    const asked = request({ agent, host: '127.0.0.1', port, method, timeout: GIVE_UP_MS })
    asked.once('socket', (socket) => {
      // Node reads the answer; the request that it would send is left out.
      Reflect.deleteProperty(socket, 'write')
      const write = socket.write.bind(socket)
      socket.write = (...given: unknown[]) => {
        const last = given.at(-1)
        if (typeof last === 'function') process.nextTick(last)
        return true
      }
      write(wire.bytes, () => (sentAt = performance.now()))
      if (wire.isOdd) socket.end()
    })
    // What comes behind an answer that ends its connection is nobody's; so are bodies that the parser sends to a HEAD.
    asked.on('error', () => {})
    asked.on('timeout', () => asked.destroy()).end()
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      const { statusCode: status = 0, headers } = response
      const isStream = headers['content-type']?.startsWith('text/event-stream')
      const body = isStream ? [] : ((await response.toArray()) as Buffer[])
      if (isStream || wire.isOdd) asked.destroy()
      return {
        status,
        headers,
        body: Buffer.concat(body),
        ms: Math.round(performance.now() - sentAt),
      }
    } catch {
      return asked.reusedSocket ? await send(wire) : undefined
    }
  }
  return send
}

/** The most memory that a child of the media worker has had, in bytes. */
const measureChildren = async ({ storagePath }: Service): Promise<number> => {
  const of = async (pid: number): Promise<number> => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) * 1024
  }
  return Math.max(0, ...(await Promise.all((await listEngineProcesses(storagePath)).map(of))))
}

/** What has not ended when it should have, files that nobody removes, processes that have ended, and errors in logs. */
const findLeft = async (service: Service): Promise<string[]> => {
  const { sql } = service.database
  const readOpen = async () =>
    await sql<{ what: string }[]>`
    select 'task ' || id || ' is ' || status as what from task where ended_at is null
    union all
    select 'version ' || id || ' is undecided' from version
    where status = 'NodeVersionStatusPending' and archive_state <> 'awaiting'
    union all
    select 'event ' || id || ' is to be told' from event where state = 'pending'
    union all
    select kind || ' ' || workflow_id || ' is to be dispatched' from outbox where dispatched_at is null
    union all
    select 'the key ' || key || ' of ' || path || ' is held' from idempotency where status is null
  `
  const left: string[] = []
  const isDone = async (): Promise<boolean> => (await readOpen()).length === 0
  await waitFor('all has ended', isDone, SETTLE_MS).catch(async () =>
    left.push(...(await readOpen()).map(({ what }) => what)),
  )
  await ageScratch(service)
  await untilSwept(service).catch((error: unknown) => left.push(String(error)))
  for (const role of ['api', 'core', 'media'] as const) {
    const { log, ended } = service.entry(role)
    const end = await Promise.race([ended, Promise.resolve(undefined)])
    if (end !== undefined) left.push(`${role} has ended: ${end}`)
    const errors = log.filter((line) => /"level":[56]0|^\(node:/.test(line))
    left.push(...errors.map((line) => `${role} says ${line}`))
  }
  return left
}

const report = ({ statuses, files, slowest, peak, faults }: Seen, say: (line: string) => void) => {
  for (const counts of [statuses, files])
    for (const [what, times] of [...counts].toSorted(([one], [other]) => one.localeCompare(other)))
      say(`  ${String(times).padStart(7)} ${what}`)
  const all = [...statuses.values()].reduce((sum, times) => sum + times, 0)
  for (const fault of faults.slice(0, 50)) say(`  ${fault}`)
  const end = faults.length === 0 ? 'nothing but what is documented' : `${faults.length} FAULTS`
  const memory = `a child had up to ${Math.round(peak / 2 ** 20)} MiB`
  say(`  ${all} answers, the slowest after ${slowest.ms} ms (${slowest.what}), ${memory}: ${end}`)
}
