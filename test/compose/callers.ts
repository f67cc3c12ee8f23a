import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { IMAGE_API, VIDEO_API } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import { waitFor } from '../support/wait.ts'
import type { Stack } from './stack.ts'

const PAUSE_MS = 150
const ATTEMPT_MS = 10_000
const SUBJECT = 'caller'

export interface Row {
  what: string
  accepted: number
  /** Attempts that were rejected or got no response. */
  repeated: number
  /** Longest time in which none was accepted. */
  gapSeconds: number
  /** From the last acceptance until all had ended. */
  drainSeconds: number
  /** Tasks from the first acceptance until all had ended. */
  tasksPerSecond: number
}

export interface Report {
  say(line: string): void
  add(row: Row): void
}

interface DuringOptions {
  lanes?: number
  /** Base URLs that the callers send to, in turn. */
  urls?: readonly string[]
}

export const makeCallers = async (stack: Stack) => {
  const token = await stack.token(SUBJECT)
  const image = await base64({ width: 256, height: 256 })
  const accepted = new Map<string, 'image' | 'video'>()
  let count = 0
  let base = stack.url

  const ask = async (url: string, init: RequestInit & { key?: string } = {}): Promise<Response> =>
    await fetch(url, {
      ...init,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(init.key === undefined ? {} : { 'idempotency-key': init.key }),
      },
      signal: AbortSignal.timeout(ATTEMPT_MS),
    })

  /** Repeats until it is accepted, so that nothing is in doubt. Returns how often it had to. */
  const create = async (family: 'image' | 'video', urls: readonly string[]): Promise<number> => {
    const key = randomUUID()
    const start = (count += 1)
    const path = family === 'image' ? `${IMAGE_API}/image-relight` : `${VIDEO_API}/text2video`
    const order =
      family === 'image'
        ? { image, prompt: 'sunset' }
        : { model: 'videoq3-pro', prompt: 'a lighthouse', duration: 1 }
    const body = JSON.stringify(order)
    for (let attempts = 0; ; attempts += 1) {
      const url = urls[(start + attempts) % urls.length] ?? ''
      const result = await ask(url + path, { method: 'POST', key, body })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => ({ status: 0, text: '' }))
      if (result.status === 200) {
        const made = JSON.parse(result.text) as { task_id?: string; data?: { task_id: string } }
        accepted.set(made.data?.task_id ?? made.task_id ?? '', family)
        return attempts
      }
      assert.ok([0, 409, 500, 502, 503].includes(result.status), `${result.status} ${result.text}`)
      assert.notEqual(result.status, 500, result.text)
      await sleep(PAUSE_MS)
    }
  }

  const assertServed = async (id: string, family: 'image' | 'video'): Promise<void> => {
    const path =
      family === 'image' ? `${IMAGE_API}/image-relight/${id}` : `${VIDEO_API}/tasks/${id}/creations`
    const task = (await (await ask(base + path)).json()) as {
      data?: { generated: string[] }
      creations?: { url: string }[]
    }
    const link = task.data?.generated[0] ?? task.creations?.[0]?.url ?? ''
    // An api serves the links of all.
    const file = await fetch(base + new URL(link).pathname + new URL(link).search)
    assert.equal(file.status, 200, `${id}: ${link}`)
    assert.ok((await file.arrayBuffer()).byteLength > 100, id)
  }

  return {
    /** Callers create tasks while something is done, until a while after it; then all of them end. */
    async during(
      what: string,
      work: () => Promise<void>,
      { lanes = 2, urls = [stack.url] }: DuringOptions = {},
    ): Promise<Row> {
      const before = accepted.size
      base = urls[0] ?? base
      const [stopping, times] = [new AbortController(), [performance.now()]]
      let repeated = 0
      const run = async (): Promise<void> => {
        for (let made = 0; !stopping.signal.aborted; made += 1) {
          repeated += await create(made === 0 ? 'video' : 'image', urls)
          times.push(performance.now())
          await sleep(PAUSE_MS)
        }
      }
      const running = Array.from({ length: lanes }, run)
      const failed = Promise.all(running)
      failed.catch(() => stopping.abort())
      try {
        await waitFor('tasks before it', async () => accepted.size >= before + 6)
        await work()
        const then = accepted.size
        await waitFor('tasks after it', async () => accepted.size >= then + 6, 3 * PATIENCE_MS)
      } finally {
        stopping.abort()
        await failed
      }
      const last = performance.now()
      await untilEnded(stack)
      const end = performance.now()
      const gaps = times.map((time, index) => time - (times[index - 1] ?? time))
      return {
        what,
        accepted: accepted.size - before,
        repeated,
        gapSeconds: Math.max(...gaps) / 1000,
        drainSeconds: (end - last) / 1000,
        tasksPerSecond: (1000 * (accepted.size - before)) / (end - (times[0] ?? 0)),
      }
    },
    /** Every task that was accepted is there once, has ended well, and its files are served. */
    async assertLedger(): Promise<void> {
      await untilEnded(stack)
      const rows = await stack.query(`select id, status from task where owner = '${SUBJECT}'`)
      const found = new Map(rows.map((row) => row.split('|') as [string, string]))
      const [here, known] = [found, accepted].map((tasks) => [...tasks.keys()].toSorted())
      assert.deepEqual(here, known, 'lost or made twice')
      for (const [id, family] of accepted) {
        assert.equal(found.get(id), family === 'image' ? 'COMPLETED' : 'success', id)
        await assertServed(id, family)
      }
    },
    /** Forgets what was accepted. */
    forget: () => accepted.clear(),
  }
}

const untilEnded = async (stack: Stack): Promise<void> => {
  const open = 'select count(*) from task where ended_at is null'
  const hasEnded = async () => (await stack.query(open).catch(() => ['?']))[0] === '0'
  await waitFor('every task has ended', hasEnded, 5 * PATIENCE_MS)
}
