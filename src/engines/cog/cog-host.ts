import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { describeCauses } from '../../platform/domain/causes.ts'
import { readEngineSchema, type EngineSchema } from '../domain/cog/schema.ts'
import type { Host } from '../host.ts'
import { makeOrigin, SilentError, type OriginOptions, type OriginResponse } from '../origin.ts'
import { watchSilence } from '../silence.ts'
import type { StreamedBody } from '../upstream/body.ts'

/** Schema that an instance says of itself, or why it can make nothing. */
export type ReadSchema =
  | { schema: EngineSchema; digest: string; issues: readonly [] }
  | { schema?: never; digest?: never; issues: readonly string[] }

interface Sending {
  /** The response comes at the end of the prediction. */
  isSynchronous: boolean
  totalMs: number
  signal: AbortSignal
}

/** An instance of an engine that speaks the HTTP API of cog. A prediction is the work of a placement, and has its id. */
export interface CogHost extends Host {
  /** Reads its openapi.json, once a minute. Throws a SilentError. */
  readSchema(): Promise<ReadSchema>
  /** Ends a prediction. True: it knows of none, or of none any more. */
  cancel(id: string): Promise<boolean>
  /** Asks for the status of its health-check. Throws a SilentError. */
  readStatus(): Promise<string>
  /** Takes it for full until it is asked again. */
  noteFull(): void
  /** Asks again before the next choice: a prediction has ended. */
  noteEnd(): void
  /** Sends a prediction. Throws a SilentError. */
  send(id: string, body: StreamedBody, options: Sending): Promise<OriginResponse>
  /** Fetches a file of its own address. Throws an OutboundError. */
  fetch(url: string, toFile: string, signal: AbortSignal): Promise<void>
}

export interface CogOptions extends OriginOptions {
  lostMs: number
  depth: number
}

const DOCUMENT_BYTES = 2 ** 20
/** After this time an instance may be another release of its engine. */
const DOCUMENT_MS = 60_000
/** A choice does not wait for an instance that stands still. */
const PROBE_MS = 500
const BUSY = 'BUSY'
/** States in which a prediction is taken, now or when one has ended. */
const WELL = ['READY', BUSY]

export const makeCogHost = (options: CogOptions): CogHost => {
  const { name, url, depth, lostMs } = options
  const client = makeOrigin(options)
  const health = watchHealth(client, lostMs)
  let found: { at: number; read: ReadSchema } | undefined
  let forgotten: string | undefined
  return {
    name,
    url,
    depth,
    ...health,
    async readSchema() {
      if (!found || performance.now() - found.at > DOCUMENT_MS) {
        found = { at: performance.now(), read: await readDocument(client) }
        forgotten = undefined
      }
      const status = health.status()
      const issues = [
        ...found.read.issues,
        ...(status === undefined || WELL.includes(status) ? [] : [`its status is ${status}`]),
        ...(forgotten === undefined ? [] : [forgotten]),
      ]
      return issues.length > 0 ? { issues } : found.read
    },
    forget(_template, issue) {
      forgotten = issue
    },
    facts: () => ({ version: '', vram: 0, maxUpload: Infinity }),
    stalledMs: () => 0,
    freeMemory: () => Promise.resolve(),
    send: (id, body, { isSynchronous, totalMs, signal }) =>
      client.ask(`/predictions/${id}`, {
        method: 'PUT',
        headers: {
          'content-length': String(body.bytes),
          ...(!isSynchronous && { prefer: 'respond-async' }),
        },
        body: body.open(),
        totalMs,
        signal,
      }),
    async cancel(id) {
      const { status } = await client.ask(`/predictions/${id}/cancel`, { body: Buffer.from('{}') })
      return status === 404
    },
    fetch: (address, toFile, signal) =>
      client.download(address.slice(client.origin.length), toFile, signal),
    close: client.close,
  }
}

const readDocument = async (client: ReturnType<typeof makeOrigin>): Promise<ReadSchema> => {
  const { status, body } = await client.ask('/openapi.json', { maxBytes: DOCUMENT_BYTES })
  if (status === 401 || status === 403)
    return { issues: [`responded with status ${status}: correct ENGINES_HTTP_TOKENS`] }
  const { schema, issues } = readEngineSchema(body)
  if (!schema) return { issues }
  const digest = createHash('sha256').update(JSON.stringify(schema)).digest('hex')
  return { schema, digest, issues: [] }
}

const watchHealth = (client: ReturnType<typeof makeOrigin>, lostMs: number) => {
  let asked: { at: number; response: Promise<string> } | undefined
  let last: string | undefined
  const { silence, doubt, end } = watchSilence()
  const ask = async (): Promise<string> => {
    try {
      const { body } = await client.ask('/health-check', { needsBody: true })
      if (typeof body['status'] !== 'string') throw new SilentError('its health cannot be read')
      last = body['status'].slice(0, 40)
      end()
      return last
    } catch (error) {
      doubt(describeCauses(error))
      throw error
    }
  }
  const askSince = (since: number): Promise<string> => {
    if (!asked || asked.at < since) {
      asked = { at: performance.now(), response: ask() }
      asked.response.catch(() => {})
    }
    return asked.response
  }
  return {
    status: () => last,
    readStatus: () => askSince(performance.now()),
    async probe(since: number): Promise<void> {
      await Promise.race([
        askSince(since).catch(() => undefined),
        sleep(PROBE_MS, undefined, { ref: false }),
      ])
    },
    state: (): ReturnType<Host['state']> => {
      const { ms } = silence() ?? {}
      if (ms === undefined) return last === undefined ? 'doubtful' : 'up'
      return ms < lostMs ? 'doubtful' : 'down'
    },
    silence,
    doubt,
    isFull: () => last === BUSY,
    // It does not say how many predictions it has.
    countOthers: (ids: readonly string[]) => Number(last === BUSY && ids.length === 0),
    noteFull: () => void (last = BUSY),
    noteEnd: () => void (asked = undefined),
  }
}
