import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { TaskState } from '../../src/tasks/domain/task-item.ts'
import { useDatabase } from './stack.ts'
import { insertTasks } from './task-rows.ts'

describe('rows of tasks', () => {
  const { sql } = useDatabase()

  for (const kind of ['relight', 'text2video'] as const)
    for (const state of TaskState.enum)
      test(`of ${kind} ${state} are whole, each with its own owner and time`, async () => {
        const columns = {
          owner: sql`${`${kind} ${state} `} || n`,
          created_at: sql`now() - n * interval '1 hour'`,
        }
        const given = { kind, state, columns, options: { labels: { a: 'b' } } }
        const ids = await insertTasks(sql, { ...given, first: 3, step: 2, count: 2 })
        const rows = await sql`
          select right(t.owner, 1) as n, current_state(status, error_code, waits_on) as state,
            extract(hour from now() - t.created_at)::integer as hours, labels->>'' = account as "isOwn",
            (waits_on is null) = (admission = 1) as "isAdmitted",
            (select max(sequence) = last_sequence and max(e.created_at) = last_moved_at
              and bool_and(e.created_at >= t.created_at) from event e where task_id = t.id) as "hasEvents",
            (attempts->0->>'at')::timestamptz is not distinct from claimed_at as "isClaimed",
            (select count(*)::integer from task_result
              where task_id = t.id and storage_key like '%' || t.id || '%') as files,
            o.credits_used = (select coalesce(sum(case l.kind when 'charge' then l.credits else -l.credits end), 0)
              from ledger l where l.owner = o.id) as "isCharged"
          from task t join owner o on o.id = t.account
          where t.id = any(${ids}::uuid[]) order by 1
        `
        const all = {
          isOwn: true,
          isAdmitted: true,
          hasEvents: true,
          isClaimed: true,
          isCharged: true,
        }
        const row = (n: number) => ({
          n: `${n}`,
          hours: n,
          state,
          files: Number(state === 'done'),
          ...all,
        })
        assert.deepEqual([...rows], [row(3), row(5)])
      })
})
