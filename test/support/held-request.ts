import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'

/** A POST whose body has begun to arrive. */
export interface HeldRequest {
  /** Sends the rest and reads the answer. */
  finish(): Promise<{ status: number; body: { error?: string; data?: { task_id: string } } }>
  /** Breaks the connection. */
  abort(): void
}

export interface HeldRequestOptions {
  url: string
  headers: Record<string, string>
  body: object
}

/** Sends the head of a POST and the first half of its JSON body, and keeps the rest back. */
export const holdRequest = ({ url, headers, body }: HeldRequestOptions): HeldRequest => {
  const text = JSON.stringify(body)
  const half = Math.floor(text.length / 2)
  const outgoing = httpRequest(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    },
    agent: false,
  })
  const answered = readAnswer(outgoing)
  // Whether anybody waits for it is the test's business.
  answered.catch(() => {})
  outgoing.write(text.slice(0, half))
  return {
    finish: async () => {
      outgoing.end(text.slice(half))
      return await answered
    },
    abort: () => outgoing.destroy(),
  }
}

const readAnswer = async (outgoing: ClientRequest) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  return { status: response.statusCode ?? 0, body: JSON.parse(text) as { error?: string } }
}
