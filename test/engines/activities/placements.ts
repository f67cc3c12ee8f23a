import type { Place } from '../../tasks/activities/place.ts'

interface SeenPlacement {
  id: string
  instance: string
  state: string
  detail: string | null
  cleaned: boolean
}

export const seePlacements = async (place: Place, taskId: string): Promise<SeenPlacement[]> =>
  await place.database.sql<SeenPlacement[]>`
    select id, instance, state, detail, cleaned_at is not null as cleaned
    from placement where task_id = ${taskId} order by at
  `

/** States of a task's placements, in their order. */
export const seeEnds = async (place: Place, taskId: string): Promise<string[]> =>
  (await seePlacements(place, taskId)).map(({ state }) => state)
