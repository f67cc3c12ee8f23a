import { startComparison } from './search/compare.ts'
import { showResults } from './search/report.ts'
import { listShapes } from './search/shapes.ts'
import { startApi, withRegistry } from './support/registry.ts'

/** A quick look: `NODES=20000 npm run bench -- search`. */
const NODES = Number(process.env['NODES'] ?? 100_000)

/**
 * Reads of the registry at 100,000 nodes and 1,000,000 versions, over HTTP against a real api process without rate
 * limits, and against a bare Express 5 with postgres.js in a process of its own, which sends the same statements and
 * returns the same JSON: no schemas, no limits, nothing that is planned, and no texts of nodes in memory. Each of 1, 16
 * and 64 callers sends its next request when it has the response to the last; both sides take turns, and a result is the
 * middle of three rounds. The service is to cost at most what the bare server does: a ratio of 2 for the median and the
 * 99th percentile. And with one caller no 99th percentile is above 50 ms.
 *
 * Counts of filters are in memory where the api keeps them, which is until something is published; what the first search
 * after that costs is a shape of its own. All processes share the cores of this machine.
 */
export const run = async (): Promise<void> =>
  await withRegistry(NODES, async (keep, { url, sql }) => {
    const service = keep(await startApi({ url, sql }))
    const { compare } = await startComparison(keep, url, service)
    showResults(await compare(await listShapes(sql)))
  })
