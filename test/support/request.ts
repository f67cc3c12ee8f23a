import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

import { PATIENCE_MS } from './patience.ts'

export interface Sent extends Pick<RequestOptions, 'agent' | 'localAddress'> {
  method?: string
  headers?: Record<string, string | number>
}

export interface SentResponse {
  status: number
  headers: IncomingMessage['headers']
  bytes: Buffer
  /** Members of a JSON object; none of any other response. */
  body: Record<string, unknown> & { error?: string; message?: string; details?: string[] }
}

/** Begins a request with these headers alone, to which fetch would add its own. */
export const begin = (url: string, sent: Sent = {}): ClientRequest =>
  request(url, { agent: false, signal: AbortSignal.timeout(PATIENCE_MS), ...sent })

export const readResponse = async (asked: ClientRequest): Promise<SentResponse> => {
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const bytes = await buffer(response)
  const { statusCode: status = 0, headers } = response
  const isJson = headers['content-type']?.startsWith('application/json') && bytes.length > 0
  const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
  const body = (isJson ? JSON.parse(text.toString()) : {}) as SentResponse['body']
  // The server may reset what is sent after its response, and the response is what counts.
  asked.on('error', () => {})
  return { status, headers, bytes, body }
}

/** Sends a request whole; the server may respond, and close, before it has all of the body. */
export const send = async (url: string, sent?: Sent, body?: Buffer): Promise<SentResponse> => {
  const asked = begin(url, sent)
  const response = readResponse(asked)
  asked.on('error', () => {}).end(body)
  return await response
}
