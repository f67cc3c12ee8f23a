import { Readable } from 'node:stream'

import type { Transaction } from '../../db/client.ts'
import { BatchRequest } from '../../domain/bulk/batch.ts'
import { apiError, shown } from '../../domain/shared/errors.ts'
import { listUnread, unreadIssues } from '../../domain/shared/unread.ts'
import { isObject } from '../../domain/shared/is-object.ts'
import { makeOnce } from '../../domain/shared/make-once.ts'
import type { Labels } from '../../domain/task/task-options.ts'
import { makeIssue } from '../../domain/shared/validate.ts'
import { renamePath, type AliasTable } from '../alias/table.ts'
import { makeOpen } from '../alias/translation.ts'
import type { BodyLimits } from '../body/body-limits.ts'
import { makeValidateBody, type BodyDeps } from '../body/read-body.ts'
import { readJsonBody, type JsonBody } from '../body/read-json-body.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../route.ts'
import { validationError } from '../serve/errors.ts'
import { requireValid } from '../serve/serve.ts'

/** A request to make a task, which came by another way than HTTP. */
export interface SubmittedRequest {
  /** Its JSON, `{path, body}`; an object is taken for such. */
  text: string | Buffer
  owner: string
  /** Labels that the task gets beside its own. */
  labels?: Labels | undefined
  /** Called in the transaction that makes the task; what it throws rolls that back. */
  record(sql: Transaction, taskId: string): Promise<void>
}

export interface SubmitDeps extends BodyDeps {
  /** Absent: names are those of the interface alone. */
  aliases?: AliasTable | undefined
}

/** Makes the task of a request as its route would. Throws what the route would respond with. */
export type Submit = (request: SubmittedRequest) => Promise<void>

/** Limits of a request with its path; those of the route follow. */
const LIMITS: BodyLimits = { maxBytes: 2 ** 21, heldBytes: 2 ** 21, deadlineMs: 60_000 }

/** @param routes those on which tasks are made, also by their other names */
export const makeSubmit = (deps: SubmitDeps, routes: readonly Route[]): Submit => {
  const validatorOf = makeOnce((route: Route) => route.body && makeValidateBody(route, route.body))
  const openOf = makeOnce((route: Route) => deps.aliases && makeOpen(route, deps.aliases))
  return async ({ text, owner, labels, record }) => {
    const { path, body } = await readRequest(deps, text)
    const route = findRoute(routes, path, deps.aliases)
    const translation = openOf(route)?.(route.path !== path)
    const validate = validatorOf(route)
    if (!route.body || !validate) throw new Error(`${route.path} takes no body`)
    const json = await read(deps, JSON.stringify(withLabels(body, labels)), route.body)
    try {
      const value = translation?.body(json.value) ?? json.value
      const valid = validate({ params: {} }, { ...json, value })
      const caller = { principal: owner, owner, scheme: 'api_key' } as const
      const query = { value: { dry_run: false }, issues: [], unread: [] }
      requireValid(route, { query, body: valid, caller, nameUnread: translation?.unread })
      const request = { caller, body: valid.value, inline: valid.inline, query: query.value }
      await route.handler({ ...STAND_IN, ...request, account: () => owner, ...save(record) })
    } catch (error) {
      throw translation?.error(error) ?? error
    } finally {
      await json.discard()
    }
  }
}

const readRequest = async (deps: BodyDeps, text: string | Buffer) => {
  const json = await read(deps, text, LIMITS)
  await json.discard()
  const { path, body, ...others } = json.value
  const unread = unreadIssues(listUnread(BatchRequest, others, true), true)
  if (typeof path === 'string' && isObject(body) && unread.length === 0) return { path, body }
  const issues = [
    ...unread,
    ...(typeof path === 'string'
      ? []
      : [makeIssue('/path', `must be a string, got ${shown(path)}`)]),
    ...(isObject(body) ? [] : [makeIssue('/body', `must be an object, got ${shown(body)}`)]),
  ]
  throw validationError(issues, { query: {}, body: json.value }) ?? new Error('no issue')
}

/** Reads JSON as strictly as a body of HTTP, images in files. */
const read = (deps: BodyDeps, text: string | Buffer, limits: BodyLimits): Promise<JsonBody> => {
  const bytes = Buffer.from(text)
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  const source = Object.assign(Readable.from([bytes], { objectMode: false }), { headers })
  return readJsonBody(source, {
    ...limits,
    budget: deps.budget,
    address: 'batch',
    scratchDir: deps.scratchDir,
    maxImageBytes: deps.maxImageBytes,
    maxPixels: deps.maxImagePixels,
  })
}

/** A body whose labels are none is left to be rejected. */
const withLabels = (body: Record<string, unknown>, labels: Labels | undefined): object => {
  const { kiln_labels: own = {} } = body
  return labels && isObject(own) ? { ...body, kiln_labels: { ...labels, ...own } } : body
}

const findRoute = (
  routes: readonly Route[],
  path: string,
  aliases: AliasTable | undefined,
): Route => {
  const all = routes.flatMap((route) => route.variants?.list() ?? route)
  const route =
    all.find((each) => each.path === path) ??
    (aliases && all.find((each) => renamePath(aliases, each.path) === path))
  if (route) return route
  const sentence = `/path must be a path on which tasks are made, got ${shown(path)}`
  throw apiError('validation_failed', sentence, { details: [sentence] })
}

const save = (record: SubmittedRequest['record']) => ({
  async saveIdempotentResponse(sql: Transaction, response: JsonResponse): Promise<SavedResponse> {
    const { data, task_id: id = data?.task_id } = response.body as Made
    if (id === undefined) throw new Error('a response without a task')
    await record(sql, id)
    return response as SavedResponse
  },
})

interface Made {
  task_id?: string
  data?: { task_id: string }
}

/** Nothing of these do routes read on which tasks are made. */
const STAND_IN = {
  params: {},
  headers: {},
  requestId: '',
  address: '',
  ip: undefined,
  signal: () => new AbortController().signal,
  reauthorise: () => Promise.resolve(),
  accept: () => {},
  incoming: undefined as never,
} satisfies Partial<RouteRequest>
