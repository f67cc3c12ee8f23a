/**
 * The body reader alone: many inline images of 40 MB Base64 at once, sent by this process to a bare HTTP server in a
 * child. Prints the longest block of the server's event loop and its peak RSS.
 *
 * node --import tsx bench/uploads-body.ts [--clients 32] [--megabytes 40] [--rounds 3] [--spelling plain|escaped|wrapped]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import sharp from 'sharp'

import { makeUploadBudget } from '../src/http/body/budget.ts'
import { readJsonBody } from '../src/http/body/read-json-body.ts'

interface Round {
  blockMs: number
  /** The longest block counted in time on a core, where the kernel tells: what a busy machine adds is left out. */
  ownBlockMs: number
  rssMb: number
  mbPerSecond: number
}

const MB = 1e6

/** Milliseconds that the main thread has spent on a core; undefined where the kernel does not tell. */
const runningMs = (): number | undefined => {
  try {
    return parseInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8'), 10) / 1e6
  } catch {
    return undefined
  }
}

/** The most that the main thread runs between two turns of a 5 ms timer. */
const watchOwnBlock = () => {
  let longest = 0
  let last = runningMs() ?? performance.now()
  setInterval(() => {
    const before = last
    last = runningMs() ?? performance.now()
    longest = Math.max(longest, last - before)
  }, 5)
  return { longest: () => longest, reset: () => (longest = 0) }
}

/** Peak RSS comes from the kernel (KiB), so that no peak falls between two samples. */
const serve = async (scratchDir: string) => {
  const budget = makeUploadBudget({ uploadBytes: 4 * 2 ** 30, heldBytes: 64 * 2 ** 20 })
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await readJsonBody(incoming, {
      maxBytes: 140 * MB,
      deadlineMs: 120_000,
      heldBytes: 2 ** 20,
      images: ['/image'],
      maxImageBytes: 50 * MB,
      maxPixels: 100e6,
      scratchDir,
      budget,
    })
    await body.discard()
    response.end(body.inline[0]?.fault?.message ?? 'ok')
  }
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const own = watchOwnBlock()
  process.on('message', (message) => {
    if (message === 'begin') {
      delay.reset()
      own.reset()
      return
    }
    const rssMb = process.resourceUsage().maxRSS / 1000
    process.send?.({ blockMs: delay.max / 1e6, ownBlockMs: own.longest(), rssMb })
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  await once(process, 'disconnect')
  process.exit(0)
}

const makeBody = async (bytes: number, spelling: string): Promise<Buffer> => {
  const jpeg = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer()
  const image = Buffer.alloc(Math.floor((bytes * 3) / 4))
  for (let index = 0; index < image.length; index += 1) image[index] = (index * 7919) >> 5
  jpeg.copy(image)
  const text = image.toString('base64')
  if (spelling === 'escaped') return Buffer.from(`{"image":"${text.replaceAll('/', '\\/')}"}`)
  if (spelling === 'wrapped') {
    return Buffer.from(`{"image":"${text.replaceAll(/.{76}/g, (line) => `${line}\\r\\n`)}"}`)
  }
  return Buffer.from(`{"image":"${text}"}`)
}

function* pieces(body: Buffer) {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536)
}

const upload = async (port: number, body: Buffer): Promise<void> => {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const outgoing = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(pieces(body), outgoing)
  const [response] = await answered
  const text = Buffer.concat(await response.toArray()).toString()
  if (text !== 'ok') throw new Error(`The server answered ${response.statusCode}: ${text}`)
}

const measure = async (child: ChildProcess, port: number, bodies: Buffer[]): Promise<Round> => {
  child.send('begin')
  const start = performance.now()
  await Promise.all(bodies.map((body) => upload(port, body)))
  const seconds = (performance.now() - start) / 1000
  const answered = once(child, 'message') as Promise<[Omit<Round, 'mbPerSecond'>]>
  child.send('end')
  const [stats] = await answered
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  return { ...stats, mbPerSecond: bytes / MB / seconds }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const report = (figure: string, value: number, unit: string, aim: number) =>
  console.log(
    `uploads-body.${figure} ${value.toFixed(0)} ${unit} aim <= ${aim} ${value <= aim ? 'ok' : 'short'}`,
  )

const run = async () => {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '32' },
      megabytes: { type: 'string', default: '40' },
      rounds: { type: 'string', default: '3' },
      spelling: { type: 'string', default: 'plain' },
    },
  })
  const scratchDir = await mkdtemp(join(tmpdir(), 'kiln-uploads-body-'))
  const body = await makeBody(Number(values.megabytes) * MB, values.spelling)
  const child = fork(fileURLToPath(import.meta.url), ['--serve', scratchDir])
  try {
    const [port] = (await once(child, 'message')) as [number]
    const rounds: Round[] = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const bodies = Array.from({ length: Number(values.clients) }, () => body)
      const result = await measure(child, port, bodies)
      rounds.push(result)
      const { blockMs, ownBlockMs, rssMb, mbPerSecond } = result
      console.log(
        `round ${round + 1}: block ${blockMs.toFixed(1)} ms (own ${ownBlockMs.toFixed(1)}), RSS ${rssMb.toFixed(0)} MB, ${mbPerSecond.toFixed(0)} MB/s`,
      )
    }
    const speed = median(rounds.map((round) => round.mbPerSecond))
    console.log(`median ${speed.toFixed(0)} MB/s`)
    report('block', Math.max(...rounds.map((round) => round.blockMs)), 'ms', 100)
    report('own-block', Math.max(...rounds.map((round) => round.ownBlockMs)), 'ms', 100)
    report('rss', Math.max(...rounds.map((round) => round.rssMb)), 'MB', 300)
  } finally {
    child.disconnect()
    await once(child, 'exit')
    await rm(scratchDir, { recursive: true, force: true })
  }
}

const serveAt = process.argv.indexOf('--serve')
if (serveAt === -1) await run()
else await serve(process.argv[serveAt + 1] ?? tmpdir())
