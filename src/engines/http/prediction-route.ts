import { readFile } from 'node:fs/promises'

import { Type } from 'typebox'

import type { Signer } from '../../platform/adapters/signing.ts'
import { withinDeadline, type Transaction } from '../../platform/db/client.ts'
import { parseStorable } from '../../platform/db/storable-text.ts'
import { apiError, ApiError, errors } from '../../platform/domain/errors.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import {
  defineRoute,
  ok,
  type Route,
  type RouteRequest,
  type SavedResponse,
} from '../../platform/http/route.ts'
import { takeFile, type UploadedFileDeps } from '../../platform/http/uploaded-file.ts'
import { findPredictedTask, recordPrediction } from '../db/prediction.ts'
import { readPrediction, type Prediction } from '../domain/cog/prediction.ts'
import { RESPONSE_BYTES } from '../origin.ts'

export interface PredictionDeps extends UploadedFileDeps, CommitDeps {
  signer: Pick<Signer, 'verifyPrediction'>
}

/** The route to which engines of ENGINES_HTTP send what they say of a prediction. */
export const makePredictionRoute = (deps: PredictionDeps): Route =>
  defineRoute({
    method: 'post',
    path: '/engines/predictions/:id/:secret',
    unread: 'ignored',
    tag: 'Engines',
    summary: 'Say how a prediction stands',
    description:
      'The webhook of a prediction, which an engine that speaks the HTTP API of cog is given. It is there until the first end; its secret is the credential.',
    auth: 'none',
    params: Type.Object({
      id: Type.String({ description: 'Id of the prediction.' }),
      secret: Type.String({ description: 'Its secret.' }),
    }),
    rawBody: { mediaType: '*/*', description: 'The prediction, in JSON.' },
    responses: ok('It is kept.', Type.Object({})),
    errors: ['prediction_not_found', 'body_required', 'outcome_unknown'],
    // Several a second come from one address, of all instances there.
    quota: 'read',
    handler: (request) => receive(deps, request),
  })

const receive = async (
  deps: PredictionDeps,
  request: RouteRequest<{ id: string; secret: string }>,
): Promise<SavedResponse> => {
  const { id, secret } = request.params
  const { sql, signer } = deps
  const isKnown = isUuid(id) && signer.verifyPrediction(id, secret)
  // Before a byte of its body is read.
  const taskId = isKnown ? await withinDeadline(sql, findPredictedTask(sql, id)) : undefined
  if (taskId === undefined) throw apiError('prediction_not_found')
  const rules = {
    request,
    maxBytes: RESPONSE_BYTES,
    headBytes: 0,
    emptyCode: 'body_required',
  } as const
  const prediction = await takeFile(deps, rules, async ({ path }) => {
    const body = parseStorable(await readFile(path, 'utf8'))
    return body && readPrediction(body, id)
  }).catch((error: unknown) => {
    // It would be sent again, and be too large again.
    if (error instanceof ApiError && error.code === 'body_too_large') return TOO_LARGE
    throw error
  })
  if (!prediction) throw errors.validationFailed(['the body must be a prediction'])
  const record = async (sql: Transaction): Promise<SavedResponse> => {
    if (!(await recordPrediction(sql, id, prediction))) throw apiError('prediction_not_found')
    return await request.saveIdempotentResponse(sql, { status: 200, body: {} })
  }
  return await unitOfWork(deps, record, { of: taskId })
}

const TOO_LARGE: Prediction = {
  status: 'failed',
  logs: '',
  output: null,
  error: `its webhook has more than ${RESPONSE_BYTES} bytes: give the engine an upload address`,
}
