import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { OutboundError } from '../../src/platform/outbound/error.ts'
import { makeBody } from '../../src/engines/upstream/body.ts'
import type { StreamedBody } from '../../src/engines/upstream/body.ts'
import type {
  NoResponse,
  Upstream,
  UpstreamResponse,
  UpstreamRequest,
} from '../../src/engines/upstream/upstream.ts'
import { findTaskState, recordResubmission, storeUpstreamId } from '../../src/tasks/db/task.ts'
import type { ClaimedTask } from '../../src/tasks/db/task-transition.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { OPEN_STATES } from '../../src/tasks/domain/task-item.ts'
import type { TaskErrorCode } from '../../src/tasks/domain/task-error.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { RenderDependencies, VendorDependencies } from './dependencies.ts'
import { EngineError } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import { linger, makePace, POLL_PACE, SUBMIT_PACE } from './upstream-pace.ts'

/** Requests of a family of tasks to an upstream. */
export interface UpstreamJob<Done> {
  /** The creation. Asked for once, and only by the attempt that submits. */
  submission(): Promise<{ path: string; body: StreamedBody }>
  /** The id in the response to a creation; undefined when it holds none. */
  idOf(body: UpstreamResponse['body']): string | undefined
  statusPath(id: string): string
  cancelPath(id: string): string
  /** Reads the body of a status route; undefined when it cannot be read. Throws the error of a task that has failed. */
  read(body: UpstreamResponse['body']): { percent: number; done?: Done } | undefined
  /** The error of a creation that was rejected, in the words of the family. */
  toError(error: TaskError, body: UpstreamResponse['body']): Error
}

interface UpstreamTask<Done, Made> {
  deps: VendorDependencies
  upstream: Upstream
  task: ClaimedTask
  attempt: RenderAttempt
  job: UpstreamJob<Done>
  /** Scope of its breaker. */
  scope: string
  /** Fetches the results into an empty folder. */
  copy(done: Done, dir: string): Promise<Made>
}

/**
 * Has an upstream do a task: submits it, unless an earlier attempt has, waits for its end, and fetches what it made. The
 * key of a submission is the task's id and the number of the submission, so repeating it makes no second task there. A
 * request without a response, or with an error that passes, is repeated until the deadline. A task that the upstream has
 * forgotten is submitted again as often as the operator lets it be.
 */
export const runUpstreamTask = async <Done, Made>(
  given: UpstreamTask<Done, Made>,
): Promise<Made> => {
  const { attempt } = given
  let { task } = given
  for (;;) {
    const now = { ...given, task }
    const id = task.upstreamId ?? (await submit(now))
    attempt.report('waiting for the upstream', 0, id)
    try {
      return await cancelAtEnd(
        now,
        () => follow(now, id),
        () => cancel(now, id),
      )
    } catch (error) {
      if (!(error instanceof TaskError && error.code === 'upstream_lost')) throw error
      task = await forget(now, id, error)
    }
  }
}

/**
 * Has a task that its upstream has forgotten submitted again.
 * @throws the error where it was submitted often enough
 */
const forget = async <Done, Made>(
  { deps, upstream, task, scope }: UpstreamTask<Done, Made>,
  upstreamId: string,
  error: TaskError,
): Promise<ClaimedTask> => {
  const { id, resubmissions } = task
  if (resubmissions >= upstream.resubmit) throw error
  failpoint('upstream.before-forget')
  if (!(await recordResubmission(deps.sql, task))) throw new Error(OVER)
  failpoint('upstream.after-forget')
  const facts = { task_id: id, upstream_id: upstreamId, resubmissions: resubmissions + 1 }
  deps.log.warn(facts, 'the upstream has forgotten a task, which is sent there again')
  deps.metrics?.resubmissions.inc({ engine: scope })
  return { ...task, upstreamId: null, resubmissions: resubmissions + 1 }
}

/** Key of a submission: the same for whoever repeats it, and another one for each that follows. */
const keyOf = ({ id, resubmissions }: ClaimedTask): string =>
  resubmissions === 0 ? id : `${id}-${resubmissions}`

const OVER = 'the task has ended or is with a newer attempt'

interface RemoteTask {
  deps: Pick<RenderDependencies, 'sql'>
  task: Pick<ClaimedTask, 'id'>
  attempt: RenderAttempt
}

/** Follows work elsewhere, and cancels it there when nobody waits for the task any more. */
export const cancelAtEnd = async <Result>(
  given: RemoteTask,
  work: () => Promise<Result>,
  cancel: () => Promise<void>,
): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    const { attempt } = given
    if (attempt.isOver() || (attempt.signal.aborted && (await hasEnded(given))))
      await cancel().catch(() => undefined)
    throw error
  }
}

/** Reads the row: neither a workflow that has ended nor a server that has given it up says why to its activity. */
const hasEnded = async ({ deps, task }: Omit<RemoteTask, 'attempt'>): Promise<boolean> => {
  const found = await findTaskState(deps.sql, task.id)
  return found !== undefined && !OPEN_STATES.includes(found.state)
}

const submit = async <Done, Made>(given: UpstreamTask<Done, Made>): Promise<string> => {
  const { task, attempt, job } = given
  const { path, body } = await job.submission()
  attempt.report('submitting to the upstream', 0)
  const lingering = linger(attempt.signal)
  const pace = makePace(SUBMIT_PACE)
  try {
    failpoint('upstream.before-submit')
    for (;;) {
      attempt.signal.throwIfAborted()
      const { signal } = lingering
      const response = await ask(given, { path, body, idempotencyKey: keyOf(task), signal })
      const id = response && isSuccess(response) ? job.idOf(response.body) : undefined
      if (id !== undefined) return await keepId(given, id)
      if (response && !isSuccess(response)) reject(given, response)
      await sleep(pace.next(response), undefined, { signal: attempt.signal })
    }
  } finally {
    lingering.stop()
  }
}

/**
 * Stores the id before anything else is done with it. A newer attempt that holds the fence has the same one. Where the
 * task has ended meanwhile, nobody else would cancel it at the upstream.
 */
const keepId = async <Done, Made>(
  given: UpstreamTask<Done, Made>,
  upstreamId: string,
): Promise<string> => {
  const { deps, task } = given
  failpoint('upstream.after-response')
  if (await storeUpstreamId(deps.sql, { id: task.id, fence: task.fence, upstreamId })) {
    failpoint('upstream.after-store')
    return upstreamId
  }
  if (await hasEnded(given)) await cancel(given, upstreamId)
  throw new Error(OVER)
}

const follow = async <Done, Made>(given: UpstreamTask<Done, Made>, id: string): Promise<Made> => {
  const { task, attempt, job } = given
  const { signal } = attempt
  const path = job.statusPath(id)
  const pace = makePace(POLL_PACE)
  // What an earlier attempt has submitted may be done by now.
  let response = task.upstreamId === null ? undefined : await ask(given, { path, signal })
  for (;;) {
    const record = response && readStatus(given, response)
    if (record) attempt.report('rendering at the upstream', record.percent, id)
    const made = record?.done && (await copy(given, id, record.done))
    if (made) return made
    failpoint('upstream.between-polls')
    await sleep(pace.next(response), undefined, { signal })
    response = await ask(given, { path, signal })
  }
}

const readStatus = <Done, Made>(
  { job, deps, task, upstream }: UpstreamTask<Done, Made>,
  response: UpstreamResponse,
) => {
  if (response.status === 404)
    throw new TaskError('upstream_lost', undefined, giveReason(upstream, 'status 404 of the task'))
  const record = isSuccess(response) ? job.read(response.body) : undefined
  if (!record)
    deps.log.warn({ task_id: task.id, status: response.status }, 'the upstream reports no status')
  return record
}

/** Fetches the results; undefined when they are to be asked for again, with fresh links. */
const copy = async <Done, Made>(
  given: UpstreamTask<Done, Made>,
  id: string,
  done: Done,
): Promise<Made | undefined> => {
  given.attempt.report('fetching the results', 100, id)
  const dir = join(given.attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  try {
    return await given.copy(done, dir)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const code = COPY_ERRORS[error.status ?? error.kind]
    if (code)
      throw new TaskError(code, undefined, giveReason(given.upstream, `a result: ${error.message}`))
    given.deps.log.warn({ task_id: given.task.id, reason: error.message }, 'no result fetched')
    return undefined
  }
}

/** Makes a folder for results: a copy that was cut may be repeated until the deadline, and a disk does not hold them all. */
export const emptyFolder = async (dir: string): Promise<void> => {
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir)
}

/** Errors of a result that no repetition mends. */
const COPY_ERRORS: Partial<Record<number | string, TaskErrorCode>> = {
  404: 'upstream_lost',
  410: 'upstream_lost',
  too_large: 'upstream_failed',
  address_refused: 'upstream_failed',
  downgrade: 'upstream_failed',
}

/** Cancels once; the response of the upstream does not matter. */
const cancel = async <Done, Made>(given: UpstreamTask<Done, Made>, id: string): Promise<void> => {
  const body = await makeBody({}, {})
  const signal = AbortSignal.timeout(CANCEL_MS)
  await ask(given, { path: given.job.cancelPath(id), body, signal }).catch(() => undefined)
}

const CANCEL_MS = 5000

/**
 * Sends a request; undefined when there is no response.
 * @throws PutBackError while its breaker is open
 */
const ask = async <Done, Made>(
  { upstream, deps, task, scope, attempt }: UpstreamTask<Done, Made>,
  request: UpstreamRequest,
): Promise<UpstreamResponse | undefined> => {
  const at = `the upstream at ${upstream.name}`
  const onSilence = (since: Date): void =>
    attempt.reportStall(`${at} has not responded since ${since.toISOString()}`)
  const response = await upstream.ask({ ...request, onSilence })
  const isResponse = 'status' in response
  if (!isResponse)
    deps.log.warn(
      { task_id: task.id, upstream: upstream.name, reason: response.reason },
      'the upstream does not respond',
    )
  const found = isResponse ? `gave status ${response.status}` : describeSilence(response)
  if (!isResponse || !isSuccess(response)) attempt.reportStall(`${at} ${found}`)
  if (isResponse && response.status < 500) await deps.breaker?.succeed(scope)
  // Whoever waits no longer has ended the request, and not the upstream.
  else if (!request.signal.aborted && !attempt.isOver()) await deps.breaker?.fail(scope, task.id)
  return isResponse ? response : undefined
}

/** The reason of a time-out says itself that there was no response. */
const describeSilence = ({ reason }: NoResponse): string =>
  reason.startsWith('no response') ? `gave ${reason}` : `gave no response: ${reason}`

const isSuccess = ({ status }: UpstreamResponse): boolean => status >= 200 && status <= 299

/** Throws the error of a creation that was rejected for good. Any other may be sent again. */
const reject = <Done, Made>(
  { deps, task, job, upstream }: UpstreamTask<Done, Made>,
  { status, body }: UpstreamResponse,
): void => {
  const isInFlight = status === 409 && body['error'] === 'idempotency_in_flight'
  const facts = { task_id: task.id, upstream: upstream.name, status, error: body['error'] }
  if (status === 408 || status === 429 || status >= 500 || isInFlight)
    return deps.log.warn(facts, 'the upstream takes no task now')
  const code = REJECTIONS[status] ?? 'upstream_rejected'
  deps.log[code === 'upstream_rejected' ? 'warn' : 'error'](facts, 'the upstream rejected a task')
  const text = sayOf(body)
  const reported = code === 'upstream_rejected' ? upstream.clean(text) : ''
  const reason = giveReason(upstream, `status ${status}${text && `: ${text}`}`)
  throw job.toError(new TaskError(code, reported || undefined, reason), body)
}

/** Makes the options of an error that ends a task because of what an upstream says. */
export const giveReason = (upstream: Upstream, text: string): { cause: EngineError } => ({
  cause: new EngineError(upstream.clean(text), { isShown: upstream.showsErrors }),
})

const REJECTIONS: Partial<Record<number, TaskErrorCode>> = {
  401: 'upstream_unauthorized',
  402: 'upstream_no_credits',
  403: 'upstream_unauthorized',
}

/** Joins its message and the issues of single fields. */
const sayOf = ({ message, details }: UpstreamResponse['body']): string => {
  const issues = Array.isArray(details) ? details.filter((error) => error !== message) : []
  return [message, ...issues].filter((text) => typeof text === 'string').join(' ')
}
