import { request as httpRequest } from 'node:http'

import { readResponse } from './request.ts'

/** A POST whose body has begun to arrive. */
export type HeldRequest = ReturnType<typeof holdRequest>

interface HeldRequestOptions {
  url: string
  headers: Record<string, string>
  body: object
}

/** The api gives up a body that comes slower than 16 KiB/s. */
const BLANKS = ' '.repeat(65_536)

/** Sends the head of a POST, the first byte of its JSON body and then blanks, and keeps the rest back. */
export const holdRequest = ({ url, headers, body }: HeldRequestOptions) => {
  const text = JSON.stringify(body)
  const outgoing = httpRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  })
  const responded = readResponse(outgoing).then(({ status, body }) => ({
    status,
    body: body as HeldBody,
  }))
  // Whether anybody waits for it is the test's business.
  responded.catch(() => {})
  outgoing.write('{')
  const blanks = setInterval(() => outgoing.write(BLANKS), 1000)
  outgoing.on('error', () => {}).on('close', () => clearInterval(blanks))
  return {
    /** Sends the rest and reads the response. */
    finish: async () => {
      clearInterval(blanks)
      outgoing.end(text.slice(1))
      return await responded
    },
    abort: () => outgoing.destroy(),
  }
}

interface HeldBody {
  error?: string
  data?: { task_id: string }
}
