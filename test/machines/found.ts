import type { Sql } from '../../src/platform/db/client.ts'
import { IMAGE_API } from '../support/client.ts'
import type { Callers } from './callers.ts'
import type { Say } from './run.ts'

interface Place {
  sql: Sql
  callers: Pick<Callers, 'accepted'>
  /** Tasks that were accepted later and may be there. */
  later?: ReadonlyMap<string, unknown>
  /** Base URL of an api. */
  url: string
  /** Bearer of the owner. */
  token: string
}

/** Looks whether each accepted task is there, has ended well, once, and its result is served; says what is not so. */
export const countBroken = async (
  { sql, callers, later, url, token }: Place,
  say: Say,
): Promise<boolean> => {
  const ids = [...callers.accepted.keys()]
  const rows = await sql<{ id: string; kind: string; status: string; events: number }[]>`
    select id, kind, status, (select count(*)::integer from event e where e.task_id = t.id) as events
    from task t
  `
  const found = new Map(rows.map((row) => [row.id, row]))
  const headers = { authorization: `Bearer ${token}` }
  const served = new Map<string, boolean>()
  const check = async (id: string): Promise<void> => {
    const task = await fetch(`${url}${IMAGE_API}/image-relight/${id}`, { headers })
    const link = /https?:[^"]*\/files\/[^"]*/.exec(await task.text())?.[0]
    const file = link === undefined ? undefined : await fetch(link)
    served.set(id, file?.status === 200 && (await file.arrayBuffer()).byteLength > 0)
  }
  for (let first = 0; first < ids.length; first += 8)
    await Promise.all(ids.slice(first, first + 8).map(check))
  const counts = {
    accepted: ids.length,
    lost: ids.filter((id) => !found.has(id)).length,
    'not done': rows.filter(({ status }) => status !== 'COMPLETED').length,
    'ended more than once': rows.filter(({ events }) => events !== 3).length,
    'not asked for': rows.filter(({ id }) => !callers.accepted.has(id) && !later?.has(id)).length,
    'result not served': ids.filter((id) => found.has(id) && !served.get(id)).length,
  }
  say(
    Object.entries(counts)
      .map(([what, count]) => `${what}: ${count}`)
      .join(', '),
  )
  const { accepted: _accepted, ...broken } = counts
  return Object.values(broken).every((count) => count === 0)
}
