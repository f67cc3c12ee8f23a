import { stat } from 'node:fs/promises'

import type { CogHost } from '../../src/engines/cog/cog-host.ts'
import { listPlacements, recordWait } from '../../src/engines/db/placement.ts'
import {
  findPrediction,
  readEndedPrediction,
  recordPrediction,
  recordSent,
} from '../../src/engines/db/prediction.ts'
import {
  readPercent,
  readPrediction,
  type Prediction,
} from '../../src/engines/domain/cog/prediction.ts'
import { cut } from '../../src/engines/domain/engine-reason.ts'
import { SilentError, type OriginResponse } from '../../src/engines/origin.ts'
import { makeBody, type InlineFile, type StreamedBody } from '../../src/engines/upstream/body.ts'
import { makeNotifier } from '../../src/platform/domain/notifier.ts'
import { gatherListed } from '../../src/tasks/domain/listed-file.ts'
import { SILENT } from '../../src/tasks/domain/waits-for.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { EngineTask } from './engine-task.ts'
import { inputPath, signInputs } from './fetch-inputs.ts'
import { PlacementError } from './leave.ts'
import { OVER, putBackWhileSilent } from './place.ts'
import type { Chosen } from './place.ts'

/** Time between two reads of the row, where no notification comes. */
const PACE_MS = 1000
/** Longest time between two requests for a prediction that says nothing: each sends its input again. */
const MAX_ASK_MS = 60_000

/** Waits for the end of a prediction, which it sends unless an earlier attempt has. */
export const followPrediction = async (
  given: EngineTask,
  chosen: Chosen<CogHost>,
): Promise<Prediction> => {
  const { deps, task, attempt } = given
  const { sql, fleet, changes } = deps
  const { instance, id } = chosen
  const notifier = makeNotifier()
  changes?.on(task.id, notifier.notify)
  const sending = makeSending(given, chosen, notifier.notify)
  const found = chosen.isNew ? undefined : await findPrediction(sql, id)
  try {
    if (!found?.wasSent) await sending.first()
    else if (fleet.isSynchronous && !found.hasEnded)
      throw new PlacementError(
        'lost',
        'its end was to come with a response that a worker waited for',
      )
    const check = await makeCheck(given, chosen, sending)
    let heardAt: number | undefined
    // Nobody knows whether an earlier attempt's has arrived.
    let quietSince = found?.wasSent ? -Infinity : performance.now()
    for (;;) {
      const { notifications } = notifier
      attempt.signal.throwIfAborted()
      const seen = await findPrediction(sql, id)
      if (!seen) throw new Error(OVER)
      if (seen.hasEnded) return await readEndedPrediction(sql, id)
      sending.throwIfLost()
      const at = seen.heardAt?.getTime() ?? 0
      if (heardAt !== undefined && at !== heardAt) quietSince = performance.now()
      heardAt = at
      attempt.report(`runs on ${instance.name}`, readPercent(seen.logs), `${instance.name}/${id}`)
      if (performance.now() - quietSince >= fleet.quietMs) await check()
      failpoint('upstream.between-polls')
      await notifier.wait(PACE_MS, attempt.signal, notifications)
    }
  } finally {
    sending.end()
    changes?.off(task.id, notifier.notify)
  }
}

/**
 * Makes the check of a prediction that is silent. One that does not run any more has ended, and its end was
 * sent just now, or is lost. Only while an instance works may it be asked for the prediction, by the same request: one that
 * has ended would begin again.
 */
const makeCheck = async (
  given: EngineTask,
  { instance }: Chosen<CogHost>,
  sending: ReturnType<typeof makeSending>,
) => {
  const { deps, task } = given
  const { fleet, sql } = deps
  const placements = await listPlacements(sql, task.id)
  const losses = placements.filter(({ state }) => state === 'lost').length
  // While no api is there all ends are late, and a placement for each would soon be the last.
  const lateMs = fleet.lateMs * 2 ** losses
  let silentSince: number | undefined
  let idleSince: number | undefined
  const say = async (reasons: readonly string[] | null): Promise<void> => {
    if (await recordWait(sql, { ...task, reasons })) deps.notifyChange(task.id)
  }
  let askMs = fleet.quietMs
  let askedAt = -Infinity
  return async (): Promise<void> => {
    const now = performance.now()
    try {
      const status = await instance.readStatus()
      if (silentSince !== undefined) await say(null)
      silentSince = undefined
      if (status !== 'BUSY') {
        idleSince ??= now
        if (now - idleSince >= lateMs)
          throw new PlacementError(
            'lost',
            sending.noResponse() ?? `it does not run any more: its engine is ${status}`,
          )
        return
      }
      idleSince = undefined
      if (fleet.isSynchronous || !fleet.resubmits || now - askedAt < askMs) return
      if (askedAt > 0) askMs = Math.min(2 * askMs, MAX_ASK_MS)
      askedAt = now
      await sending.again()
    } catch (error) {
      if (!(error instanceof SilentError)) throw error
      if (silentSince === undefined) await say([SILENT])
      silentSince ??= now - (instance.silence()?.ms ?? 0)
      // The end of a synchronous one comes with the response that this attempt waits for.
      if (!fleet.isSynchronous) await putBackWhileSilent(given)
      if (now - silentSince >= fleet.lostMs) throw new PlacementError('unreachable', error.message)
    }
  }
}

/** Time for a request with its files. */
const SEND_MS = 300_000

/** Makes what sends a prediction, once and again. The response to a synchronous one is awaited meanwhile. */
const makeSending = (given: EngineTask, { instance, id }: Chosen<CogHost>, notify: () => void) => {
  const { deps, task, attempt } = given
  const { sql, fleet } = deps
  const ended = new AbortController()
  let loss: unknown
  let noResponse: string | undefined
  const take = async (response: OriginResponse): Promise<void> => {
    const prediction = readPrediction(response.body, id)
    if (prediction) await recordPrediction(sql, id, prediction)
    else if (fleet.isSynchronous)
      throw new PlacementError('failed', 'its response is no prediction')
    notify()
  }
  const send = async (): Promise<OriginResponse> => {
    const body = await makePredictionBody(given, instance, id)
    if (!(await recordSent(sql, { id, task }))) throw new Error(OVER)
    failpoint('upstream.before-submit')
    const signal = AbortSignal.any([attempt.signal, ended.signal])
    const { isSynchronous } = fleet
    const response = await instance.send(id, body, {
      isSynchronous,
      totalMs: isSynchronous ? SYNCHRONOUS_MS : SEND_MS,
      signal,
    })
    failpoint('upstream.after-response')
    const rejection = readRejection(response)
    if (rejection) throw rejection
    return response
  }
  return {
    async first(): Promise<void> {
      attempt.report(`sending to ${instance.name}`, 0, `${instance.name}/${id}`)
      if (fleet.isSynchronous)
        return void send()
          .then(take)
          .catch((error: unknown) => {
            const isSilent = error instanceof SilentError
            loss = isSilent ? toLoss(error) : error
            notify()
          })
      const response = await send().catch((error: unknown) => {
        if (!(error instanceof SilentError)) throw error
        if (error.isUnsent) throw toLoss(error)
        noResponse = error.message
        failpoint('upstream.no-response')
      })
      if (!response) return
      await take(response)
      await deps.breaker?.succeed(given.scope, { onlyOpen: true })
    },
    async again(): Promise<void> {
      const response = await send().catch((error: unknown) => {
        if (!(error instanceof PlacementError) || error.end !== 'busy') throw error
        throw new PlacementError('lost', 'it does not know the prediction')
      })
      await take(response)
    },
    /** Why the first request had no response that can be used: it may have arrived all the same. */
    noResponse: () => noResponse,
    throwIfLost(): void {
      if (loss !== undefined) throw loss
    },
    /** Ends a request that still waits. */
    end: () => ended.abort(),
  }
}

/** The deadline of the task ends it before. */
const SYNCHRONOUS_MS = 2_147_000_000

const toLoss = ({ isUnsent, message }: SilentError): PlacementError =>
  new PlacementError(isUnsent ? 'unsent' : 'lost', message)

/** Larger inputs go as links, to an engine that reaches this service: it need not hold a request of so many bytes. */
const INLINE_BYTES = 2 ** 19

/** Makes the request of a prediction, with the members that the instance takes. Throws a SilentError. */
const makePredictionBody = async (
  { deps, task, attempt, values, files }: EngineTask,
  instance: CogHost,
  id: string,
): Promise<StreamedBody> => {
  const { fleet, signer } = deps
  const { schema, issues } = await instance.readSchema()
  if (!schema) throw new PlacementError('unable', issues.join('; '))
  const links = fleet.isSynchronous ? {} : await signInputs(deps, task)
  const isTaken = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && value !== null && Object.hasOwn(schema.inputs, name)
  const sent: Record<string, InlineFile | string> = {}
  for (const [name, { path, extension }] of Object.entries(files)) {
    // One that was converted for the engine is not what the store has.
    const field = Object.keys(links).find((one) => inputPath(attempt, one) === path)
    const link = field && links[field]
    const isLarge = link !== undefined && (await stat(path)).size > INLINE_BYTES
    sent[name] = isLarge ? link : { path, type: typeOf(extension) }
  }
  const webhook = {
    webhook: signer.signPrediction(id),
    webhook_events_filter: ['start', 'logs', 'completed'],
  }
  return await makeBody(
    Object.fromEntries(Object.entries(values).filter(isTaken)),
    Object.fromEntries(Object.entries(gatherListed(sent)).filter(isTaken)),
    { within: { member: 'input', beside: { id, ...(!fleet.isSynchronous && webhook) } } },
  )
}

/** Media type of a file that is sent: pictures are PNG, JPEG or WebP. */
const typeOf = (extension: string): string =>
  extension === 'mp4' ? 'video/mp4' : `image/${extension.replace('jpg', 'jpeg')}`

/** Reads why a prediction was not taken; undefined of one that was. Throws a SilentError of an error that passes. */
const readRejection = ({ status, body }: OriginResponse): PlacementError | undefined => {
  if (status < 300) return undefined
  const detail = cut(`responded with status ${status}: ${JSON.stringify(body)}`)
  if (status === 409) return new PlacementError('busy', detail)
  if (status === 413) return new PlacementError('too_large', detail)
  if (status === 400 || status === 422) return new PlacementError('rejected', detail)
  if (status === 408 || status === 429) throw new SilentError(detail)
  return new PlacementError('unable', detail)
}
