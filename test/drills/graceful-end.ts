import { Client } from '@temporalio/client'

import { IMAGE_API, makeClient } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import type { World } from '../nemesis/world.ts'
import { waitFor } from '../support/wait.ts'

const RENDERS = 50
const AIM_MS = 2000

/**
 * Ends a core worker by SIGTERM while renders are under way; measures in their histories how long each waited after its
 * render for the next step, which the other worker takes.
 */
export const endGracefully = async (
  { service, members, temporal, postgres }: World,
  say: (line: string) => void,
): Promise<boolean> => {
  say('\n== a core worker ends gracefully beside 50 renders')
  const client = makeClient(service.baseUrl, await service.token('erin'))
  const image = await base64({ width: 1600, height: 1600 })
  const ids = await Promise.all(
    Array.from({ length: RENDERS }, async () => {
      const { body } = await client.create(`${IMAGE_API}/image-relight`, { image })
      return body.data.task_id
    }),
  )
  const { sql } = postgres.database
  const count = async () => {
    const [row] = await sql<{ ended: number }[]>`
      select count(*) filter (where ended_at is not null)::int as ended from task
      where id = any(${ids})
    `
    return row?.ended ?? 0
  }
  await waitFor('a few have ended', async () => (await count()) >= 5)
  const one = members.get('core-1')
  const at = Date.now()
  one?.entry?.signal('SIGTERM')
  const how = await one?.entry?.end()
  const tookMs = Date.now() - at
  await waitFor('all have ended', async () => (await count()) === RENDERS, 300_000)
  await one?.start()
  const { workflow } = new Client({ connection: temporal.connection })
  const waits: number[] = []
  for (const id of ids) {
    const { events = [] } = await workflow.getHandle(`image-task/${id}`).fetchHistory()
    let ready: number | undefined
    for (const { eventTime, activityTaskCompletedEventAttributes: done, ...event } of events ??
      []) {
      const ms = Number(eventTime?.seconds) * 1000 + (eventTime?.nanos ?? 0) / 1e6
      if (done) ready = ms
      if (event.workflowTaskCompletedEventAttributes && ready !== undefined) {
        if (ready > at) waits.push(ms - ready)
        ready = undefined
      }
    }
  }
  const longest = Math.max(...waits)
  say(`  it ended (${how}) within ${tookMs} ms; ${waits.length} renders ended after its signal`)
  say(`  longest wait for the next step: ${longest.toFixed(0)} ms (aim ${AIM_MS})`)
  return longest <= AIM_MS
}
