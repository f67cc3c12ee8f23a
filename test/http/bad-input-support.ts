import { deflateSync } from 'node:zlib'

import CRC32 from 'crc-32'

import { IMAGE_API } from '../support/client.ts'
import type { RegistryWorld } from './bad-input-registry.ts'

/** One row of the catalogue of bad input: what is sent, and the response that it must get. */
export interface Row {
  /** Number in the catalogue. */
  row: number
  what: string
  /** Absent: POST of an upscale. */
  method?: string
  path?: string | ((world: World) => string)
  headers?: Record<string, string> | ((world: World) => Promise<Record<string, string>>)
  /** An object is sent as JSON, anything else as it is. */
  body?: object | string | Uint8Array<ArrayBuffer> | ((world: World) => object)
  /** The whole request as it goes over the wire, in place of the members above. */
  raw?: string | ((world: World) => Promise<string>)
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

/** Makes a row of its number in the catalogue, what is wrong, what is sent, and the response that it must get. */
export const rowOf = (
  row: number,
  what: string,
  sent: Partial<Row>,
  expected: Pick<Row, 'status' | 'error'> & Partial<Row>,
): Row => ({ row, what, ...sent, ...expected })

/** Makes the response to a method that a path does not have. */
export const notAllowed = (allow: RegExp): Pick<Row, 'status' | 'error' | 'header'> => ({
  status: 405,
  error: 'method_not_allowed',
  header: ['allow', allow],
})

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
  signToken(claims: object, header?: object): Promise<string>
  /** A token signed with the public key as if it were a shared secret. */
  signWithPublicKey(): Promise<string>
  apiKeys: { live: string; revoked: string; expired: string }
  registry: RegistryWorld
}

export const UPSCALE = `${IMAGE_API}/image-upscaler`
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
