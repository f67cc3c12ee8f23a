import { KEY_EXPIRING, TOKEN_EXPIRING } from '../domain/endpoint.ts'
import type { Queryable } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { failpoint } from '../../platform/process/failpoint.ts'

/** Days before the end of a key in which somebody can replace it. The console marks keys for as long. */
const WARNED_DAYS = 7

/** The condition that a key or token ends soon, is not warned of, and was not made for an hour alone, as that of a CI job is. */
const isDue = (sql: Queryable) => sql`
  k.warned_at is null and k.revoked_at is null and k.expires_at is not null
  and k.expires_at > now() and k.expires_at < now() + make_interval(days => ${WARNED_DAYS})
  and k.expires_at > k.created_at + interval '1 hour'
`

/**
 * Writes an event for each API key and personal access token that ends soon, once it has an endpoint that wants one. The
 * same statement marks the key: each has one event, whichever process dies. A pass takes a hundred of each.
 */
export const warnOfKeys = async (sql: Queryable): Promise<void> => {
  const keys = await sql`
    with due as (
      select k.id from api_key k
      where ${isDue(sql)} and exists (
        select from endpoint p
        where p.owner = k.owner and p.status = 'enabled' and ${KEY_EXPIRING} = any(p.events)
      )
      order by k.expires_at limit 100 for no key update skip locked
    ), warned as (
      update api_key k set warned_at = clock_timestamp() from due where k.id = due.id
      returning k.*
    )
    select record_owner_event(owner, ${KEY_EXPIRING}, id, jsonb_build_object('api_key_id', id,
      'name', name, 'scopes', scopes, 'expires_at', ${instant(sql, sql`expires_at`)},
      'last_used_at', ${instant(sql, sql`last_used_at`)}))
    from warned
  `
  if (keys.length > 0) failpoint('warn.after-keys')
  const tokens = await sql`
    with due as (
      select k.id from personal_access_token k
      where ${isDue(sql)} and exists (
        select from endpoint p
        where p.publisher_id = k.publisher_id and p.status = 'enabled'
          and ${TOKEN_EXPIRING} = any(p.events)
      )
      order by k.expires_at limit 100 for no key update skip locked
    ), warned as (
      update personal_access_token k set warned_at = clock_timestamp() from due where k.id = due.id
      returning k.*
    )
    select record_publisher_event(publisher_id, ${TOKEN_EXPIRING}, id, jsonb_build_object(
      'token_id', id, 'name', name, 'scope', scope, 'node_id', node_id,
      'created_by', shown_user(created_by), 'expires_at', ${instant(sql, sql`expires_at`)}))
    from warned
  `
  if (tokens.length > 0) failpoint('warn.after-tokens')
}
