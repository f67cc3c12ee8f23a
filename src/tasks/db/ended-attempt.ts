import type { Fragment, Queryable } from '../../platform/db/client.ts'

/** End of an attempt whose task was put back among the waiting tasks, in place of the code of its error. */
export const PUT_BACK = 'put_back'

/** Makes the attempts of a `task` in which the last one, which holds the fence, ends now with a code. */
export const endedAttempt = (sql: Queryable, code: string): Fragment => sql`
  case when (attempts->-1->>'n')::integer = fence
    then jsonb_set(attempts, '{-1}', (attempts->-1)
      || jsonb_build_object('failed_at', clock_timestamp(), 'error', ${code}::text))
    else attempts end
`
