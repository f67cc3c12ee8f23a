import { createHash } from 'node:crypto'

import type { Request, Response } from 'express'

import { errors, shown } from '../../domain/errors.ts'
import { makeOnce } from '../../domain/make-once.ts'
import { makeValidateBounds } from '../../domain/time-bounds.ts'
import { describeUnread, listUnreadNames, type Unread } from '../../domain/unread.ts'
import { makeIssue, onePerField, sortIssues, type Issue } from '../../domain/validate.ts'
import type { Caller } from '../access/caller.ts'
import { isNamed } from '../path.ts'
import type { AliasTable } from '../../alias/table.ts'
import { makeOpen, type Translation } from '../../alias/translation.ts'
import { requireValid } from '../../json-body/validate-body.ts'
import { sendContinue } from './expect.ts'
import { sendJson } from './json-response.ts'
import { underClaim, withoutEcho, type Claim, type Idempotency } from '../../process/idempotency.ts'
import { readIdempotencyKey } from '../access/idempotency-key.ts'
import type { Journal } from '../../log.ts'
import { closeWhenStopping, type Lifecycle } from './lifecycle.ts'
import { makeLimiter } from '../access/limiter.ts'
import { accountOf, principalOf } from '../access/principal.ts'
import { readPreferences, readWait } from './preferences.ts'
import { makeQueryReader, rawQuery } from './query.ts'
import { logRequest } from './request-line.ts'
import { makeBodyReader, rulesOf, type BodyReaderDeps, type ReadBody } from '../body/read-body.ts'
import type { RateLimits } from '../access/rate-limit.ts'
import { changes } from '../route.ts'
import type { RouteResponse, JsonResponse, Route, RouteRequest, SavedResponse } from '../route.ts'

export interface ServeDeps extends BodyReaderDeps {
  /** Finds the caller of a request; undefined: there is none. Throws 401, 403 or 503. */
  authorise(route: Route, request: Request): Promise<Caller | undefined>
  idempotency: Idempotency
  lifecycle: Lifecycle
  /** Absent: the interface's names are the only ones. */
  aliases?: AliasTable | undefined
  /** Absent: nobody is limited. */
  rateLimits?: RateLimits | undefined
  /** Absent: no line is logged for what requests change. */
  journal?: Journal | undefined
  /** Absent: no owner has any of its own. */
  ownerRules?: { rateFactor(owner: string): number } | undefined
}

/**
 * Makes what serves a route. The order of checks is fixed: quota of the address, stopping, credential, quota of the
 * caller, type and length of the body, Idempotency-Key, budget, JSON, schemas and rules together, then the handler.
 */
export const makeServe = (deps: ServeDeps) => {
  const serve = makeOnce(serveOne(deps))
  return (route: Route): ReturnType<typeof serve> => {
    const { variants } = route
    if (!variants) return serve(route)
    return (request, response) => serve(variants.get(request.params))(request, response)
  }
}

const serveOne = (deps: ServeDeps) => (route: Route) => {
  const readQuery = makeValidateQuery(route)
  const reader = makeBodyReader(deps, route)
  const rules = rulesOf(route, route.body ?? {})
  const limiter = makeLimiter(deps.rateLimits, deps.ownerRules)
  const open = deps.aliases && makeOpen(route, deps.aliases)
  const journal = changes(route) && !route.keepsNothing ? deps.journal : undefined
  const serve = async (
    request: Request,
    response: Response,
    translation: Translation | undefined,
  ): Promise<void> => {
    const startedAt = performance.now()
    // Express reads it again each time.
    const { ip } = request
    const address = principalOf(undefined, ip)
    await limiter.enter(route, address)
    if (deps.lifecycle.state === 'closing' && !route.evenWhileClosing) throw errors.draining()
    const caller = await deps.authorise(route, request)
    const isDry = route.dryRun !== undefined && isDryRun(request)
    const counted = isDry ? ({ ...route, quota: 'read' } as const) : route
    await limiter.count(counted, { address, response, caller })
    reader.check(request)
    const claim = await claimKey(deps, route, { request, ip, caller, isDryRun: isDry })
    const result = await underClaim(claim, async () => {
      const body = await reader.read(request, response, { address, translation })
      try {
        const replayed = claim?.replay(body.fingerprints())
        if (replayed) return withEcho(route, replayed, body.value)
        const query = readQuery(request, caller)
        const preferences = readPreferences(request.get('prefer'))
        if (isStrictlyHandled(preferences))
          response.setHeader('preference-applied', 'handling=strict')
        const unread = requireValid(rules, {
          query,
          body,
          isAdmin: caller?.isPlatformAdmin ?? false,
          nameUnread: translation?.unread,
          further: [...validateDryRun(route, request), ...validateWait(preferences)],
          isStrict: () => isStrictlyHandled(preferences),
        })
        showUnread(preferences, response, unread)
        const own = makeRequest({
          route,
          request,
          response,
          ip,
          address,
          query: query.value,
          body,
          caller,
          claim,
          headers: translation?.headers(request.headers) ?? request.headers,
          reauthorise: async () => void (await deps.authorise(route, request)),
        })
        const result = await handle(route, own, { isDryRun: isDry, claim, body, unread })
        if (journal && !isDry) logRequest(route, { journal, request: own, result, startedAt })
        return result
      } finally {
        await body.discard()
      }
    })
    closeWhenStopping(deps.lifecycle, response)
    return 'stream' in result
      ? result.stream(response)
      : sendJson(deps.budget, response, translation?.response(result) ?? result, {
          route,
          caller,
          address,
        })
  }
  return async (request: Request, response: Response): Promise<void> => {
    const translation = open?.(isNamed(response))
    if (translation) request.url = translation.target(request.url)
    try {
      await serve(request, response, translation)
    } catch (error) {
      throw await limiter.reject(request, translation ? translation.error(error) : error)
    }
  }
}

/** Preference whose value is no number of seconds: it is ignored, unless the caller prefers strict handling. */
const WAIT = { field: 'Prefer:wait', meant: undefined }

const isStrictlyHandled = (preferences: ReadonlyMap<string, string>): boolean =>
  preferences.get('handling')?.toLowerCase() === 'strict'

const validateWait = (preferences: ReadonlyMap<string, string>): Issue[] => {
  if (readWait(preferences) !== null || !isStrictlyHandled(preferences)) return []
  const sentence = `must be a whole number of seconds, 1 or more, got ${shown(preferences.get('wait'))}`
  return [makeIssue(WAIT.field, sentence)]
}

/** Names in a header what nothing reads of a request that is not rejected. */
const showUnread = (
  preferences: ReadonlyMap<string, string>,
  response: Response,
  unread: readonly Unread[],
): void => {
  const wait = preferences.get('wait')
  const malformed = readWait(preferences) === null ? [{ ...WAIT, value: wait }] : []
  const ignored = describeUnread([...unread, ...malformed])
  if (ignored !== undefined) response.setHeader('ignored-fields', ignored)
}

/** Reads the parameter as the schema does, before the query is validated. */
const isDryRun = (request: Request): boolean => /^(true|1)$/i.test(readDryRun(request))

const readDryRun = ({ url }: Request): string =>
  new URLSearchParams(rawQuery(url)).get('dry_run') ?? ''

/** Whoever asks for a trial must not get the real thing where there is none. */
const validateDryRun = (route: Route, request: Request): Issue[] => {
  if (!changes(route) || route.dryRun || !isDryRun(request)) return []
  const sentence = `must be absent: this route has no trial, got ${shown(readDryRun(request))}`
  return [{ ...makeIssue('?dry_run', sentence), isUnwanted: true }]
}

/** Makes the reader of a route's query with the rules that its schema cannot say. */
const makeValidateQuery = ({ query, queryEmptyIsAbsent, queryLists, validateQuery }: Route) => {
  const read = query && makeQueryReader(query, queryEmptyIsAbsent, queryLists)
  const validateBounds = makeValidateBounds(query, '?')
  return (request: Request, caller: Caller | undefined) => {
    const text = rawQuery(request.url)
    const { value, issues, unread } = read?.(text) ?? {
      value: {},
      issues: [],
      unread: listUnreadNames([], new URLSearchParams(text)),
    }
    const given = value as Record<string, unknown>
    const rules = [...validateBounds(given), ...(validateQuery?.({ query: given, caller }) ?? [])]
    return {
      value,
      issues: query ? sortIssues(query, onePerField(issues, rules)) : [],
      unread: unread.filter(({ field }) => field !== '?dry_run'),
    }
  }
}

interface Handling {
  isDryRun: boolean
  unread: readonly Unread[]
}

const withUnread = (result: JsonResponse, unread: readonly Unread[]): JsonResponse =>
  unread.length === 0
    ? result
    : {
        ...result,
        body: { ...(result.body as object), ignored_fields: unread.map(({ field }) => field) },
      }

/** Runs the handler. A POST that only reads has no transaction in which it could save its response. */
const handle = async (
  route: Route,
  request: RouteRequest,
  { isDryRun: isDry, claim, body, unread }: Pick<Parts, 'claim' | 'body'> & Handling,
): Promise<RouteResponse> => {
  if (isDry && route.dryRun) return withUnread(await route.dryRun(request), unread)
  const result = await route.handler(request)
  if (route.readsOnly && !('stream' in result)) await claim?.save(result, body.fingerprints())
  return result
}

const claimKey = async (
  { idempotency }: ServeDeps,
  route: Route,
  {
    request,
    ip,
    caller,
    isDryRun: isDry,
  }: Pick<Parts, 'request' | 'ip' | 'caller'> & { isDryRun: boolean },
): Promise<Claim | undefined> => {
  const takesKey = route.method === 'post' && !route.keepsNothing
  const key = takesKey ? readIdempotencyKey(request.headers) : undefined
  if (key === undefined || isDry) return undefined
  const principal = principalOf(caller, ip)
  const scope = { principal, method: 'POST', path: scopePath(route, request), key }
  return await idempotency.claim({ scope, secret: route.secretResponse ?? false })
}

/**
 * Makes the path that keeps keys apart, one for all spellings of a resource: of the ids in paths, only versions regard
 * case. A long path becomes its digest, because it is too long for an index.
 */
const scopePath = (route: Route, { params }: Request): string => {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(params[name])
    return encodeURIComponent(name === 'version' ? value : value.toLowerCase())
  })
  return path.length <= 1000 ? path : createHash('sha256').update(path).digest('hex')
}

interface Parts {
  route: Route
  request: Request
  response: Response
  ip: string | undefined
  address: string
  query: unknown
  body: ReadBody
  caller: Caller | undefined
  claim: Claim | undefined
  headers: RouteRequest['headers']
  reauthorise: RouteRequest['reauthorise']
}

const makeRequest = (parts: Parts): RouteRequest => {
  const { route, request, response, ip, address, query, body, caller, claim } = parts
  return {
    params: request.params,
    query,
    body: body.value,
    inline: body.inline,
    caller,
    headers: parts.headers,
    reauthorise: parts.reauthorise,
    requestId: String(response.getHeader('x-request-id')),
    address,
    ip,
    account: () => accountOf(caller, ip),
    signal: () => abortedWith(response),
    incoming: request,
    accept: () => sendContinue(request, response),
    saveIdempotentResponse: async (sql, result) => {
      await claim?.save(withoutEcho(route.echo, result), body.fingerprints(), sql)
      return result as SavedResponse
    },
  }
}

const withEcho = ({ echo }: Route, result: JsonResponse, given: unknown): JsonResponse => {
  const value = echo === undefined ? undefined : (given as Record<string, unknown>)[echo]
  if (echo === undefined || value === undefined || value === null) return result
  return { ...result, body: { ...(result.body as object), [echo]: value } }
}

const abortedWith = (response: Response): AbortSignal => {
  const gone = new AbortController()
  if (response.closed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}
