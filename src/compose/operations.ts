import { readQueueFacts } from './dependencies.ts'
import { listEngineProblems } from './engine-problems.ts'
import { explainTask } from './explain-task.ts'
import { FAMILIES } from '../tasks/domain/family.ts'
import { withinDeadline, type Transaction } from '../platform/db/client.ts'
import { listWaitingUrls } from '../events/db/delivery.ts'
import { readSentEvents } from '../events/db/last-hour.ts'
import { insertAudit } from '../platform/db/audit-log.ts'
import { listStuckVersions, type OpenVersion } from '../registry/db/open-version.ts'
import { readWaitingOutbox } from '../platform/db/outbox.ts'
import type { AdmissionRules } from '../tasks/db/admission.ts'
import { readEndedTasks } from '../tasks/db/last-hour.ts'
import { listCrashed } from '../engines/db/device-error.ts'
import { countWaiting, drainInstance, listInstanceDetails } from '../engines/db/fleet.ts'
import type { DrainedInstance } from '../engines/db/fleet.ts'
import { STUCK_SECONDS, listStuckTasks, type OpenTask } from '../tasks/db/operator.ts'
import type { ReadDependencies } from '../platform/process/dependencies.ts'
import { unitOfWork, type Enqueue, type UnitDeps } from '../platform/db/unit-of-work.ts'
import { auditTarget, type AuditAction } from '../platform/domain/audit-log.ts'
import { apiError, shown, type ApiError } from '../platform/domain/errors.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { failOpenTask, restartTask, type Operated } from '../tasks/temporal/operator.ts'
import { readQueues } from '../platform/temporal/queues.ts'
import { showViews } from '../platform/temporal/views.ts'
import { restartVersion } from '../registry/temporal/restart-version.ts'
import type { VersionStarts } from '../registry/temporal/version.ts'
import { getCaller, requirePlatformAdmin } from '../platform/http/access/caller.ts'
import { makeAudit } from '../identity/http/access/audit.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../platform/http/route.ts'

export interface OperationsDeps extends UnitDeps, AdmissionRules, VersionStarts {
  jobs: Jobs
  dependencies: ReadDependencies
  /** Finds what a local store lacks of room. */
  findStoreShortage(): Promise<{ isUrgent: boolean; message: string } | undefined>
  /** Address of a workflow in the Temporal UI; with an empty id, the address of the list of workflows. */
  workflowUrl(workflowId: string): string | undefined
}

export const readOperations = async (
  { sql, jobs, taskQueue, dependencies, findStoreShortage, workflowUrl }: OperationsDeps,
  request: RouteRequest,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const [temporal, state, shortage, [tasks, versions, outbox, deliveries, ended, sent, engines]] =
    await Promise.all([
      readQueueFacts(sql).then((facts) => readQueues(jobs, taskQueue, facts)),
      dependencies(),
      findStoreShortage(),
      withinDeadline(
        sql,
        Promise.all([
          listStuckTasks(sql),
          listStuckVersions(sql),
          readWaitingOutbox(sql),
          listWaitingUrls(sql),
          readEndedTasks(sql),
          readSentEvents(sql),
          listEngineProblems(sql),
        ]),
      ),
    ])
  const stuck = { after_seconds: STUCK_SECONDS, tasks, versions }
  const ui = workflowUrl('')
  const problems = [
    ...Object.entries(state).flatMap(([dependency, message]) =>
      message === undefined ? [] : [{ dependency, message }],
    ),
    // One that takes no file says so itself.
    ...(shortage && state.storage === undefined
      ? [{ dependency: 'storage', message: shortage.message, is_urgent: shortage.isUrgent }]
      : []),
    ...engines.map((problem) => ({ dependency: 'engines', ...problem })),
  ]
  const body = {
    problems,
    stuck,
    outbox,
    deliveries,
    last_hour: { tasks: ended, deliveries: sent },
    temporal: { ...temporal, ...(ui && { ui_url: ui, views: showViews(ui, new Date()) }) },
  }
  return { status: 200, body }
}

/** Explains why a task is where it is. Throws 404. */
export const readExplanation = async (
  deps: OperationsDeps,
  request: RouteRequest<{ id: string }>,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const id = request.params.id.toLowerCase()
  const body = await explainTask(deps, id)
  if (!body) throw TASK.notFound(id)
  return { status: 200, body }
}

/** Shows the instances of all fleets, and of each template where it cannot be run. */
export const readFleet = async (
  { sql }: OperationsDeps,
  request: RouteRequest,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const [details, waiting, crashed] = await withinDeadline(
    sql,
    Promise.all([listInstanceDetails(sql), countWaiting(sql), listCrashed(sql)]),
  )
  const abilities = details
    .filter(({ state }) => state !== 'gone')
    .flatMap(({ name: instance, abilities, silence }) =>
      Object.entries(abilities ?? {}).map(([name, ability]) => ({
        name,
        instance,
        ...ability,
        issues: silence === null ? ability.issues : [silence, ...ability.issues],
      })),
    )
  const names = [...new Set(abilities.map(({ name }) => name))].toSorted()
  const templates = names.map((name) => {
    const known = abilities.filter((ability) => ability.name === name)
    const lacking = known.filter(({ issues }) => issues.length > 0)
    const [first] = known
    const { models = [], version, warnings = [], model_files: files } = first ?? {}
    return {
      name,
      ...(version !== undefined && { version }),
      warnings,
      models,
      model_files: files ?? models.map((file) => ({ file })),
      able: known.length - lacking.length,
      lacking: lacking.map(({ instance, issues }) => ({ instance, issues })),
    }
  })
  const instances = details.map(({ abilities, ...detail }) => ({
    ...Object.fromEntries(
      Object.entries(detail).filter(([key, value]) => value !== null && key !== 'silence'),
    ),
    models: abilities?.[detail.template ?? '']?.models ?? [],
  }))
  return { status: 200, body: { instances, templates, waiting, crashed } }
}

interface Command<Thing> {
  action: AuditAction
  operate(
    sql: Transaction,
    id: string,
    options: OperationsDeps & { enqueue: Enqueue },
  ): Promise<Operated<Thing> | undefined>
  /** Makes what the response shows; `target` names it in the audit log. */
  show(thing: Thing): object
  target(thing: Thing): string
  notFound(id: string): ApiError
  /** Statuses in which it is done already. */
  done?: readonly string[]
}

const TASK = {
  show: ({ id, family, kind, owner, status }: OpenTask) => ({ id, family, kind, owner, status }),
  target: ({ id }: OpenTask) => auditTarget.task(id),
  // It looks among the tasks of all owners.
  notFound: (id: string) => apiError('task_not_found', `There is no task ${shown(id)}.`),
}

export const RESTART_TASK: Command<OpenTask> = {
  ...TASK,
  action: 'task.restart',
  operate: restartTask,
}

export const FAIL_TASK: Command<OpenTask> = {
  ...TASK,
  action: 'task.fail',
  operate: failOpenTask,
  done: Object.values(FAMILIES).map(({ words }) => words.failed),
}

export const RESTART_VERSION: Command<OpenVersion> = {
  action: 'version.restart',
  operate: restartVersion,
  show: ({ id, nodeId, version, status }) => ({ id, node_id: nodeId, version, status }),
  target: ({ nodeId, version }) => auditTarget.version(nodeId, version),
  notFound: (id) => apiError('version_not_found', `There is no version ${shown(id)}.`),
}

const makeDrain = (isDrained: boolean): Command<DrainedInstance> => ({
  action: isDrained ? 'instance.drain' : 'instance.resume',
  operate: async (sql, name) => {
    const was = await drainInstance(sql, { name, isDrained })
    const status = isDrained ? 'draining' : 'serving'
    return was && { was: { name, status: was }, now: { name, status }, changed: was !== status }
  },
  show: ({ name, status }) => ({ name, is_drained: status === 'draining' }),
  target: ({ name }) => auditTarget.instance(name),
  notFound: (name) => apiError('instance_not_found', `There is no instance ${shown(name)}.`),
  done: ['draining', 'serving'],
})

export const DRAIN_INSTANCE = makeDrain(true)
export const RESUME_INSTANCE = makeDrain(false)

/** Does what the operator's command of this name does, in one transaction with its entry in the audit log. */
export const runCommand = async <Thing extends { status: string }>(
  deps: OperationsDeps,
  request: RouteRequest<{ id: string }, unknown, { reason?: string }>,
  { action, operate, show, target, notFound, done = [] }: Command<Thing>,
  id = request.params.id.toLowerCase(),
): Promise<SavedResponse> => {
  const audit = makeAudit(request)
  const { reason } = request.body
  return await unitOfWork(
    deps,
    async (sql, enqueue) => {
      const operated = await operate(sql, id, { ...deps, enqueue })
      if (!operated) throw notFound(id)
      const { was, now, changed } = operated
      if (!changed && !done.includes(now.status))
        throw apiError('illegal_move', `It is ${now.status}, and only what is open can be changed.`)
      const [before, after] = [{ status: was.status }, { status: now.status }]
      if (changed)
        await insertAudit(sql, audit, { action, target: target(now), before, after, reason })
      const response = { status: 200, body: { ...show(now), changed } }
      return await request.saveIdempotentResponse(sql, response)
    },
    { of: id },
  )
}
