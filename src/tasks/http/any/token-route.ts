import { randomBytes } from 'node:crypto'

import { Type } from 'typebox'

import { insertTaskToken } from '../../../identity/db/task-token.ts'
import { auditOf } from '../../../identity/http/access/audit.ts'
import { digest } from '../../../identity/http/access/digest.ts'
import { insertAudit } from '../../../platform/db/audit-log.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../../platform/domain/audit-log.ts'
import { makeCredential } from '../../../platform/domain/credential.ts'
import { errors } from '../../../platform/domain/errors.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../../platform/http/deps.ts'
import { created, defineRoute } from '../../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { findTaskFamily } from '../../db/task.ts'
import { TaskToken } from '../../domain/task-item.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'

/** Makes the route on which whoever may read a task makes a token that reads it, for a page that is not to have more. */
export const makeTaskTokenRoute = (deps: ReadDeps): Route =>
  defineRoute({
    tag: 'Tasks',
    method: 'post',
    auth: 'required',
    path: '/tasks/:task_id/tokens',
    summary: 'Make a token that reads one task',
    description:
      'It is for a page in a browser, of any origin: it reads `GET /tasks/{task_id}` and `GET /tasks/{task_id}/stream`, whose links to results need no credential, and nothing else. It goes in `Authorization: Bearer …`, or in `?token=` of the stream. It lives an hour at most and ends with the credential that it was made with. A task has 100 at once.',
    // A credential with a scope makes no others; this one can do nothing that its maker cannot.
    scopes: ['images', 'videos', 'read'],
    params: OfTask,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: created('The token, shown this once.', TaskToken, {
      example: {
        token: 'kiln_task_0123456789ABCDEFGHIJKLMNOPQRST0aB1cD',
        expires_at: '2026-01-01T01:00:00.000Z',
      },
    }),
    errors: ['task_not_found', 'quota_exceeded', 'outcome_unknown'],
    secretResponse: true,
    handler: (request) => createTaskToken(deps, request),
  })

const createTaskToken = async (
  { sql }: ReadDeps,
  request: RouteRequest<{ task_id: string }>,
): Promise<SavedResponse> => {
  const taskId = readTaskId(request.params.task_id)
  const { owner, principal: maker, isPlatformAdmin: isAdmin, ...credential } = getCaller(request)
  const token = makeCredential('task_token', randomBytes)
  const { keyId, session, expiresAt } = credential
  // The token ends with a session anyway, which outlives its bearer tokens of some minutes.
  const lastsUntil = session === undefined ? expiresAt : undefined
  const secondsLeft = lastsUntil && lastsUntil - Date.now() / 1000
  const row = { taskId, sha256: digest(token), maker, keyId, session, secondsLeft }
  return await unitOfWork({ sql }, async (sql) => {
    if (!(await findTaskFamily(sql, { id: taskId, owner, isAdmin })))
      throw errors.taskNotFound(taskId)
    const expires_at = (await insertTaskToken(sql, row)).toISOString()
    const [target, after] = [auditTarget.task(taskId), { expires_at }]
    await insertAudit(sql, auditOf(request), { action: 'task_token.create', target, after })
    const body: TaskToken = { token, expires_at }
    return await request.saveIdempotentResponse(sql, { status: 201, body })
  })
}
