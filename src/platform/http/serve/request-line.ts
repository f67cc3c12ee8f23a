import type { Journal } from '../../log.ts'
import type { Caller } from '../access/caller.ts'
import type { JsonResponse, Route } from '../route.ts'
import type { RouteRequest, RouteResponse } from '../route.ts'

interface Served {
  journal: Journal
  request: RouteRequest
  result: RouteResponse
  /** When the request came, by `performance.now()`. */
  startedAt: number
}

/** Writes the line of a request that may have changed something. Nothing of its query or body is in it. */
export const logRequest = (route: Route, { journal, request, result, startedAt }: Served): void => {
  const isStream = 'stream' in result
  const given = request.params as Record<string, string>
  const taskId = given['task_id'] ?? (isStream ? undefined : findTaskId(result))
  const facts = {
    request_id: request.requestId,
    method: route.method.toUpperCase(),
    route: route.path,
    status: isStream ? undefined : result.status,
    ms: Math.round(performance.now() - startedAt),
    ...describeCaller(request.caller),
    task_id: taskId,
  }
  journal(facts, 'request changed something')
}

const describeCaller = (caller: Caller | undefined): object => {
  const keyId = caller?.keyId ?? caller?.token?.id
  if (keyId !== undefined) return { key_id: keyId }
  return caller ? { subject: caller.principal } : {}
}

/** Finds the id of the task that the request has made, which image routes have in `data`. */
const findTaskId = ({ body }: JsonResponse): unknown => {
  const { task_id: id, data } = (body ?? {}) as { task_id?: unknown; data?: { task_id?: unknown } }
  return id ?? data?.task_id
}
