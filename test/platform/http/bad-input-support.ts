import { deflateSync } from 'node:zlib'

import CRC32 from 'crc-32'

import { IMAGE_API } from '../../support/client.ts'
import type { RegistryWorld } from './bad-input-registry.ts'

/** One row of the catalogue of bad input: what is sent, and the response that it must get. */
export interface Row {
  /** Number in the catalogue. */
  row: number
  what: string
  /** Absent: POST of an upscale. */
  method?: string
  path?: string | ((world: World) => string)
  headers?: Record<string, string> | ((world: World) => Record<string, string>)
  /** An object is sent as JSON, anything else as it is. */
  body?: object | string | Uint8Array<ArrayBuffer> | ((world: World) => object)
  /** The whole request as it goes over the wire, in place of the members above. */
  raw?: string | ((world: World) => string)
  /** False: no credential. */
  credential?: false
  /** Sent to an api with NODE_ENV=production. */
  production?: true
  /** Sent to an api where owners have few credits, and an extension needs one source only. */
  limited?: true
  status: number
  error: string
  /** First of `details`, on a video route. */
  reason?: string
  /** Start of the only one of `details`, the reason aside. */
  field?: string
  /** A header of the response. */
  header?: [name: string, value: RegExp]
}

type Expected = Pick<Row, 'status' | 'error'> & Partial<Row>

/** Makes a row of its number in the catalogue, what is wrong, what is sent, and the response that it must get. */
export const rowOf = (row: number, what: string, sent: Partial<Row>, expected: Expected): Row => ({
  row,
  what,
  ...sent,
  ...expected,
})

/** Makes the response that a row must get. */
export const error = (status: number, error: string, more: Partial<Row> = {}): Expected => ({
  status,
  error,
  ...more,
})

/** Makes the response to a method that a path does not have. */
export const notAllowed = (allow: RegExp): Expected =>
  error(405, 'method_not_allowed', { header: ['allow', allow] })

export const INVALID = error(400, 'validation_failed')
export const NO_TASK = error(404, 'task_not_found')
export const UNAUTHORIZED = error(401, 'unauthorized', { header: ['www-authenticate', /^Bearer$/] })

export const ofGet = (path: Row['path'] & {}) => ({ method: 'GET', path })
export const typed = (type: string, body: Row['body'] & {}) => ({
  headers: { 'content-type': type },
  body,
})

/** An id that nothing has. */
export const UNKNOWN = '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'

/** Things that the rows are about; made before the first of them. */
export interface World {
  token: string
  /** Base64 of a small PNG. */
  picture: string
  /** A task that has ended, and its owner's own family. */
  othersTask: string
  ownTask: string
  /** Video tasks: of another owner, in success; the caller's own in success, and one in failed. */
  othersVideo: string
  ownVideo: string
  failedVideo: string
  /** The first event of `othersTask` and of `ownTask`. */
  othersEvent: string
  ownEvent: string
  apiKeys: { live: string; revoked: string }
  registry: RegistryWorld
}

export const RELIGHT = `${IMAGE_API}/image-relight`
export const PRECISION = `${IMAGE_API}/image-upscaler-precision-v2`
export const FLEXIBLE = `${IMAGE_API}/skin-enhancer/flexible`

/** A PNG of a given size in its header and hardly a pixel behind it. */
export const makeHollowPng = (width: number, height: number, { data = true } = {}): Buffer => {
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  size.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', size),
    ...(data ? [chunk('IDAT', deflateSync(Buffer.alloc(64))), chunk('IEND', Buffer.alloc(0))] : []),
  ])
}

const chunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const content = Buffer.concat([Buffer.from(type), data])
  const sum = Buffer.alloc(4)
  sum.writeInt32BE(CRC32.buf(content))
  return Buffer.concat([length, content, sum])
}

export const base64Of = (text: string): string => Buffer.from(text).toString('base64')
