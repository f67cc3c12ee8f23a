import { randomUUID } from 'node:crypto'

import { CONTEXTS, type Secrets } from '../adapters/secrets.ts'
import { withinDeadline, type Sql, type Transaction } from '../db/client.ts'
import {
  claimKey,
  LEASE_SECONDS,
  releaseClaim,
  renewClaim,
  storeResponse,
} from '../db/idempotency.ts'
import type { IdempotencyScope, StoredResponse } from '../db/idempotency.ts'
import { ApiError, errors } from '../domain/errors.ts'
import type { Fingerprints } from '../json-body/fingerprint.ts'
import type { Log } from '../log.ts'
import { startLoop } from './loop.ts'

/** A response as it is saved: of one with `text` that is its body. */
export interface ResponseToSave {
  status: number
  body?: unknown
  text?: string
  headers?: Record<string, string>
}

/**
 * The hold of one request on its key. It begins before the body is read, and ends when the response is stored or the
 * key is released.
 */
export interface Claim {
  /**
   * The stored response for a body with one of these fingerprints. Undefined: the request must be executed. Throws 422
   * for another body.
   */
  replay(fingerprints: Fingerprints): ResponseToSave | undefined
  /** Saves the response, in the transaction that makes it true when there is one. */
  save(response: ResponseToSave, fingerprints: Fingerprints, sql?: Transaction): Promise<void>
  /** Ends the hold of a request that has its response. @throws {Error} when its response was not saved */
  keep(): void
  /** Frees the key unless a response was stored. Never rejects: the lease ends by itself. */
  release(): Promise<void>
}

export interface ClaimOptions {
  scope: IdempotencyScope
  /** The response holds a secret. */
  secret: boolean
}

/** Makes the keeper of Idempotency-Key records. */
export const makeIdempotency = ({
  sql,
  secrets,
  log,
}: {
  sql: Sql
  secrets: Secrets
  log: Log
}) => ({
  async claim({ scope, secret }: ClaimOptions): Promise<Claim> {
    const claim = randomUUID()
    const found = await withinDeadline(sql, claimKey(sql, scope, claim))
    if (found.result === 'in_flight') throw errors.idempotencyInFlight()
    if (found.result === 'done') return makeReplay(found.response, secrets)
    const renewal = startLoop(
      'idempotency claim',
      () => withinDeadline(sql, renewClaim(sql, claim, scope)),
      {
        intervalMs: (LEASE_SECONDS * 1000) / 3,
        isLate: true,
        log,
      },
    )
    let isSaved = false
    return {
      replay: () => undefined,
      async save(response, [fingerprint], transaction) {
        const stored = encode(response, fingerprint, secret ? secrets : undefined)
        isSaved = transaction
          ? await storeResponse(transaction, claim, scope, stored)
          : await withinDeadline(sql, storeResponse(sql, claim, scope, stored))
        if (!isSaved) throw errors.idempotencyInFlight()
      },
      keep() {
        if (!isSaved) throw new Error(`${scope.path} ended without saveIdempotentResponse`)
        void renewal.stop()
      },
      async release() {
        void renewal.stop()
        await releaseClaim(sql, claim, scope).catch((error: unknown) =>
          log.warn({ err: error }, 'idempotency claim not released; its lease ends by itself'),
        )
      },
    }
  },
})

export type Idempotency = ReturnType<typeof makeIdempotency>

const makeReplay = (response: StoredResponse, secrets: Secrets): Claim => ({
  replay(fingerprints) {
    if (!fingerprints.includes(response.fingerprint)) throw errors.idempotencyMismatch()
    return decode(response, secrets)
  },
  save: () => Promise.reject(new Error('the response of a replayed request is saved already')),
  keep: () => {},
  release: () => Promise.resolve(),
})

const encode = (
  response: ResponseToSave,
  fingerprint: string,
  secrets: Secrets | undefined,
): StoredResponse => {
  const text = response.text ?? JSON.stringify(response.body) ?? null
  return {
    fingerprint,
    status: response.status,
    headers: response.headers ?? {},
    body: text !== null && secrets ? secrets.encrypt(text, CONTEXTS.response()) : text,
    encrypted: secrets !== undefined,
  }
}

const decode = (response: StoredResponse, secrets: Secrets): ResponseToSave => {
  const text =
    response.body !== null && response.encrypted
      ? secrets.decrypt(response.body, CONTEXTS.response())
      : response.body
  return {
    status: response.status,
    headers: { ...response.headers, 'idempotent-replayed': 'true' },
    ...(text === null ? {} : { body: JSON.parse(text) as unknown }),
  }
}

/** Runs the work of a request whose key is claimed, and frees the key when it is rejected or fails. */
export const underClaim = async <T>(
  claim: Claim | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    const result = await work()
    claim?.keep()
    return result
  } catch (error) {
    const released = claim?.release()
    // A database that does not respond delays the release too, and the caller has waited long enough for its 503.
    if (error instanceof ApiError && error.status < 500) await released
    throw error
  }
}

/** Makes the stored response: the request that repeats it brings the member that the response repeats. */
export const withoutEcho = <Result extends ResponseToSave>(
  echo: string | undefined,
  result: Result,
): Result => {
  if (echo === undefined) return result
  const { [echo]: _repeated, ...body } = result.body as Record<string, unknown>
  return { ...result, body }
}
