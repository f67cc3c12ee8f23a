/**
 * Reports line by line what an upstream does right and wrong (`npm run kiln -- conform-upstream <url>`): it has it do a small
 * task of each kind, by the client that core workers have. Ends with 1 where a line is wrong.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import sharp from 'sharp'
import type { TObject } from 'typebox'

import { readBodyMembers } from '../src/engines/domain/upstream-document.ts'
import { UPSTREAM_FAMILIES, type UpstreamFamily } from '../src/engines/settings.ts'
import { makeBody } from '../src/engines/upstream/body.ts'
import { makeUpstream } from '../src/engines/upstream/upstream.ts'
import type {
  Upstream,
  UpstreamRequest,
  UpstreamResponse,
} from '../src/engines/upstream/upstream.ts'
import { describeCauses } from '../src/platform/domain/causes.ts'
import { listTrials, readId, type Reading, type Trial } from './conform/trials.ts'

const USAGE = `usage: npm run kiln -- conform-upstream <url> [--kind <kind>]… [--prefix <path>] [--source <link>] [--seconds 300] [--restart]

The key is read from KILN_UPSTREAM_KEY. --kind: of all kinds only these; \`extend\` needs a video in --source. --prefix replaces the
prefix of the routes. --seconds: time that a task may take. --restart waits until you have restarted the upstream.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    kind: { type: 'string', multiple: true },
    prefix: { type: 'string' },
    source: { type: 'string' },
    seconds: { type: 'string', default: '300' },
    restart: { type: 'boolean' },
  },
})

let wrong = 0

/** Prints a line; the found is shown where it is wrong. */
const say = (isRight: boolean, what: string, found?: unknown): boolean => {
  if (!isRight) wrong += 1
  const text = isRight ? `right  ${what}` : `WRONG  ${what}: ${JSON.stringify(found) ?? 'nothing'}`
  process.stdout.write(`${text.slice(0, 400)}\n`)
  return isRight
}

const limits = { perSecond: 20, atOnce: 10 }
const outbound = { allowLoopback: true, ports: [], deny: [] }

const open = (family: UpstreamFamily, key: string): Upstream => {
  const here = UPSTREAM_FAMILIES[family].prefix
  const prefix = values.prefix === undefined ? undefined : { here, there: values.prefix }
  const url = positionals[0] ?? ''
  return makeUpstream({ url, setting: 'the first argument', key, prefix, limits, outbound })
}

/** Responses after which Kiln sends a request again. */
const isPassing = ({ status, body }: UpstreamResponse): boolean =>
  [408, 429].includes(status) ||
  status >= 500 ||
  (status === 409 && body['error'] === 'idempotency_in_flight')

/** Sends a request until its response is not one that passes. */
const ask = async (
  upstream: Upstream,
  request: Omit<UpstreamRequest, 'signal'>,
  signal: AbortSignal,
): Promise<UpstreamResponse> => {
  for (;;) {
    const response = await upstream.ask({ ...request, signal })
    if ('status' in response && !isPassing(response)) return response
    await sleep('status' in response ? Math.max(1000, response.retryAfterMs) : 1000, undefined, {
      signal,
    })
  }
}

/** Says what callers may send beside the interface, as Kiln reads it each minute. */
const readDocument = async (
  upstream: Upstream,
  { kind, family }: Trial,
  signal: AbortSignal,
): Promise<void> => {
  const document = await upstream.readDocument(signal)
  if (!document) return void say(false, `${kind}: has an /openapi.json, or 404 in its place`)
  const { path, body } = UPSTREAM_FAMILIES[family].routeOf(kind)
  const at = upstream.pathOf(path)
  const own = Object.keys((body as TObject).properties)
  const further = Object.keys(readBodyMembers(document, at, own)).join(', ')
  const { paths } = document as { paths?: Record<string, unknown> }
  const found = paths?.[at]
    ? `Kiln passes on ${further || 'none'}, by its /openapi.json`
    : `Kiln passes on none, without an /openapi.json that has ${at}`
  process.stdout.write(`note   ${kind}: of members beside the interface ${found}\n`)
}

const isSuccess = ({ status }: UpstreamResponse): boolean => status >= 200 && status <= 299

/** Tries all rules on a kind, in the order in which a task lives. */
const tryKind = async (trial: Trial, dir: string): Promise<void> => {
  const { kind, family, path } = trial
  const upstream = open(family, process.env['KILN_UPSTREAM_KEY'] ?? '')
  const stranger = open(family, 'no-such-key')
  const signal = AbortSignal.timeout(Number(values.seconds) * 1000)
  const check = (isRight: boolean, what: string, found?: unknown): boolean =>
    say(isRight, `${kind}: ${what}`, found)
  const create = async (idempotencyKey: string, from = upstream) =>
    await ask(from, { path, body: await trial.makeBody(), idempotencyKey }, signal)
  const read = (id: string, from = upstream) => ask(from, { path: trial.statusPath(id) }, signal)
  try {
    await readDocument(upstream, trial, signal)
    const unknown = await create(randomUUID(), stranger)
    check([401, 403].includes(unknown.status), 'rejects an unknown key with 401 or 403', unknown)
    const key = randomUUID()
    const [first, second] = await Promise.all([create(key), create(key)])
    const id = readId(first)
    if (!check(isSuccess(first) && id !== undefined, 'takes a task, and says its id', first)) return
    check(readId(second) === id, 'makes one task of two requests with a key', [id, second])
    if (values.restart) await waitForRestart()
    const again = await create(key)
    check(readId(again) === id, 'makes no task of a key that it has had', [id, again])
    const record = await waitForEnd(trial, () => read(id ?? ''), signal)
    check(record.state === 'done', 'is done with it, by records of the right form', record)
    for (const [index, link] of record.links.entries()) {
      const file = join(dir, `${kind}-${index}`)
      const error = await upstream
        .fetch({ url: link.url, toFile: file, signal })
        .then(() => link.check(file))
        .then(() => undefined, describeCauses)
      check(error === undefined, `gives a ${link.name} that is whole, without a key`, error)
    }
    const other = await create(`${key}-1`)
    const otherId = readId(other) ?? ''
    check(isSuccess(other) && otherId !== id, 'makes another task of another key', [id, other])
    await ask(upstream, { path: trial.cancelPath(otherId), body: await makeBody({}, {}) }, signal)
    const cancelled = await waitForEnd(trial, () => read(otherId), signal)
    check(cancelled.state !== 'unreadable', 'reads a cancelled task, which ends', cancelled)
    const never = await read(randomUUID())
    check(never.status === 404, 'knows no task of another id: 404', never)
    const hidden = await read(id ?? '', stranger)
    check([401, 403, 404].includes(hidden.status), 'shows no task to an unknown key', hidden)
    const body = await makeBody({ image: 1, prompt: 1 }, {})
    const rejected = await ask(upstream, { path, body, idempotencyKey: randomUUID() }, signal)
    const { message } = rejected.body
    const isExplained = rejected.status >= 400 && typeof message === 'string'
    check(isExplained, 'rejects a prompt that is no text with 4xx and a message', rejected)
  } catch (error) {
    const isLate = signal.aborted && error === signal.reason
    check(false, 'responds', isLate ? `not within ${values.seconds} s` : describeCauses(error))
  } finally {
    upstream.close()
    stranger.close()
  }
}

/** Reads the status as Kiln does, until the task has ended or cannot be read. */
const waitForEnd = async (
  { read: toRecord }: Trial,
  read: () => Promise<UpstreamResponse>,
  signal: AbortSignal,
): Promise<Reading> => {
  for (;;) {
    const response = await read()
    const record = response.status === 200 ? toRecord(response.body) : undefined
    if (!record) return { state: 'unreadable', links: [], found: response }
    if (record.state !== 'running') return record
    await sleep(Math.max(1000, response.retryAfterMs), undefined, { signal })
  }
}

const waitForRestart = async (): Promise<void> => {
  process.stdout.write('restart the upstream, and press Enter once it is back\n')
  await once(process.stdin, 'data')
  process.stdin.pause()
}

/** Connects once: what rejects that has no need to be asked for minutes. */
const connectTo = async ({ protocol, hostname, port }: URL): Promise<void> => {
  const standard = protocol === 'https:' ? 443 : 80
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || standard })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) })
  } finally {
    socket.destroy()
  }
}

const CONNECT_MS = 10_000

const main = async (): Promise<number> => {
  if (values.help || positionals.length !== 1 || !URL.canParse(positionals[0] ?? '')) {
    process[values.help ? 'stdout' : 'stderr'].write(`${USAGE}\n`)
    return values.help ? 0 : 2
  }
  const rejected = await connectTo(new URL(positionals[0] ?? '')).then(
    () => undefined,
    describeCauses,
  )
  if (rejected !== undefined) {
    say(false, 'takes connections', rejected)
    return 1
  }
  const dir = await mkdtemp(join(tmpdir(), 'kiln-conform-'))
  try {
    const picture = join(dir, 'picture.png')
    await sharp({ create: { width: 96, height: 64, channels: 3, background: '#47a' } }).toFile(
      picture,
    )
    const all = listTrials({ picture, source: values.source })
    const kinds = values.kind ?? all.map(({ kind }) => kind)
    for (const kind of kinds) {
      const trial = all.find((one) => one.kind === kind)
      if (trial) await tryKind(trial, dir)
      else say(false, `${kind} is tried`, `kinds are ${all.map((one) => one.kind).join(', ')}`)
    }
    return wrong > 0 ? 1 : 0
  } finally {
    await rm(dir, { recursive: true })
  }
}

process.exitCode = await main()
