import type { HttpRequest } from './http-client.ts'
import type { Side } from './sides.ts'

const LIMIT = 1_000
const ROUNDS = 3

/** Seconds of a full sync, `GET /nodes` page by page, by one caller. */
export interface Walk {
  http: number[]
  bare: number[]
}

export const listPages = (nodes: number): HttpRequest[] =>
  Array.from({ length: Math.ceil(nodes / LIMIT) }, (_, at) => ({
    path: `/nodes?limit=${LIMIT}&page=${at + 1}`,
  }))

export const measureWalk = async (
  requests: HttpRequest[],
  sides: { http: Side; bare: Side },
): Promise<Walk> => {
  const walk: Walk = { http: [], bare: [] }
  for (const name of ['bare', 'http'] as const) {
    const lane = await sides[name].openLane({ requests: requests.slice(0, 1) })
    for (let at = 0; at < 20; at += 1) await lane.call(at)
    lane.close()
  }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of ['bare', 'http'] as const) {
      const lane = await sides[name].openLane({ requests })
      const start = performance.now()
      for (let at = 0; at < requests.length; at += 1) await lane.call(at)
      walk[name].push((performance.now() - start) / 1000)
      lane.close()
    }
  return walk
}
