import { withinDeadline } from '../../platform/db/client.ts'
import { listVersionSteps } from '../db/version-steps.ts'
import { getVersion } from '../db/version.ts'
import { errors } from '../../platform/domain/errors.ts'
import type { LiveDeps } from '../../platform/http/live/prefer.ts'
import {
  respondWithStream,
  STREAM_IS_OVER,
  STREAM_RESPONSES,
} from '../../platform/http/live/stream.ts'
import type { ReadChanges } from '../../platform/http/live/stream.ts'
import { defineRoute } from '../../platform/http/route.ts'
import type { RouteResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import { getVersionAccess } from './access.ts'
import type { RecordDeps } from './deps.ts'
import { OfVersion, VERSION_ERRORS, VERSION_PATH } from './paths.ts'

type StreamDeps = LiveDeps & RecordDeps

/** Makes the stream of what happens to a version, as server-sent events. */
export const makeVersionStreamRoute = (deps: StreamDeps): Route =>
  defineRoute({
    tag: 'Live progress',
    auth: 'optional',
    method: 'get',
    path: `${VERSION_PATH}/stream`,
    scopes: ['publish', 'read'],
    summary: 'Follow a version until it is decided on and its host nodes are read',
    description:
      '`state`: the version as it is now, first at once and then after each change; `steps`: `{steps: [{step, state, at?}]}` of `received`, `read`, `scanned`, `host_nodes` and `active`, each `waiting`, `running`, `done`, `failed` or `held`, before the state that has changed them; `end`: the version, once it is no longer Pending and `host_node_extract_status` is neither pending nor reported. With Last-Event-ID what the caller has is not sent again.',
    params: OfVersion,
    requestHeaders: ['Last-Event-ID'],
    responses: STREAM_RESPONSES,
    errors: [...VERSION_ERRORS, 'streams_exceeded'],
    handler: (request) => streamVersion(deps, request),
  })

const streamVersion = async (
  deps: StreamDeps,
  request: RouteRequest<OfVersion>,
): Promise<RouteResponse> => {
  const { params, caller, headers } = request
  const find = async () => await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { id, revision } = await find()
  let known = headers['last-event-id']
  let sent: string | undefined
  if (known === `${revision}-end`) return STREAM_IS_OVER
  const read: ReadChanges = async () => {
    const { id: idNow, revision, hasSettled } = await find()
    // An expired version is deleted, and its number is free again.
    if (idNow !== id) throw errors.versionNotFound(params.nodeId, params.version)
    if (revision === known && !hasSettled) return []
    const [version, steps] = await withinDeadline(
      deps.sql,
      Promise.all([getVersion(deps.sql, id, deps), listVersionSteps(deps.sql, id)]),
    )
    const before = sent
    known = revision
    sent = JSON.stringify(steps)
    return [
      ...(sent !== before ? [{ event: 'steps', data: { steps } } as const] : []),
      hasSettled
        ? { event: 'end', id: `${revision}-end`, data: version }
        : { event: 'state', id: revision, data: version },
    ]
  }
  return await respondWithStream(deps, request, { id, read })
}
