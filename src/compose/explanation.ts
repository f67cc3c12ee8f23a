import type { TaskDelivery } from '../events/db/task-delivery.ts'
import { originOf } from '../platform/domain/address.ts'
import type { WorkflowRun } from '../platform/temporal/run.ts'
import type { TaskContext } from '../tasks/db/explanation.ts'
import type { OpenTask } from '../tasks/db/operator.ts'
import type { TaskDetailRow } from '../tasks/db/task-detail.ts'
import type { Finding } from '../tasks/domain/explanation.ts'
import type { TaskDetail } from '../tasks/domain/task-item.ts'
import * as wait from '../tasks/domain/waits-for.ts'
import { adviseEngineWorker, START_CORE } from '../tasks/domain/worker-advice.ts'
import { counted } from '../platform/domain/counted.ts'

/** All that is known of a task. */
export interface Facts {
  task: OpenTask
  detail: TaskDetailRow
  context: TaskContext
  /** Response of Temporal, or why there is none; absent of a task that waits or has ended. */
  run?: { found: WorkflowRun | undefined } | { error: string }
  attempts: TaskDetail['attempts']
  deliveries: readonly TaskDelivery[]
}

/** Says what is known of a task, from its row to its deliveries. */
export const listFindings = (facts: Facts): Finding[] => [
  ...say('task', [describeTask(facts)]),
  ...say('wait', [wait.explainWait(facts.detail.waitsFor) ?? []].flat()),
  ...say('workflow', describeWorkflow(facts)),
  ...say('placement', [facts.context.placement ?? []].flat().map(describePlacement)),
  ...say(
    'attempt',
    facts.attempts.map((attempt) => describeAttempt(attempt, facts)),
  ),
  ...say('delivery', facts.deliveries.map(describeDelivery)),
]

const say = (about: Finding['about'], texts: string[]): Finding[] =>
  texts.map((text) => ({ about, text }))

/** Says what an operator does next, the most urgent first. */
export const listNextSteps = (facts: Facts): string[] => {
  const steps = [
    adviseTask(facts) ?? [],
    ...facts.deliveries.flatMap((delivery) => adviseDelivery(facts.task.id, delivery)),
  ].flat()
  return steps.length > 0 ? [...new Set(steps)] : ['Nothing: it has ended.']
}

const describeTask = ({ task, detail: { item, movedAt, engineError } }: Facts): string =>
  [
    `${item.kind} of ${task.owner} on the engine ${task.engine}, made at ${item.created_at}: ${item.state} since ${movedAt.toISOString()}.`,
    item.error && `${item.error.code}: ${item.error.message}`,
    engineError && `Its engine said: ${engineError}`,
    item.deleted_at && `Its owner deleted it at ${item.deleted_at}.`,
  ]
    .filter(Boolean)
    .join(' ')

const describeWorkflow = ({ run, attempts, context: { start } }: Facts): string[] => {
  const sent = start?.error ? [`Temporal did not take its start: ${start.error}`] : []
  if (run === undefined) return sent
  if ('error' in run) return [...sent, `Temporal says nothing: ${run.error}`]
  if (run.found === undefined) return [...sent, 'Temporal knows no run of it.']
  const { status, activities } = run.found
  return activities.length > 0
    ? activities.map((activity) => describeActivity(activity, attempts))
    : [...sent, `Its run in Temporal is ${status.toLowerCase()}, and waits for no activity.`]
}

/** Activities that render: each of their attempts is one of the task. */
const RENDERS = /^render/
type Activity = WorkflowRun['activities'][number]

/** True of an activity that is between two attempts. */
const isBetween = ({ isStarted, isPaused, failure, nextAttemptAt }: Activity): boolean =>
  !isStarted && !isPaused && failure !== undefined && nextAttemptAt !== undefined

/** Finds the number of an attempt in the list of the task's: Temporal counts from one after each time that it was put back. */
const numberOf = (activity: Activity, attempts: Facts['attempts']): number => {
  const last = RENDERS.test(activity.type) ? attempts.at(-1) : undefined
  if (!last) return activity.attempt
  return activity.isStarted ? last.number : last.number + 1
}

const describeActivity = (activity: Activity, attempts: Facts['attempts']): string => {
  const { type, worker, startedAt, nextAttemptAt, failure, heartbeat } = activity
  const attempt = numberOf(activity, attempts)
  const { step, percent, reason } = heartbeat
  const now = [step && `${step}, ${percent} %`, reason].filter(Boolean).join(', but ')
  const failed = failure ? ` The attempt before failed: ${failure}` : ''
  if (activity.isPaused) return `${type} is paused in Temporal.${failed}`
  if (activity.isStarted)
    return `${type} runs on ${worker} since ${startedAt}, attempt ${attempt}${now && `: ${now}`}.${failed}`
  return isBetween(activity)
    ? `${type} is between attempts: attempt ${attempt} is due at ${nextAttemptAt}, and ${worker} had the one before.${failed}`
    : `${type} is in its queue for a worker, attempt ${attempt}.${failed}`
}

const describePlacement = (placement: NonNullable<TaskContext['placement']>): string => {
  const { instance, state, detail, at, endedAt } = placement
  const until = endedAt === null ? '' : ` until ${endedAt}`
  return `On ${instance} since ${at}${until}: ${[state.replaceAll('_', ' '), detail].filter(Boolean).join(', ')}.`
}

const describeAttempt = (
  attempt: TaskDetail['attempts'][number],
  { run, attempts }: Facts,
): string => {
  const { number, started_at: from, ended_at: to, error } = attempt
  // The rows do not know of a failure that costs no attempt, such as that of a full store.
  const hasFailed =
    attempt === attempts.at(-1) &&
    (run && 'found' in run ? (run.found?.activities ?? []) : []).some(
      (activity) => RENDERS.test(activity.type) && isBetween(activity),
    )
  const outcome = hasFailed && attempt.outcome === 'running' ? 'failed' : attempt.outcome
  const until = to === undefined ? '' : ` until ${to}`
  return `Attempt ${number} since ${from}${until}: ${[outcome.replaceAll('_', ' '), error].filter(Boolean).join(', ')}.`
}

const describeDelivery = (delivery: TaskDelivery): string => {
  const { status, state, attempts, nextAttemptAt, url, endpointId } = delivery
  const whose = endpointId === null ? '' : ` of the subscription ${endpointId}`
  return [
    `${status} to ${url === null ? 'nobody any more' : originOf(url)}${whose}: ${state} after ${counted(attempts, 'attempt')}.`,
    delivery.isPaused && 'Its host is paused.',
    attempts > 0 && `The last one: ${describeResponse(delivery)}.`,
    nextAttemptAt && `The next one is due at ${nextAttemptAt.toISOString()}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const describeResponse = ({ responseStatus, errorClass, errorDetail }: TaskDelivery): string =>
  [
    responseStatus && `status ${responseStatus}`,
    errorClass,
    // It may name where a redirect leads, with a secret of the owner in the path.
    errorDetail?.replaceAll(/(https?:\/\/[^/\s;]+)[^\s;]*/g, '$1'),
  ]
    .filter(Boolean)
    .join(', ') || 'no response yet'

const DOCTOR = 'Mend Temporal: `kiln operate doctor` says what it lacks.'

const adviseTask = (facts: Facts): string | undefined => {
  const { task, detail, context } = facts
  const { waitsFor, item } = detail
  if (task.ended)
    return item.state === 'failed'
      ? `Mend what ${item.error?.code} stands for. Then its caller, or an operation, makes the task again.`
      : undefined
  const [reason] = waitsFor ?? []
  if (reason !== undefined) return (WAITS[reason] ?? adviseMachines)(facts)
  if (waitsFor !== null) return 'Wait until a machine is free, or add one.'
  const { missingWorker: missing } = context
  const isMissing = missing === wait.NO_CORE || (missing && facts.attempts.length === 0)
  return isMissing ? adviseWorker(facts) : adviseRun(facts)
}

const adviseMachines = (): string =>
  'Bring back an instance that can run it, or give one what it lacks: `kiln operate instances` and `kiln operate templates` say more.'

const adviseWorker = ({ task: { engine }, context: { missingWorker } }: Facts): string => {
  const isNone = missingWorker === wait.NO_CORE || engine === 'local'
  const advice = missingWorker === wait.NO_CORE ? START_CORE : adviseEngineWorker(engine)
  return `S${advice.slice(1)}: ${isNone ? 'none lives' : 'none that lives serves it'}.`
}

/** Advice by the first reason why a task waits. */
const WAITS: Readonly<Record<string, (facts: Facts) => string>> = {
  [wait.PAUSED]: ({ context: { pauses } }) =>
    `Resume ${pauses.join(' and ')} on the Operations page of the console, or wait for the end of the pause.`,
  [wait.BROKEN]: ({ task: { engine } }) =>
    `Mend the engine ${engine}, as \`kiln operate doctor\` says: its first response lets all go on.`,
  [wait.LATER]: () => 'Nothing: it begins at the time that its request gives.',
  [wait.UNSERVED]: adviseWorker,
  [wait.NO_CORE]: adviseWorker,
  [wait.NOT_STARTED]: () => DOCTOR,
  [wait.BUSY]: () =>
    'Wait, or add workers. `kiln operate stuck` lists tasks that hold one too long.',
  [wait.FULL]: () => 'Wait until a task of its template ends.',
  [wait.SILENT]: () =>
    'Look after its machine: `kiln operate instances` says since when it is silent.',
  slot: ({ task: { owner } }) =>
    `Wait until a video of ${owner} ends, or give this owner more slots on the Operations page.`,
  behind: () => 'Wait: tasks of its account with a higher priority go first.',
  turn: () => 'Wait for its turn, or add workers.',
}

const adviseRun = ({ task: { id }, run, context }: Facts): string => {
  if (context.start?.error || (run && 'error' in run)) return DOCTOR
  const { status = '', activities = [] } = run?.found ?? {}
  const restart = `\`kiln operate restart ${id}\``
  // One that was admitted a moment ago is on its way to Temporal.
  if (status !== 'RUNNING' && context.start === null)
    return `${restart} starts its workflow again. The service does so by itself ten minutes after the last move.`
  if (activities.some(({ isPaused }) => isPaused))
    return 'Unpause its activity in the Temporal UI, where somebody has paused it.'
  const [activity] = activities
  const stall = activity?.heartbeat.reason
  if (activity?.isStarted && stall) return `Mend this: ${stall}. Its worker goes on by itself.`
  if (activity?.isStarted)
    return `Wait: ${activity.worker} has it. Where that worker hangs, ${restart} lets another one begin.`
  return activity?.failure
    ? `Mend what the last attempt failed by: ${activity.failure}. The next one comes by itself.`
    : 'Wait for ten seconds: then this says why no worker takes it.'
}

const adviseDelivery = (taskId: string, delivery: TaskDelivery): string[] => {
  const { state, url, isPaused, errorClass, id } = delivery
  if (url === null || !['pending', 'exhausted'].includes(state)) return []
  const { host } = new URL(url)
  if (isPaused) return [`Resume host:${host} on the Operations page of the console.`]
  if (!errorClass) return []
  const mend = `Have the webhook URL at ${host} mended: ${describeResponse(delivery)}.`
  const again = `Then POST /tasks/${taskId}/events/${id}/redeliver sends it again.`
  return [state === 'pending' ? `${mend} The next attempt comes by itself.` : `${mend} ${again}`]
}
