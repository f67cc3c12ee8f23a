import type { Queryable, Sql } from '../../platform/db/client.ts'
import { endOfLogs, hasEnded, type Prediction } from '../domain/cog/prediction.ts'

/** Prediction of a placement, as far as it is known. */
export interface SeenPrediction {
  wasSent: boolean
  /** Changes with whatever its engine says of it. */
  heardAt: Date | null
  logs: string
  hasEnded: boolean
}

/** Finds what is known of a prediction; undefined of a placement that is none. */
export const findPrediction = async (sql: Sql, id: string): Promise<SeenPrediction | undefined> => {
  const [row] = await sql<SeenPrediction[]>`
    select sent_at is not null as "wasSent", heard_at as "heardAt", coalesce(logs, '') as logs,
      prediction is not null as "hasEnded"
    from placement where id = ${id}
  `
  return row
}

export const readEndedPrediction = async (sql: Sql, id: string): Promise<Prediction> => {
  const [row] = await sql<{ prediction: string | null }[]>`
    select prediction from placement where id = ${id}
  `
  return JSON.parse(row?.prediction ?? '{}') as Prediction
}

/** Records that a prediction is sent now. False: another attempt follows its task. */
export const recordSent = async (
  sql: Sql,
  { id, task }: { id: string; task: { id: string; fence: number } },
): Promise<boolean> => {
  const { count } = await sql`
    update placement set sent_at = coalesce(sent_at, clock_timestamp())
    where id = ${id} and exists (
      select from task where id = ${task.id} and fence = ${task.fence} and ended_at is null
    )
  `
  return count > 0
}

/** The condition that `task t` still waits for `placement p`, whose end nobody knows. */
const isAwaited = (sql: Queryable) => sql`
  p.state = 'open' and p.ended_at is null and p.prediction is null and p.sent_at is not null
  and t.id = p.task_id and t.ended_at is null and t.upstream_id = p.instance || '/' || p.id
`

/** Records what an engine says of a prediction; its end is the first one. False: nobody waits for that. */
export const recordPrediction = async (
  sql: Queryable,
  id: string,
  prediction: Prediction,
): Promise<boolean> => {
  const end = hasEnded(prediction) ? JSON.stringify({ ...prediction, logs: '' }) : null
  const { count } = await sql`
    update placement p
    set heard_at = clock_timestamp(), logs = ${endOfLogs(prediction.logs)}, prediction = ${end}
    from task t
    where p.id = ${id} and ${isAwaited(sql)}
  `
  return count > 0
}

/** Finds the task that waits for a prediction. */
export const findPredictedTask = async (sql: Sql, id: string): Promise<string | undefined> => {
  const [row] = await sql<{ id: string }[]>`
    select t.id from placement p, task t where p.id = ${id} and ${isAwaited(sql)}
  `
  return row?.id
}
