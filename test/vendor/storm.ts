import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { secondsSince } from '../../src/local/console.ts'
import { makeRandom } from '../faults/random.ts'
import { assertLedger } from '../faults/ledger.ts'
import { clientOf } from '../faults/calls.ts'
import { IMAGE_API, VIDEO_API } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import type { Role, Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { assertOneEach } from './pair.ts'
import type { Pair } from './pair.ts'

interface Storm {
  tasks: number
  seed: number
  say(line: string): void
}

/** Number of callers that make tasks at once. */
const CALLERS = 6
/** Every eighth task is a video: one takes ten times the work of a small image. */
const VIDEO_SHARE = 8
/** Between two kills, in milliseconds. A process takes two seconds to start, and some more where others need the cores, too. */
const PAUSE = { min: 8000, max: 20_000 }

/** Makes tasks while processes of both sides are killed, until all have ended; then asserts that each was done once. */
export const runStorm = async (pair: Pair, { tasks, seed, say }: Storm): Promise<void> => {
  const client = await clientOf(pair.near)
  const ids: string[] = []
  const start = Date.now()
  const over = new AbortController()
  const kills = killAround(pair, makeRandom(seed), over.signal)
  const reports = setInterval(() => {
    void countOpen(pair.near).then((open) =>
      say(`  ${secondsSince(start)}: ${ids.length} made, ${open} open, ${kills.count()} kills`),
    )
  }, 20_000)
  try {
    const image = await base64()
    let next = 0
    const call = async (): Promise<void> => {
      for (let n = next++; n < tasks; n = next++) ids.push(await make(client, n, image))
    }
    await Promise.all(Array.from({ length: CALLERS }, call))
    const hasEnded = async () => (await countOpen(pair.near)) === 0
    await waitFor('all tasks have ended', hasEnded, 15 * PATIENCE_MS)
  } finally {
    clearInterval(reports)
    over.abort()
    await kills.ended
  }
  const rows = await assertLedger(pair.near, ids)
  await assertOneEach(pair)
  const codes = rows.map(({ error_code: code }) => code).filter((code) => code !== null)
  const attempts = rows.reduce((sum, { fence }) => sum + fence, 0)
  say(
    `  ${tasks} tasks in ${secondsSince(start)}, ${kills.count()} kills (${kills.list()}): ${rows.length} here, as many there, 0 twice, 0 lost, ${codes.length} failed, ${attempts} attempts`,
  )
  assert.deepEqual(codes, [])
}

/** Repeats a creation with its key until there is a response. */
const make = async (client: Client, n: number, image: string): Promise<string> =>
  await waitFor(
    `creation ${n} has a response`,
    async () => {
      const isVideo = n % VIDEO_SHARE === 0
      const [path, body] = isVideo
        ? [`${VIDEO_API}/text2video`, { prompt: 'ocean' }]
        : [`${IMAGE_API}/image-upscaler`, { image }]
      const response = await client
        .post(path, body, { 'idempotency-key': `task-${n}` })
        .catch(() => undefined)
      if (response && ![200, 409, 503].includes(response.status))
        throw new Error(`status ${response.status}: ${JSON.stringify(response.body)}`)
      if (response?.status !== 200) return undefined
      return isVideo ? String(response.body['task_id']) : response.body.data.task_id
    },
    2 * PATIENCE_MS,
  )

const countOpen = async ({ database: { sql } }: Service): Promise<number> => {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::integer as open from task where ended_at is null
  `
  return row?.open ?? 0
}

const killAround = ({ near, far }: Pair, random: () => number, signal: AbortSignal) => {
  const victims: [Service, Role, string][] = [
    [near, 'core', 'near core'],
    [near, 'api', 'near api'],
    [far, 'api', 'far api'],
    [far, 'core', 'far core'],
    [far, 'media', 'far media'],
  ]
  const killed: Record<string, number> = {}
  const run = async (): Promise<void> => {
    for (;;) {
      const pauseMs = PAUSE.min + random() * (PAUSE.max - PAUSE.min)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      // The worker that submits is killed as often as all others together.
      const victim = random() < 0.5 ? victims[0] : victims[Math.floor(random() * victims.length)]
      if (!victim) return
      const [service, role, name] = victim
      await service.entry(role).kill()
      killed[name] = (killed[name] ?? 0) + 1
      await service.start(role)
    }
  }
  return {
    ended: run(),
    count: () => Object.values(killed).reduce((sum, count) => sum + count, 0),
    list: () =>
      Object.entries(killed)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
  }
}
