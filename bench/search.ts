import { loadavg } from 'node:os'

import { CONCURRENCIES, measureShape } from './search/measure.ts'
import type { Measured } from './search/measure.ts'
import { showFigures, showHead, showRow, showWalk } from './search/report.ts'
import { listShapes } from './search/shapes.ts'
import { makeHttpSide, startBare, tellBare } from './search/sides.ts'
import { startRecorder } from './search/statements.ts'
import { listPages, measureWalk } from './search/walk.ts'
import { startApi, withRegistry } from './support/registry.ts'

/** A quick look: `NODES=20000 npm run bench -- search`. */
const NODES = Number(process.env['NODES'] ?? 100_000)

/**
 * Reads of the registry at 100,000 nodes and 1,000,000 versions, over HTTP against a real api process without rate
 * limits, and against a bare Express 5 with postgres.js in a process of its own, which sends the same statements and
 * answers the same JSON: no schemas, no limits, nothing that is planned, and no texts of nodes in memory. Each of 1, 16
 * and 64 callers sends its next request when it has the answer to the last; both sides take turns, and a figure is the
 * middle of three rounds. The service is to cost at most what the bare server does: a ratio of 2 for the median and the
 * 99th percentile. And with one caller no 99th percentile is above 50 ms.
 *
 * Counts of filters are in memory where the api keeps them, which is until something is published; what the first search
 * after that costs is a shape of its own. All processes share the cores of this machine.
 */
export const run = async (): Promise<void> =>
  await withRegistry(NODES, async ({ url, sql }) => {
    const service = await startApi({ url, sql })
    const recorder = await startRecorder(url, service.baseUrl)
    const bare = await startBare(url)
    try {
      const sides = { http: makeHttpSide(service.baseUrl), bare: makeHttpSide(bare.baseUrl) }
      const shapes = await listShapes(sql, service.baseUrl)
      const all: Measured[] = []
      showHead(loadavg()[0] ?? 0)
      for (const shape of shapes) {
        await tellBare(bare.baseUrl, recorder, shape)
        for (const concurrency of shape.before ? [1] : CONCURRENCIES) {
          const measured = await measureShape(shape, concurrency, sides)
          const sqlMs = Number(await (await fetch(`${bare.baseUrl}/times`)).text())
          showRow(measured, sqlMs)
          all.push(measured)
        }
      }
      const pages = listPages(NODES)
      await tellBare(bare.baseUrl, recorder, { requests: pages })
      const walk = await measureWalk(pages, sides)
      showWalk(walk)
      showFigures(all, walk)
    } finally {
      await bare.stop()
      await recorder.stop()
      await service.stop()
    }
  })
