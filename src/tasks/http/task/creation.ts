import { createTask } from '../../create.ts'
import type { Creation, TaskCommand } from '../../creation.ts'
import type { TaskDeps } from '../../deps.ts'
import { tryTask } from '../../dry-run.ts'
import { ownerOf } from '../../../platform/http/access/caller.ts'
import type {
  BodySpec,
  JsonResponse,
  RouteRequest,
  SavedResponse,
  HeaderMember,
} from '../../../platform/http/route.ts'
import { DryRunQuery } from './dry-run.ts'
import { END_WITHIN, WITHIN_MAX } from '../../domain/task-options.ts'

/** Makes of a creation what its route has of it: body, rules and handlers. */
export const makeCreationParts = (
  deps: TaskDeps,
  creation: Creation,
  shown: Pick<BodySpec, 'examples' | 'document'>,
) => {
  const {
    path,
    unread,
    secretResponse,
    echo,
    validate,
    listIneffective,
    plan: _,
    ...form
  } = creation
  return {
    method: 'post' as const,
    path,
    query: DryRunQuery,
    requestHeaders: [CANCEL_AFTER.header],
    quota: 'create' as const,
    ...(unread && { unread }),
    ...(secretResponse && { secretResponse }),
    ...(echo !== undefined && { echo }),
    body: { ...form, deadlineMs: 120_000, headerMember: CANCEL_AFTER, ...shown } as BodySpec,
    validate,
    ...(listIneffective && { listIneffective }),
    dryRun: async (request: RouteRequest): Promise<JsonResponse> => ({
      status: 200,
      body: await tryTask(deps, creation, commandOf(request)),
    }),
    handler: (request: RouteRequest): Promise<SavedResponse> =>
      createTask(deps, creation, {
        ...commandOf(request),
        save: (sql, { response }) => request.saveIdempotentResponse(sql, response),
      }),
  }
}

const commandOf = (request: RouteRequest): TaskCommand => {
  const { caller, body, inline } = request
  const { keyId: apiKeyId, keyLimits } = caller ?? {}
  const key = { apiKeyId, isKeyCapped: keyLimits?.isCapped === true }
  return { owner: ownerOf(request), account: request.account(), ...key, body, inline }
}

const FORM = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?$/

/** The header that clients of Replicate's kind send for a deadline: seconds, or hours, minutes and seconds. */
const CANCEL_AFTER: HeaderMember = {
  header: 'Cancel-After',
  member: END_WITHIN,
  expectation: `seconds from 1 to ${WITHIN_MAX}, or a duration such as 1h30m`,
  read: (text) => {
    const [given = '', hours = '0', minutes = '0', seconds = '0'] = FORM.exec(text.trim()) ?? []
    const all = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
    return given !== '' && all >= 1 && all <= WITHIN_MAX ? all : undefined
  },
}
