/**
 * Receiver of webhooks (`npm run kiln -- receiver`) that prints each event, says if it is signed, and responds as the
 * options say. It goes by the library of Standard Webhooks, as a receiver of anybody else would.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Webhook } from 'standardwebhooks'

import { loadKeys } from '../src/local/keys.ts'
import { ROOT } from '../src/local/root.ts'

const USAGE = `usage: npm run kiln -- receiver [--port 9099] [--secret <whsec_…>]… [--status 204] [--delay <seconds>]`

interface HttpResponse {
  secrets: readonly string[]
  status: number
  delayMs: number
}

const readOptions = async (): Promise<HttpResponse & { port: number }> => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      port: { type: 'string', default: '9099' },
      secret: { type: 'string', multiple: true },
      status: { type: 'string', default: '204' },
      delay: { type: 'string', default: '0' },
    },
  })
  if (values.help) {
    print(USAGE)
    process.exit()
  }
  const number = (name: 'port' | 'status' | 'delay', min: number, max: number): number => {
    const value = Number(values[name])
    if (values[name] === '' || !(value >= min && value <= max))
      throw new Error(`--${name} must be a number from ${min} to ${max}, got ${values[name]}`)
    return value
  }
  const secrets = values.secret ?? [(await loadKeys(join(ROOT, '.data'))).webhook]
  for (const secret of secrets)
    if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret))
      throw new Error('--secret must be whsec_ and Base64, as GET /webhook-secret returns it')
  return {
    port: number('port', 0, 65_535),
    status: Math.trunc(number('status', 200, 599)),
    delayMs: number('delay', 0, 600) * 1000,
    secrets,
  }
}

const receive = async (
  { secrets, status, delayMs }: HttpResponse,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const body = Buffer.concat(await request.toArray()).toString()
  const isSigned = secrets.some((secret) => isVerified(secret, body, request))
  const responded = isSigned ? status : 401
  await sleep(delayMs)
  response.writeHead(responded).end()
  const { 'webhook-id': id = 'absent', 'webhook-sequence': sequence = '?' } = request.headers
  const time = new Date().toISOString().slice(11, 23)
  const verdict = isSigned ? 'signed' : 'NOT SIGNED with a secret that this receiver knows'
  const event = parse(body)
  const state = [event['status'], event['state'], 'of another form'].find(
    (word) => typeof word === 'string',
  )
  print(
    `${time} #${String(sequence)} ${String(state)} ${verdict}, responded ${responded} webhook-id ${String(id)}`,
  )
  print(indent(Object.keys(event).length > 0 ? JSON.stringify(event, null, 2) : body))
}

const isVerified = (secret: string, body: string, { headers }: IncomingMessage): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

const parse = (body: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Indents text; what others have sent must not steer the terminal. */
const indent = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n]/gu, '\uFFFD').replaceAll(/^/gm, '  ')

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

try {
  const options = await readOptions()
  const server = createServer((request, response) => {
    receive(options, request, response).catch((error: unknown) => {
      print(`a request broke off: ${String(error)}`)
      response.destroy()
    })
  }).listen(options.port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`port ${options.port} is taken: give another one by --port`, { cause: error })
  })
  const { port } = server.address() as AddressInfo
  print(`receiver on http://127.0.0.1:${port}/, responds with ${options.status}; Ctrl-C ends it`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`)
  process.exitCode = 1
}
