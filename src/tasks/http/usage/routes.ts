import { withinDeadline } from '../../../platform/db/client.ts'
import { reportUsage } from '../../db/usage.ts'
import { readLabelFilter } from '../../domain/task-options.ts'
import {
  readUsageQuery,
  Usage,
  UsageQuery,
  validateUsageQuery,
  writeUsageCsv,
} from '../../domain/usage.ts'
import { getCaller, requirePlatformAdmin } from '../../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../../platform/http/deps.ts'
import {
  defineRoute,
  ok,
  type JsonResponse,
  type Route,
  type RouteRequest,
} from '../../../platform/http/route.ts'

export interface UsageDeps extends ReadDeps {
  now: () => Date
}

/** The report of what tasks have used. */
export const makeUsageRoutes = (deps: UsageDeps): Route[] => [
  defineRoute({
    tag: 'Tasks',
    method: 'get',
    auth: 'required',
    read: 'private',
    path: '/usage',
    summary: 'Report what ended tasks have used',
    description:
      'Sums are exact. Percentiles are of durations that were counted in steps of the factor 1.41, so they are right to a fifth. A day is that of UTC on which a task ended; tasks of a release without this report are not in it. With `Accept: text/csv` the groups come as CSV.',
    query: UsageQuery,
    queryEmptyIsAbsent: ['from', 'to', 'owner'],
    responses: ok('The report.', Usage, { otherMediaTypes: ['text/csv'] }),
    errors: ['forbidden'],
    validateQuery: ({ query }) => validateUsageQuery(query),
    handler: (request) => report(deps, request),
  }),
]

const report = async (
  { sql, now }: UsageDeps,
  request: RouteRequest<unknown, UsageQuery>,
): Promise<JsonResponse> => {
  const { query } = request
  const caller = getCaller(request)
  if (query.by === 'owner' || query.owner !== undefined) requirePlatformAdmin(caller)
  const isOfAll = query.owner === '*' || (query.owner === undefined && query.by === 'owner')
  const [label] = readLabelFilter(query.label).flatMap(Object.entries<string>)
  const usage = await withinDeadline(
    sql,
    reportUsage(sql, {
      ...readUsageQuery(query, now()),
      owner: isOfAll ? undefined : (query.owner ?? caller.owner),
      families: caller.families,
      label: label && { key: label[0], value: label[1] },
    }),
  )
  const vary = { vary: 'Accept' }
  if (!/\btext\/csv\b/i.test(request.headers.accept ?? ''))
    return { status: 200, body: usage, headers: vary }
  const headers = { ...vary, 'content-type': 'text/csv; charset=utf-8' }
  return { status: 200, text: writeUsageCsv(usage), headers }
}
