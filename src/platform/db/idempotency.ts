import type { Queryable, Sql } from './client.ts'

/** The scope of an Idempotency-Key and the key itself. */
export interface IdempotencyScope {
  principal: string
  method: string
  path: string
  key: string
}

export interface StoredResponse {
  fingerprint: string
  status: number
  headers: Record<string, string>
  /** JSON text, encrypted when `encrypted`. Absent for a response without a body. */
  body: string | null
  encrypted: boolean
}

/**
 * A crashed process holds a key for this long, so a caller who repeats for half a minute gets through; a living one
 * renews its claim every third of it. Whoever loses the claim all the same commits nothing.
 */
export const LEASE_SECONDS = 10

type Claim =
  | { result: 'claimed' }
  | { result: 'in_flight' }
  | { result: 'done'; response: StoredResponse }

/**
 * Claims a key for the request `claim`, taking over the claim of a process that died. A response that is stored is
 * returned instead. Records live 24 hours from the first use; an older one is as if it were not there.
 */
export const claimKey = async (
  sql: Sql,
  scope: IdempotencyScope,
  claim: string,
): Promise<Claim> => {
  const { principal, method, path, key } = scope
  const [claimed] = await sql`
    insert into idempotency as i (principal, method, path, key, claim, lease_until)
    values (${principal}, ${method}, ${path}, ${key}, ${claim},
      clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (principal, method, path, key) do update set
      claim = excluded.claim,
      lease_until = excluded.lease_until,
      created_at = excluded.created_at,
      fingerprint = null,
      status = null,
      headers = null,
      body = null
    where (i.status is null and i.lease_until < clock_timestamp())
      or i.created_at < clock_timestamp() - interval '24 hours'
    returning 1
  `
  if (claimed) return { result: 'claimed' }
  const response = await findResponse(sql, scope)
  return response ? { result: 'done', response } : { result: 'in_flight' }
}

const findResponse = async (
  sql: Sql,
  { principal, method, path, key }: IdempotencyScope,
): Promise<StoredResponse | undefined> => {
  const [row] = await sql<StoredResponse[]>`
    select fingerprint, status, headers, body, encrypted
    from idempotency
    where principal = ${principal} and method = ${method} and path = ${path} and key = ${key}
      and status is not null
  `
  return row
}

/** Prolongs the claim of a request whose body still arrives. */
export const renewClaim = async (
  sql: Sql,
  claim: string,
  scope: IdempotencyScope,
): Promise<void> => {
  await sql`
    update idempotency
    set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path}
      and key = ${scope.key} and claim = ${claim} and status is null
  `
}

/** Frees the key of a request that was rejected or failed; a response that was committed after all stays. */
export const releaseClaim = async (
  sql: Sql,
  claim: string,
  scope: IdempotencyScope,
): Promise<void> => {
  await sql`
    delete from idempotency
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path}
      and key = ${scope.key} and claim = ${claim} and status is null
  `
}

/** Stores the response; false when another request has taken the claim over. */
export const storeResponse = async (
  sql: Queryable,
  claim: string,
  scope: IdempotencyScope,
  response: StoredResponse,
): Promise<boolean> => {
  const rows = await sql`
    update idempotency
    set fingerprint = ${response.fingerprint},
      status = ${response.status},
      headers = ${sql.json(response.headers)},
      body = ${response.body},
      encrypted = ${response.encrypted}
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path}
      and key = ${scope.key} and claim = ${claim} and status is null
    returning 1
  `
  return rows.length === 1
}
