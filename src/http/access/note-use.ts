import { withinDeadline } from '../../db/client.ts'
import type { Sql } from '../../db/client.ts'
import type { Log } from '../../log.ts'

/** Notes the use of a credential, which counts whether that succeeds or not. */
export const noteUse = async (
  { sql, log }: { sql: Sql; log: Pick<Log, 'warn'> },
  what: string,
  touch: Promise<void>,
): Promise<void> => {
  await withinDeadline(sql, touch).catch((error: unknown) =>
    log.warn({ err: error }, `the last use of ${what} was not noted`),
  )
}
