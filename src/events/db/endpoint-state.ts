import type { DisabledReason } from '../domain/endpoint.ts'
import type { Transaction } from '../../platform/db/client.ts'
import type { AttemptVerdict } from './attempt.ts'

/**
 * Records what the outcome of an attempt means for the subscription: it works, it fails, or it is switched off. True
 * when it was switched off; the caller then stops its events. A lost attempt says nothing of the subscriber's server.
 */
export const recordOutcome = async (
  sql: Transaction,
  id: string,
  verdict: AttemptVerdict,
): Promise<boolean> => {
  if (verdict.state === 'stopped') return await disableEndpoint(sql, id, 'gone')
  if (verdict.state === 'delivered') {
    await sql`update endpoint set failing_since = null where id = ${id} and failing_since is not null`
    return false
  }
  await sql`
    update endpoint set failing_since = clock_timestamp() where id = ${id} and failing_since is null
  `
  if (verdict.state !== 'exhausted' || verdict.disableSeconds === undefined) return false
  return await disableEndpoint(sql, id, 'failing', verdict.disableSeconds)
}

/**
 * Switches an endpoint off; false when it is not on, or has not failed for so many seconds. The caller stops its events.
 */
export const disableEndpoint = async (
  sql: Transaction,
  id: string,
  reason: DisabledReason,
  afterSeconds: number | null = null,
): Promise<boolean> => {
  const { count } = await sql`
    update endpoint
    set status = 'disabled', disabled_reason = ${reason}, disabled_at = clock_timestamp()
    where id = ${id} and status = 'enabled' and (
      ${afterSeconds}::float8 is null
      or failing_since <= clock_timestamp() - make_interval(secs => ${afterSeconds}::float8)
    )
  `
  return count === 1
}

/** Nothing that is due is sent any more. */
export const stopEndpointEvents = async (sql: Transaction, id: string): Promise<void> => {
  await sql`
    update redelivery set state = 'stopped', next_attempt_at = null
    where state = 'pending' and event_id in (select e.id from event e where e.endpoint_id = ${id})
  `
  await sql`
    update event set state = 'stopped', next_attempt_at = null
    where state = 'pending' and endpoint_id = ${id}
  `
}
