import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { createServer, IncomingMessage, request as httpRequest } from 'node:http'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket, type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

import { ApiError } from '../../../src/platform/domain/errors.ts'
import { makeBudget } from '../../../src/platform/json-body/budget.ts'
import { endEarly, isSending, USUAL_DRAIN } from '../../../src/platform/http/body/early-response.ts'
import type { DrainLimits } from '../../../src/platform/http/body/early-response.ts'
import { replaceInline, type InlineImage } from '../../../src/platform/json-body/inline.ts'
import {
  readJsonBody,
  type ReadJsonBodyOptions,
} from '../../../src/platform/json-body/read-json-body.ts'
import { makeFolder } from '../../support/folder.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { readResponse } from '../../support/request.ts'

export const makeScratch = (t: TestContext): Promise<string> => makeFolder(t)

export const makeOptions = (
  scratchDir: string,
  more: Partial<ReadJsonBodyOptions> = {},
): ReadJsonBodyOptions => ({
  maxBytes: 1_000_000,
  deadlineMs: PATIENCE_MS,
  pace: { bytesPerSecond: 1, windowMs: PATIENCE_MS },
  memoryBytes: 500_000,
  images: ['/image', '/images/*'],
  maxImageBytes: 200_000,
  maxPixels: 1_000_000,
  scratchDir,
  budget: makeBudget(),
  address: 'address:192.0.2.1',
  ...more,
})

/** A request that never saw a network: the pieces arrive exactly as given. */
export const makeRequest = (
  pieces: readonly Buffer[],
  headers: Record<string, string> = {},
): IncomingMessage => {
  const request = new IncomingMessage(new Socket())
  request.headers = {
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
    ...headers,
  }
  request.complete = true
  for (const piece of pieces) request.push(piece)
  request.push(null)
  return request
}

/** Cuts bytes at the given places, which may be in any order and out of range. */
export const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted(
    (left, right) => left - right,
  )
  const pieces: Buffer[] = []
  let start = 0
  for (const end of [...ends, bytes.length]) {
    if (end > start) pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}

export const read = (text: string | Buffer, options: ReadJsonBodyOptions) =>
  readJsonBody(makeRequest([Buffer.from(text)]), options)

export const rejectedWith = (code: string, message?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, error.message)
  if (message !== undefined) assert.match(error.message, message)
  return true
}

export const isEmpty = async (folder: string): Promise<boolean> =>
  (await readdir(folder)).length === 0

interface Received {
  error?: string
  message?: string
  value?: unknown
  inline?: InlineImage[]
}

/** Starts a bare server whose every request goes through the reader; it responds as the real one does. */
export const startServer = async (
  t: TestContext,
  options: ReadJsonBodyOptions,
  drain: DrainLimits = USUAL_DRAIN,
): Promise<number> => {
  const result = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await readJsonBody(request, options)
      const value = replaceInline(body.value, body.inline, (_, index) => ({ inline: index }))
      await body.discard()
      response.end(JSON.stringify({ value, inline: body.inline }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const text = JSON.stringify({ error: error.code, message: error.message })
      response.statusCode = error.status
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
      if (isSending(request)) await endEarly(request, response, text, drain)
      else response.end(text)
    }
  }
  const server = createServer((request, response) => void result(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export interface HttpResponse extends Received {
  status: number
  headers: IncomingMessage['headers']
}

/** Posts; `write` may send the body as slowly as it likes and need not end it. */
export const post = async (
  port: number,
  headers: OutgoingHttpHeaders,
  write: (send: (piece: string | Buffer) => void, end: () => void) => void,
): Promise<HttpResponse> => {
  const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', headers, agent: false })
  const responded = readResponse(outgoing)
  outgoing.flushHeaders()
  write(
    (piece) => outgoing.write(piece),
    () => outgoing.end(),
  )
  const { status, headers: seen, bytes } = await responded
  outgoing.destroy()
  return { ...(JSON.parse(bytes.toString()) as Received), status, headers: seen }
}

export const JSON_TYPE = { 'content-type': 'application/json' }
