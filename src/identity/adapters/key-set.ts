import { createRemoteJWKSet, customFetch, errors as joseErrors } from 'jose'
import type { FetchImplementation, JWTVerifyGetKey } from 'jose'

import { errors } from '../../platform/domain/errors.ts'
import { inTime, LateError } from '../../platform/domain/in-time.ts'
import { adviseAuthority } from '../../platform/outbound/authority.ts'
import type { Log } from '../../platform/log.ts'
import type { OutboundRules } from '../../platform/outbound/client.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import { resolveBySystem } from '../../platform/outbound/resolver.ts'

export interface KeySetOptions {
  url: string
  log: Pick<Log, 'warn'>
  /** Milliseconds that never go back; a stepped wall clock would stop or flood the fetches. */
  clock?: (() => number) | undefined
  /** In place of the global one, which dials any address. */
  fetch: FetchImplementation
}

/** The largest known documents have a tenth of these bytes. */
export const KEY_SET_LIMITS = { maxBytes: 262_144, timeoutMs: 5_000, maxRedirects: 0 }

/** Makes the fetch of the key set that an operator has named, which may be anywhere. */
export const makeFetchKeys = (url: string, rules: OutboundRules): FetchImplementation => {
  const trusted = new URL(url).origin
  const outbound = makeOutbound({ ...rules, trusted, resolve: resolveBySystem })
  return async (asked, { signal }) =>
    new Response(new Uint8Array(await outbound.read({ url: asked, signal, ...KEY_SET_LIMITS })))
}

/** Fetches the key set at an address and returns how many keys it has. Throws when there is none. */
export const readKeySet = async (url: string, fetch: FetchImplementation): Promise<number> => {
  const remote = createRemoteJWKSet(new URL(url), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    [customFetch]: fetch,
  })
  await remote.reload()
  return remote.jwks()?.keys.length ?? 0
}

/**
 * Makes the look-up of the issuer's signing keys. They are fetched on first need, again when older than 10 minutes or
 * when a token names an unknown key, at most every 30 s, and serve for 24 hours while the issuer is down. Throws
 * `auth_unavailable` while none are known.
 *
 * jose fetches, parses and matches; the times are kept here, because jose counts its cool-down from the last fetch that
 * succeeded, so that every request would dial an issuer that is down.
 */
export const makeKeySet = ({
  url,
  log,
  clock = () => performance.now(),
  fetch,
}: KeySetOptions): JWTVerifyGetKey => {
  const remote = createRemoteJWKSet(new URL(url), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: Number.POSITIVE_INFINITY,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: fetch,
  })
  const state: State = {
    attempted: undefined,
    fetched: undefined,
    running: undefined,
    error: undefined,
  }
  const since = (time: number | undefined) =>
    time === undefined ? Number.POSITIVE_INFINITY : clock() - time

  const fetchKeys = async (): Promise<void> => {
    state.attempted = clock()
    try {
      await remote.reload()
      state.fetched = clock()
    } catch (error) {
      state.error = error
      const advice = adviseAuthority(error)
      const what = 'the key set of the issuer could not be fetched'
      log.warn({ err: error }, advice === undefined ? what : `${what}: ${advice}`)
    } finally {
      state.running = undefined
    }
  }

  /**
   * Waits for the fetch that runs, or for a new one where the cool-down allows it, but not for long. Returns false when
   * there was none.
   */
  const refresh = async (): Promise<boolean> => {
    const coolDown = state.fetched === undefined ? FIRST_COOL_DOWN_MS : COOL_DOWN_MS
    if (state.running === undefined && since(state.attempted) >= coolDown)
      state.running = fetchKeys()
    if (state.running === undefined) return false
    await inTime(state.running, PATIENCE_MS, 'the issuer').catch(forgiveLate)
    return true
  }

  return async (header, token) => {
    if (since(state.fetched) >= FRESH_MS) await refresh()
    if (since(state.fetched) >= KEPT_MS) throw errors.authUnavailable(state.error)
    try {
      return await remote(header, token)
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSNoMatchingKey) || !(await refresh())) throw error
      return await remote(header, token)
    }
  }
}

interface State {
  /** Start of the last fetch and end of the last good one, in the clock's milliseconds. */
  attempted: number | undefined
  fetched: number | undefined
  running: Promise<void> | undefined
  error: unknown
}

const FETCH_TIMEOUT_MS = 5_000
const COOL_DOWN_MS = 30_000
/** Every request waits for the first key set, so an issuer that starts late is asked again when Retry-After ends. */
const FIRST_COOL_DOWN_MS = 5_000
const FRESH_MS = 600_000
const KEPT_MS = 86_400_000
/** A request gets its response within 2 s. A slower fetch goes on for the requests after it. */
const PATIENCE_MS = 1_500

/** Lets a fetch that takes longer than a request may wait pass: it is no error. */
const forgiveLate = (error: unknown): void => {
  if (!(error instanceof LateError)) throw error
}
