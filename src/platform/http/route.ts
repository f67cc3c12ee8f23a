import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

import type { Static, TObject, TSchema } from 'typebox'

import type { Transaction } from '../db/client.ts'
import type { KeyScope } from '../domain/key-scope.ts'
import type { ErrorCodeName } from '../domain/errors.ts'
import type { Unread } from '../domain/unread.ts'
import type { Issue } from '../domain/validate.ts'
import type { ResponseToSave } from '../process/idempotency.ts'
import type { Caller, CredentialHeaders } from './access/caller.ts'
import type { BodyLimits } from '../json-body/body-limits.ts'
import type { InlineImage } from '../json-body/inline.ts'
import type { BodyRules } from '../json-body/validate-body.ts'
import type { HeaderName } from './openapi/headers.ts'
import type { RequestHeaderName } from './openapi/parameters.ts'
import type { ListForm } from './serve/query.ts'
import type { QuotaName } from './access/rate-limit.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** The route that serves a method of HTTP. A GET route serves HEAD, too. */
export const findRoute = (routes: readonly Route[], method: string): Route | undefined =>
  routes.find((route) => route.method === (method === 'HEAD' ? 'get' : method.toLowerCase()))

/** Response of a JSON route. Without a body nothing is written after the headers. */
export interface JsonResponse extends ResponseToSave {
  /** In place of `body`: its JSON, or the beginning of it when `more` follows. */
  text?: string
  /** The rest of `text`, made as the client takes it; such a response brings its own ETag. */
  more?: AsyncIterable<string>
}

/** A response that the handler writes itself, for files. */
export interface StreamResponse {
  stream(response: ServerResponse): Promise<void>
}

export type RouteResponse = JsonResponse | StreamResponse

declare const saved: unique symbol

/** A response that was saved under the request's Idempotency-Key. Only `saveIdempotentResponse` makes one. */
export type SavedResponse = JsonResponse & { readonly [saved]: true }

/**
 * The response of a handler. A POST that changes something must save its response in the transaction of the change, or
 * a repetition would do it twice; so one that does not save does not compile. Of a POST that only reads the server saves it.
 */
export type ResponseOf<M extends Method, ReadsOnly = undefined> = 'post' extends M
  ? ReadsOnly extends true
    ? JsonResponse
    : SavedResponse
  : RouteResponse

export interface ResponseSpec {
  description: string
  /** Absent for a response without a body. */
  schema?: TSchema
  /** Absent: application/json. */
  mediaType?: string
  /** Texts that it is, where `Accept` names them. */
  otherMediaTypes?: readonly `text/${string}`[]
  /** Headers of this response beside the headers of every response. */
  headers?: readonly HeaderName[]
  /** An example of the body, which must pass the schema. */
  example?: unknown
  /** Several of them by name, in its place. */
  examples?: Record<string, unknown>
  /** Calls that can follow with a part of this response, by OpenAPI's runtime expressions. */
  links?: Record<string, { method: Method; path: string; parameters: Record<string, string> }>
}

type More = Omit<ResponseSpec, 'description' | 'schema'>

/** Describes the only success of a route: 200, with a body. */
export const ok = (description: string, schema: TSchema, more?: More) => ({
  200: { description, schema, ...more },
})

/** The same of a route that makes something: 201. */
export const created = (description: string, schema: TSchema, more?: More) => ({
  201: { description, schema, ...more },
})

/** A member of a body that clients of another kind give by a header. */
export interface HeaderMember {
  header: RequestHeaderName
  member: string
  /** Rule of its value, in words. */
  expectation: string
  /** Returns undefined where it is something else. */
  read(text: string): unknown
}

/** Rules for reading and validating the JSON body of a route. */
export interface BodySpec<Body extends TSchema = TSchema>
  extends
    BodyLimits,
    Pick<BodyRules, 'findMembers' | 'emptyIsAbsent' | 'adminMembers' | 'sentBack' | 'newNames'> {
  schema: Body
  /** Shown by OpenAPI in place of `schema`, where one schema can say the rules that are validated apart. */
  document?: TSchema
  /** A member that a header may give, too. */
  headerMember?: HeaderMember
  /** False where an empty body counts as `{}`. */
  required?: boolean
  /** Examples for the documentation, by name; they must pass the schema. */
  examples?: Record<string, unknown>
}

/** One request, read and valid by the route's schemas. Functions in place of getters: docs/decisions.md, Requests and responses. */
export interface RouteRequest<Params = unknown, Query = unknown, Body = unknown> {
  params: Params
  query: Query
  body: Body
  /** Inline images of the body, by their pointer; the member itself holds the empty string's stand-in `inline`. */
  inline: ReadonlyMap<string, InlineImage>
  /** Absent where auth is optional and no credential was sent. */
  caller: Caller | undefined
  /** Account for all that the request makes: its owner, or without a credential the client's address, as a digest. */
  account(): string
  headers: IncomingHttpHeaders
  requestId: string
  /** Address that quotas and budgets count the request for, whoever the caller is. */
  address: string
  /** IP address of the client, as TRUST_PROXY lets it be seen. */
  ip: string | undefined
  /** Aborted when the client has gone. */
  signal(): AbortSignal
  /** Authorises the request again, for a response that lasts. Throws 401, 403 or 503. */
  reauthorise(): Promise<void>
  /** The raw request, for routes that read a body which is not JSON. */
  incoming: IncomingMessage
  /** Lets a client that waits for it send that body. */
  accept(): void
  /**
   * Saves the response under the request's Idempotency-Key, in the transaction that makes it true, and returns it.
   * Without a key nothing is saved. Throws when another request has taken the key over; the transaction then rolls back.
   */
  saveIdempotentResponse(sql: Transaction, response: JsonResponse): Promise<SavedResponse>
}

export interface Route {
  method: Method
  /** Path in express's form, `/users/api-keys/:id`. */
  path: string
  tag: string
  /** Its name for generators of clients; absent: made of method and path. */
  operationId?: string
  summary: string
  description?: string
  /**
   * jwt: a bearer token, no key. optional: none needed, but one that is sent must be valid. none: a credential is not
   * looked at.
   */
  auth: 'required' | 'jwt' | 'optional' | 'none'
  /**
   * Names in Ignored-Fields what nothing reads of a request: its form is one of the vendors or of the registry's clients,
   * which send more than this interface has, or its address is opened as it is. Absent: each such field is a 400.
   */
  unread?: 'ignored'
  /** One of these scopes is enough for an API key; absent: the scopes of its tag, and `read` where it only reads. */
  scopes?: readonly KeyScope[]
  /** A personal access token is a credential here, too. to-read: it lets in, and its caller reads as anybody who may. */
  takesTokens?: boolean | 'to-read'
  /**
   * A token for the task in its path is a credential here, too, and pages of every origin may read by one. in-query: also as
   * `?token=`, for EventSource, which sends no headers.
   */
  takesTaskTokens?: boolean | 'in-query'
  /**
   * Its way past the rule of who may read the registry. by-body: a credential in the body, a personal access token or an
   * identity token. to-callers: shows what is the caller's own, also to a user who has nothing.
   */
  opens?: 'by-body' | 'to-callers'
  /** True for a secret of the route's own, which stands for no caller and takes the place of a credential. */
  hasOwnSecret?(headers: CredentialHeaders, target: string): boolean
  /** Throws the 403 of a caller who may not come here, whatever else the request is. */
  admit?(caller: Caller, params: Readonly<Record<string, unknown>>): Promise<void>
  /** Message of the route's 401, where callers need to know more than that they need a credential. */
  unauthorizedMessage?: string
  /**
   * A GET whose response has an ETag (made from its bytes, unless the handler gives one) and says who may keep it.
   * public: pages of every origin may read it.
   */
  read?: 'public' | 'private'
  params?: TObject
  query?: TObject
  /** Members of the query in which an empty text counts as absent. */
  queryEmptyIsAbsent?: readonly string[]
  /** Separation of the items of a list in the query; by commas, too, unless said. */
  queryLists?: ListForm
  body?: BodySpec
  /** Headers that the handler reads, for the documentation. */
  requestHeaders?: readonly RequestHeaderName[]
  /** A body that is not JSON, for the documentation. */
  rawBody?: { mediaType: string; description: string }
  responses: Record<number, ResponseSpec>
  /** Error codes of this route beside the codes that its auth, method and body imply. */
  errors: readonly ErrorCodeName[]
  /** Its errors have the statuses of video routes, because it serves video tasks, too. */
  ofVideoToo?: boolean
  /** The response holds a secret: a stored copy is encrypted. */
  secretResponse?: boolean
  /** A member of the body that the response repeats. It may be large, so a stored response leaves it out. */
  echo?: string
  /** The quota it counts against: `read` for GET, `write` for all others unless given. */
  quota?: QuotaName
  /** Handles `?dry_run=true` of a POST in place of `handler`: without a key, and counted as a read. */
  dryRun?(request: RouteRequest): Promise<JsonResponse>
  /** A POST that changes nothing, so that it may be rejected when it is done. */
  readsOnly?: boolean
  /** A POST whose response is not kept for a repetition either. */
  keepsNothing?: boolean
  /** Served to the end, also while the process rejects everything else. */
  evenWhileClosing?: boolean
  /** Rules that a schema cannot say; their issues are reported together with the schema's. */
  validate?(request: {
    params: Readonly<Record<string, unknown>>
    body: Record<string, unknown>
    inline: ReadonlyMap<string, InlineImage>
  }): Issue[]
  /** Lists members of a valid body that take no effect beside its others: they are named or rejected as unknown ones. */
  listIneffective?(request: {
    body: Record<string, unknown>
    inline: ReadonlyMap<string, InlineImage>
  }): Unread[]
  /** The same rules of the query. */
  validateQuery?(request: { query: Record<string, unknown>; caller: Caller | undefined }): Issue[]
  /** Routes for values of its path, which change while the service runs, and serve in its place. */
  variants?: Variants
  handler(request: RouteRequest): Promise<RouteResponse>
}

/** Routes that one stands for: each has the path with a value in place of its parameter. */
export interface Variants {
  /** All there are, for the documentation: another list whenever one of them has changed. */
  list(): readonly Route[]
  /** Finds the one that serves a request. Throws 404. */
  get(params: Readonly<Record<string, unknown>>): Route
}

/** Marks a route whose form comes from a vendor. */
export const ignoreUnread = (route: Route): Route => ({ ...route, unread: 'ignored' })

/** True when a request may change something. */
export const changes = ({ method, readsOnly }: Pick<Route, 'method' | 'readsOnly'>): boolean =>
  method !== 'get' && readsOnly !== true

type Of<S> = S extends TSchema ? Static<S> : unknown

interface TypedRoute<P, Q, B, M extends Method, ReadsOnly> extends Omit<
  Route,
  'method' | 'params' | 'query' | 'body' | 'readsOnly' | 'handler'
> {
  method: M
  readsOnly?: ReadsOnly
  params?: P
  query?: Q
  body?: B
  handler(
    request: RouteRequest<Of<P>, Of<Q>, B extends BodySpec<infer S> ? Static<S> : unknown>,
  ): Promise<ResponseOf<M, ReadsOnly>>
}

/** Makes a route whose handler sees the types of its own schemas. */
export const defineRoute = <
  const M extends Method,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends BodySpec | undefined = undefined,
  const ReadsOnly extends boolean | undefined = undefined,
>(
  route: TypedRoute<P, Q, B, M, ReadsOnly>,
): Route => route as unknown as Route
