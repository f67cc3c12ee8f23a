import { loadavg } from 'node:os'

import { startEntry } from '../../test/support/entry.ts'
import { callJson } from '../support/call.ts'
import type { Keep } from '../support/keep.ts'
import { CONCURRENCIES, measureShape } from './measure.ts'
import type { Measured, Rounds, Sides } from './measure.ts'
import { showHead, showRow } from './report.ts'
import type { Shape } from './shapes.ts'
import { startRecorder } from './statements.ts'

/** Starts a bare Express on the database of a service, to be told what requests lead to. */
export const startComparison = async (keep: Keep, databaseUrl: string, http: string) => {
  const recorder = keep(await startRecorder(databaseUrl, http))
  const { log, kill } = await startEntry({
    path: 'bench/support/bare-express.ts',
    args: [databaseUrl],
    readyMessage: 'bare ready',
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
  })
  keep({ stop: kill })
  const ready = log.find((line) => line.includes('bare ready')) ?? '{}'
  const { port } = JSON.parse(ready) as { port: number }
  const sides: Sides = { http, bare: `http://127.0.0.1:${port}` }

  const tell = async ({
    requests,
    before,
    record = (request) => recorder.record(request, before),
  }: Pick<Shape, 'requests' | 'before' | 'record'>): Promise<void> => {
    for (const request of requests) {
      const { method = 'GET', path, headers = {} } = request
      const key = `${method} ${path} ${headers['if-none-match'] ?? ''}`
      await callJson(`${sides.bare}/recorded`, { body: { key, ...(await record(request)) } })
    }
  }

  /** Measures shapes one after another, and shows a row for each number of callers. */
  const compare = async (shapes: readonly Shape[], rounds?: Rounds): Promise<Measured[]> => {
    const all: Measured[] = []
    showHead(loadavg()[0] ?? 0)
    for (const shape of shapes) {
      await tell(shape)
      for (const concurrency of shape.before ? [1] : CONCURRENCIES) {
        const measured = await measureShape(shape, concurrency, sides, rounds)
        showRow(measured, await callJson<number>(`${sides.bare}/times`))
        all.push(measured)
      }
    }
    return all
  }
  return { sides, hear: recorder.hear, tell, compare }
}
