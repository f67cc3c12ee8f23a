import type { Outbound } from '../../platform/outbound/client.ts'
import type { Signer } from '../../platform/adapters/signing.ts'
import type { EndpointHeaders } from '../adapters/endpoint-headers.ts'
import type { WebhookSecrets as Keeper } from '../adapters/webhook-secrets.ts'
import { changesOf, insertAudit, type AuditChange } from '../../platform/db/audit-log.ts'
import { withinDeadline, type Transaction } from '../../platform/db/client.ts'
import {
  deleteEndpoint,
  existsEndpointEvent,
  findEndpoint,
  insertEndpoint,
  insertTestEvent,
  listEndpointEvents,
  listEndpoints,
  updateEndpoint,
} from '../db/endpoint.ts'
import type { EndpointHolder, EndpointKey, StoredHeaders } from '../db/endpoint.ts'
import { listAttempts, redeliverToEndpoint } from '../db/redelivery.ts'
import { originOf } from '../../platform/domain/address.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { endpointSecretOwner } from '../domain/endpoint.ts'
import { normalizeHeaders } from '../domain/endpoint-headers.ts'
import type {
  Endpoint,
  EndpointEventQuery,
  EndpointUpdate,
  NewEndpoint,
} from '../domain/endpoint.ts'
import { OVERLAP_SECONDS } from '../domain/event.ts'
import type { Attempt, MissedTaskEvents, SecretRotation } from '../domain/event.ts'
import { errors, shown } from '../../platform/domain/errors.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { readBounds } from '../../platform/domain/time-bounds.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { isAllowed, tagOfBytes } from '../../platform/http/serve/etag.ts'
import { redeliverAll, redeliverOne, type RedeliveryDeps } from './redeliver.ts'

/** Dependencies of the routes of events, endpoints and their secrets. */
export interface EndpointDeps extends RedeliveryDeps {
  signer: Signer
  outbound: Outbound
  now: () => Date
  webhookSecrets: Keeper
  endpointHeaders: EndpointHeaders
  /** MAX_ENDPOINTS */
  maxEndpoints: number
}

/** Authorizes the caller: whose endpoints, and whether for more than reading. Throws 404 and 403 for the path. */
export type AuthorizeAccess = (
  request: Pick<RouteRequest, 'params' | 'caller'>,
  action: 'read' | 'manage',
) => Promise<{ holder: EndpointHolder; mayManage: boolean }>

interface EndpointChange extends Pick<AuditChange, 'action' | 'before' | 'after'> {
  id: string
}

type Request<Query = unknown, Body = unknown> = RouteRequest<unknown, Query, Body>

/** Writes a change into the audit log; the path of an address may be a secret. */
const record = async (sql: Transaction, request: Request, change: EndpointChange) => {
  const { id: endpoint, action, before, after } = change
  const { publisherId } = request.params as { publisherId?: string }
  const show = (side: object | undefined) =>
    side && { endpoint, ...side, ...('url' in side && { url: originOf(String(side.url)) }) }
  await insertAudit(sql, auditOf(request), {
    action,
    target:
      publisherId === undefined
        ? auditTarget.user(getCaller(request).owner)
        : auditTarget.publisher(publisherId.toLowerCase()),
    before: show(before),
    after: show(after),
  })
}

/** Makes what the routes of endpoints do, whoever's they are. */
export const makeEndpointHandlers = (deps: EndpointDeps, validate: AuthorizeAccess) => {
  const { sql, webhookSecrets } = deps

  const manage = async (request: Request): Promise<EndpointKey> => {
    const { holder } = await validate(request, 'manage')
    return { id: readId(request), holder }
  }
  const find = async (request: Request, action: 'read' | 'manage') => {
    const { holder, mayManage } = await validate(request, action)
    const id = readId(request)
    const endpoint = await withinDeadline(sql, findEndpoint(sql, { id, holder }))
    if (!endpoint) throw errors.endpointNotFound(id)
    return { endpoint, mayManage }
  }
  /** The endpoint in the path, as the caller may see it. */
  const get = async (request: Request, action: 'read' | 'manage' = 'read'): Promise<Endpoint> => {
    const { endpoint, mayManage } = await find(request, action)
    return mayManage ? endpoint : hidePath(endpoint)
  }
  const getEnabled = async (request: Request): Promise<Endpoint> => {
    const endpoint = await get(request, 'manage')
    const { status, disabled_reason: reason = 'requested' } = endpoint
    if (status === 'disabled') throw errors.endpointDisabled(reason)
    return endpoint
  }
  const getEventId = async (request: Request, endpointId: string): Promise<string> => {
    const { event_id: eventId = '' } = request.params as Record<string, string>
    const isThere =
      isUuid(eventId) &&
      (await withinDeadline(sql, existsEndpointEvent(sql, { endpointId, eventId })))
    if (!isThere) throw errors.eventNotFound(eventId, 'endpoint')
    return eventId.toLowerCase()
  }
  /** Responds with what `work` makes, and saves the response for a repetition. */
  const write = (
    request: Request,
    status: number,
    work: (sql: Transaction) => Promise<object>,
  ): Promise<SavedResponse> =>
    unitOfWork(deps, async (sql) => {
      const response: JsonResponse = { status, headers: NO_STORE, body: await work(sql) }
      return await request.saveIdempotentResponse(sql, response)
    })

  return {
    async create(request: Request<unknown, NewEndpoint>): Promise<SavedResponse> {
      const { holder } = await validate(request, 'manage')
      return await write(request, 201, async (sql) => {
        const by = getCaller(request).principal
        const given = { ...request.body, headers: storeHeaders(deps, request.body) }
        const made = await insertEndpoint(sql, { ...given, holder, by }, deps.maxEndpoints)
        if (!made) throw errors.endpointLimitReached(deps.maxEndpoints)
        const [secret] = await webhookSecrets.rotate(sql, endpointSecretOwner(made.id), 0)
        const { id } = made
        await record(sql, request, {
          id,
          action: 'endpoint.create',
          after: showNames(request.body),
        })
        return { ...made, secret: secret?.secret }
      })
    },
    async list(request: Request): Promise<JsonResponse> {
      const { holder, mayManage } = await validate(request, 'read')
      const found = await withinDeadline(sql, listEndpoints(sql, holder))
      return { status: 200, body: { endpoints: mayManage ? found : found.map(hidePath) } }
    },
    read: async (request: Request) => ({ status: 200, body: await get(request) }),
    async update(request: Request<unknown, EndpointUpdate>): Promise<JsonResponse> {
      const key = await manage(request)
      const ifMatch = request.headers['if-match']
      const changed = await unitOfWork(deps, async (sql) => {
        // A change of nothing holds the row as it is compared.
        const current = await updateEndpoint(sql, key, {})
        if (!current) return undefined
        if (ifMatch !== undefined && !isAllowed(ifMatch, tagOfBytes(JSON.stringify(current))))
          throw errors.preconditionFailed()
        const given = { ...request.body, headers: storeHeaders(deps, request.body) }
        const changed = await updateEndpoint(sql, key, given)
        const { before, after } = changesOf(current, changed ?? {}, showNames(request.body))
        if (Object.keys(after).length > 0)
          await record(sql, request, { id: current.id, action: 'endpoint.update', before, after })
        return changed
      })
      if (!changed) throw errors.endpointNotFound(key.id)
      return { status: 200, body: changed }
    },
    async remove(request: Request): Promise<JsonResponse> {
      const key = await manage(request)
      return await unitOfWork(deps, async (sql) => {
        const found = await findEndpoint(sql, key)
        if (!found || !(await deleteEndpoint(sql, key))) throw errors.endpointNotFound(key.id)
        const { id, url, events } = found
        await record(sql, request, { id, action: 'endpoint.delete', before: { url, events } })
        return { status: 204 }
      })
    },
    async test(request: Request): Promise<SavedResponse> {
      const { id } = await getEnabled(request)
      return await write(request, 202, async (sql) => ({
        event_id: await insertTestEvent(sql, id),
      }))
    },
    async rotate(request: Request<unknown, SecretRotation>): Promise<SavedResponse> {
      const { id } = await get(request, 'manage')
      const { overlap_seconds: overlap = OVERLAP_SECONDS } = request.body
      return await write(request, 200, async (sql) => {
        const [made, before] = await webhookSecrets.rotate(sql, endpointSecretOwner(id), overlap)
        const after = { secret_at: made?.createdAt }
        await record(sql, request, { id, action: 'webhook_secret.rotate', after })
        return {
          secret: made?.secret,
          created_at: made?.createdAt.toISOString(),
          ...(before?.expiresAt && { previous_expires_at: before.expiresAt.toISOString() }),
        }
      })
    },
    async events(request: Request<EndpointEventQuery>): Promise<JsonResponse> {
      const { id: endpointId } = await get(request)
      const { before } = request.query
      if (before !== undefined) {
        const at = { endpointId, eventId: before }
        if (!(await withinDeadline(sql, existsEndpointEvent(sql, at))))
          throw errors.validationFailed([
            `?before must be the id of an event of this endpoint, got ${shown(before)}`,
          ])
      }
      const events = await withinDeadline(sql, listEndpointEvents(sql, endpointId, request.query))
      return { status: 200, body: { events } }
    },
    async attempts(request: Request): Promise<JsonResponse> {
      const { endpoint, mayManage } = await find(request, 'read')
      const eventId = await getEventId(request, endpoint.id)
      const attempts = await withinDeadline(sql, listAttempts(sql, eventId))
      const shown = mayManage ? attempts : attempts.map(hideDetail).map(hidePath)
      return { status: 200, body: { attempts: shown } }
    },
    async redeliver(request: Request): Promise<SavedResponse> {
      const { id } = await getEnabled(request)
      return await redeliverOne(deps, request, await getEventId(request, id))
    },
    async redeliverMissed(request: Request<unknown, MissedTaskEvents>): Promise<SavedResponse> {
      const { id: endpointId } = await getEnabled(request)
      const { batch_id: batch, ...bounds } = request.body
      return await redeliverAll(deps, request, getCaller(request).owner, (sql, starts) =>
        redeliverToEndpoint(sql, { endpointId, batch, ...readBounds(bounds) }, starts),
      )
    },
  }
}

interface GivenHeaders {
  headers?: Record<string, string>
}

const storeHeaders = (
  { endpointHeaders }: Pick<EndpointDeps, 'endpointHeaders'>,
  { headers: given }: GivenHeaders,
): StoredHeaders | undefined => {
  if (given === undefined) return undefined
  const headers = normalizeHeaders(given)
  const names = Object.keys(headers)
  return { names, encrypted: names.length === 0 ? null : endpointHeaders.encrypt(headers) }
}

/** A body with the names of its headers, whose values are secrets. */
const showNames = ({ headers, ...body }: GivenHeaders): object => ({
  ...body,
  ...(headers && { header_names: Object.keys(normalizeHeaders(headers)) }),
})

const NO_STORE = { 'cache-control': 'no-store' }

/** The id in the path. What is no UUID names no endpoint. */
const readId = ({ params }: Pick<RouteRequest, 'params'>): string => {
  const { endpoint_id: id = '' } = params as Record<string, string>
  if (!isUuid(id)) throw errors.endpointNotFound(id)
  return id.toLowerCase()
}

/** The detail may name where a redirect leads. */
const hideDetail = ({ error_detail: _detail, ...attempt }: Attempt): Attempt => attempt

/** The path of an address may be a secret. */
const hidePath = <Of extends { url: string }>(of: Of): Of => ({ ...of, url: originOf(of.url) })
