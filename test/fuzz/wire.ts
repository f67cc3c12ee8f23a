import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { ERROR_CODES } from '../../src/platform/domain/errors.ts'
import { USER, seed } from '../contract/seed.ts'
import { readContract } from '../support/contract.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { makePicture } from '../support/pictures.ts'
import type { Service } from '../support/service.ts'
import { makeZip } from '../support/zip.ts'
import type { Things, Wire } from './requests.ts'

interface WireResponse {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
  /** Milliseconds since the last byte of the request was sent. */
  ms: number
}

/** Bytes of a rejected body that are still read; a client that sends more at once may miss the response. */
const DRAINED = 2 ** 20
export const SETTINGS = {
  ADMIN_SUBJECTS: USER,
  OVERRIDE_VIDEO_TINY: 'true',
  OWNER_TASK_LIMIT: '30',
  OVERRIDE_STREAMS_MAX: '10000',
  OVERRIDE_IMAGE_MAX_BYTES: '300000',
  OVERRIDE_ARCHIVE_MAX_BYTES: '5000000',
  OVERRIDE_WEBHOOK_TIME_FACTOR: '0.00001',
  // Whatever becomes of an address, nothing outside of this machine is called.
  OUTBOUND_DENY:
    '0.0.0.0/2,64.0.0.0/3,96.0.0.0/4,112.0.0.0/5,120.0.0.0/6,124.0.0.0/7,126.0.0.0/8,128.0.0.0/1,::/0',
}

export const makeThings = async (service: Service, hook: string): Promise<Things> => {
  const seeded = await seed(service)
  const image = seeded['KILN_IMAGE'] ?? ''
  const url = seeded['KILN_IMAGE_URL'] ?? ''
  return {
    host: new URL(service.baseUrl).host,
    tokens: [seeded['KILN_TOKEN'] ?? '', seeded['KILN_KEY'] ?? '', await service.token('alice')],
    images: [image, url, `data:image/png;base64,${image}`],
    urls: [hook, `${hook}x?y=1`, url, 'http://localhost:1/'],
    files: [await makePicture(), makeZip('x = 1\n'), Buffer.alloc(0), Buffer.alloc(900_000)],
    personalAccessToken: seeded['KILN_PERSONAL_ACCESS_TOKEN'] ?? '',
    known: new Map([
      ['publishers id', ['acme']],
      ['nodes id', ['image-tools']],
      ['versions version', ['1.2.0']],
    ]),
    links: [],
  }
}

/** Returns the first line of a request, for messages. */
export const firstLine = ({ bytes }: Wire): string =>
  bytes.toString('latin1', 0, 300).split('\r\n')[0] ?? ''

export const readJson = ({ headers, body }: WireResponse): unknown =>
  headers['content-type']?.startsWith('application/json') && body.length > 0
    ? JSON.parse(body.toString())
    : undefined

/** Statuses of what is rejected before it has a route. */
const BEFORE_ROUTES = new Set([400, 404, 405, 408, 413])

/** Times that something has been seen. */
type Counts = Map<string, number>
export const count = (counts: Counts, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

/** Makes the validator of responses, which counts them and returns what is wrong with one, if anything. */
export const makeValidate = async (counts: Counts) => {
  const check = await readContract()
  return (wire: Wire, response: WireResponse | undefined): string | undefined => {
    const { id, method, template, target, isOdd, bytes } = wire
    if (!response) return isOdd || bytes.length > DRAINED ? undefined : 'no response'
    const { status, headers } = response
    count(counts, `${template} ${status}`)
    try {
      const body = readJson(response) as { error?: string; request_id?: string } | undefined
      const hasCode = (body?.error ?? '') in ERROR_CODES && body?.request_id !== undefined
      if (status > 399 && method !== 'HEAD' && template !== '/ready' && !hasCode)
        return `${status} without a code`
      if (status > 499 && body?.error !== 'busy' && template !== '/ready')
        return `${status} ${body?.error}`
      if (status === 431 || (isOdd && BEFORE_ROUTES.has(status))) return undefined
      if (id !== undefined && headers['x-request-id'] !== id)
        return 'the response to another request'
      if (method !== 'OPTIONS' || status !== 204) check({ method, path: target, status, body })
      return undefined
    } catch (error) {
      return String(error).slice(0, 400)
    }
  }
}

/** Sends bytes as they are, over connections that are used again until one ends. */
export const makeSender = (baseUrl: string) => {
  const agent = new Agent({ keepAlive: true })
  const send = async (wire: Wire): Promise<WireResponse | undefined> => {
    const method = wire.method === 'HEAD' ? 'HEAD' : 'GET'
    const asked = request(baseUrl, { agent, method, timeout: PATIENCE_MS })
    // Node sends this as the head that it would write itself, and reads the response.
    Object.assign(asked, { _header: wire.bytes.toString('latin1') })
    // What comes behind a response that ends its connection is nobody's; so are bodies that the parser sends to a HEAD.
    asked.on('error', () => {}).on('timeout', () => asked.destroy())
    let sentAt = performance.now()
    asked.end(() => {
      sentAt = performance.now()
      if (wire.isOdd) asked.socket?.end()
    })
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      const { statusCode: status = 0, headers } = response
      const isStream = headers['content-type']?.startsWith('text/event-stream')
      const body = Buffer.concat(isStream ? [] : await response.toArray())
      if (isStream || wire.isOdd) asked.destroy()
      return { status, headers, body, ms: Math.round(performance.now() - sentAt) }
    } catch {
      return asked.reusedSocket ? await send(wire) : undefined
    }
  }
  return send
}
