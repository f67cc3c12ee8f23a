import { createConnection } from 'node:net'

import { PATIENCE_MS } from './patience.ts'

export interface RawResponse {
  status: number
  headers: Headers
  body: { error?: string; message?: string; details?: string[]; request_id?: string }
  closed: boolean
}

/**
 * Sends bytes as they are, for requests that no client would make, and reads what comes until the connection ends.
 * `keepSending` is called every 100 ms until then: slowly arriving requests.
 */
export const sendRaw = async (
  baseUrl: string,
  text: string,
  keepSending?: () => string,
): Promise<RawResponse> => {
  const { hostname, port } = new URL(baseUrl)
  const socket = createConnection(Number(port), hostname)
  const timer = keepSending && setInterval(() => socket.write(keepSending()), 100)
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  // What the server no longer reads is reset; its response is what counts.
  socket.on('error', () => {})
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.write(text)
  const closed = await new Promise<boolean>((resolve) => {
    socket.on('timeout', () => resolve(false))
    socket.on('close', () => resolve(true))
  })
  clearInterval(timer)
  return { ...parse(Buffer.concat(received).toString()), closed }
}

const parse = (text: string): Omit<RawResponse, 'closed'> => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [start = '', ...lines] = head.split('\r\n')
  const fields = lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1]),
    headers: new Headers(fields),
    body: JSON.parse(rest.join('\r\n\r\n') || '{}') as RawResponse['body'],
  }
}
