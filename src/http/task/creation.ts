import type { Creation, TaskCommand } from '../../tasks/creation.ts'
import { ownerOf } from '../access/caller.ts'
import type { BodySpec, JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { CANCEL_AFTER } from './cancel-after.ts'
import { DryRunQuery } from './dry-run.ts'

/** Makes of a creation what its route has of it: body, rules and handlers. */
export const makeCreationParts = (
  {
    path,
    unread,
    secretResponse,
    echo,
    validate,
    listIneffective,
    tryOut,
    create,
    ...form
  }: Creation,
  shown: Pick<BodySpec, 'examples' | 'document'>,
) => ({
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
    body: await tryOut(commandOf(request)),
  }),
  handler: (request: RouteRequest): Promise<SavedResponse> =>
    create({
      ...commandOf(request),
      save: (sql, { response }) => request.saveIdempotentResponse(sql, response),
    }),
})

const commandOf = (request: RouteRequest): TaskCommand => {
  const { caller, body, inline } = request
  const apiKeyId = caller?.keyLimits?.isCapped ? caller.keyId : undefined
  return { owner: ownerOf(request), account: request.account(), apiKeyId, body, inline }
}
