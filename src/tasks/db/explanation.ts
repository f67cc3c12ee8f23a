import type { Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { isActive, scopesOf } from './pause.ts'

/** Facts around a task that are of use to operators alone. */
export interface TaskContext {
  /** Scopes that an admin has paused and it is of. */
  pauses: string[]
  /** Reason of waits-for.ts that says which worker is missing; null where those live that it needs. */
  missingWorker: string | null
  /** Row of the outbox that is to start its workflow; null once Temporal has it. */
  start: { attempts: number; error: string | null } | null
  /** Its last place among the instances of an engine that has several; null of any other. */
  placement: {
    instance: string
    state: string
    detail: string | null
    at: string
    endedAt: string | null
  } | null
}

export const readTaskContext = async (sql: Sql, id: string): Promise<TaskContext> => {
  const [row] = await sql<TaskContext[]>`
    select
      array(select scope from pause
        where scope = any(${scopesOf(sql, sql`t`)}) and ${isActive(sql)} order by scope) as pauses,
      missing_worker(t.engine) as "missingWorker",
      (select jsonb_build_object('attempts', o.attempts, 'error', o.last_error) from outbox o
        where o.workflow_id = t.family || '-task/' || t.id and o.kind <> 'signal'
          and o.dispatched_at is null
        order by o.id desc limit 1) as start,
      (select jsonb_build_object('instance', p.instance, 'state', p.state, 'detail', p.detail,
          'at', ${instant(sql, sql`p.at`)}, 'endedAt', ${instant(sql, sql`p.ended_at`)})
        from placement p where p.task_id = t.id order by p.at desc limit 1) as placement
    from task t where t.id = ${id}
  `
  return row ?? { pauses: [], missingWorker: null, start: null, placement: null }
}
