import { loadavg } from 'node:os'

import { startEntry } from '../../test/support/entry.ts'
import type { Service } from '../../test/support/service.ts'
import { callJson } from '../support/call.ts'
import type { Keep } from '../../test/support/keep.ts'
import { CONCURRENCIES, measureShape } from './measure.ts'
import type { Measured, Rounds, Sides } from './measure.ts'
import { showHead, showRow } from './report.ts'
import type { Shape } from './shapes.ts'
import { startRecorder } from './statements.ts'

/** Starts a bare Express on the database of a service, which gets the statements and responses of requests. */
export const startComparison = async (keep: Keep, databaseUrl: string, service: Service) => {
  const recorder = keep(await startRecorder(databaseUrl, service))
  const { log, kill } = await startEntry({
    path: 'bench/support/bare-express.ts',
    args: [databaseUrl],
    readyMessage: 'bare ready',
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
  })
  keep({ stop: kill })
  const ready = log.find((line) => line.includes('bare ready')) ?? '{}'
  const { port } = JSON.parse(ready) as { port: number }
  const sides: Sides = { http: service.baseUrl, bare: `http://127.0.0.1:${port}` }

  const report = async (shape: Pick<Shape, 'requests' | 'before' | 'owners'>): Promise<void> => {
    const byKey = new Map(shape.requests.map((request) => [keyOf(request), request]))
    for (const [key, request] of byKey) {
      const recorded = await recorder.record(request, shape)
      await callJson(`${sides.bare}/recorded`, { body: { key, ...recorded } })
    }
  }

  /** Measures shapes one after another, and shows a row for each number of callers. */
  const compare = async (shapes: readonly Shape[], rounds?: Rounds): Promise<Measured[]> => {
    const all: Measured[] = []
    showHead(loadavg()[0] ?? 0)
    for (const shape of shapes) {
      await report(shape)
      for (const concurrency of shape.before ? [1] : CONCURRENCIES) {
        const measured = await measureShape(shape, concurrency, sides, rounds)
        showRow(measured, await callJson<number>(`${sides.bare}/times`))
        all.push(measured)
      }
    }
    return all
  }
  return { compare }
}

/** Those of one key lead to the same. */
const keyOf = ({ method = 'GET', path }: Shape['requests'][number]): string => `${method} ${path}`
