import { explainTask } from '../compose/explain-task.ts'
import { failOpenTask, restartTask, type Operated } from '../tasks/temporal/operator.ts'
import { restartVersion } from '../registry/temporal/restart-version.ts'
import type { Transaction } from '../platform/db/client.ts'
import { insertAudit, type Audit, type AuditChange } from '../platform/db/audit-log.ts'
import { listStuckVersions } from '../registry/db/open-version.ts'
import type { AdmissionRules } from '../tasks/db/admission.ts'
import { listStuckTasks, type OpenTask } from '../tasks/db/operator.ts'
import { readWaitingOutbox } from '../platform/db/outbox.ts'
import { unitOfWork, type UnitDeps } from '../platform/db/unit-of-work.ts'
import { publishWorkflowId, type VersionStarts } from '../registry/temporal/version.ts'
import { taskWorkflowId } from '../tasks/temporal/task.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import { counted } from '../platform/domain/counted.ts'

export interface CommandDeps extends UnitDeps, AdmissionRules, VersionStarts {
  jobs: Jobs
  audit: Audit
}

const PURGE_MS = 5000

/** Makes the commands of an operator. Each returns, in lines for a terminal, what it did. */
export const makeCommands = (deps: CommandDeps) => ({
  stuck: async (): Promise<string> => {
    const tasks = await listStuckTasks(deps.sql)
    const versions = await listStuckVersions(deps.sql)
    const { waiting, rows } = await readWaitingOutbox(deps.sql)
    return [
      `${counted(tasks.length, 'task has', 'tasks have')} not moved for 10 minutes`,
      ...tasks.map(
        (task) => `  ${task.id}  ${task.status}  ${task.kind}  ${task.owner}  since ${task.since}`,
      ),
      `${counted(versions.length, 'pending version has', 'pending versions have')} not moved for 10 minutes`,
      ...versions.map(
        ({ id, node_id, version, reason, since }) =>
          `  ${id}  ${node_id}@${version}  ${reason}  since ${since}`,
      ),
      `${counted(waiting, 'row of the outbox waits', 'rows of the outbox wait')} for Temporal`,
      ...rows.map(
        (row) =>
          `  ${row.workflow_id}  ${row.kind}  attempts ${row.tries}  ${row.last_error ?? ''}`,
      ),
    ].join('\n')
  },
  explain: async (id: string): Promise<string> => {
    const explained = await explainTask(deps, id.toLowerCase())
    if (!explained) throw noTask(id)
    const { findings, next_steps: steps } = explained
    const lines = [...findings, ...steps.map((text) => ({ about: 'next step', text }))]
    return lines.map(({ about, text }) => `${about.padEnd(10)} ${text}`).join('\n')
  },
  restart: (id: string): Promise<string> => restart(deps, id),
  fail: (id: string): Promise<string> => fail(deps, id),
  purge: async (): Promise<string> => {
    const { schedule } = deps.jobs.client
    // Attempts of its own would go on for 20 s where nobody responds.
    await schedule.withDeadline(Date.now() + PURGE_MS, () =>
      schedule.getHandle('purge-expired').trigger(),
    )
    return 'the workflow purge-expired was started; the Temporal UI shows what it removes'
  },
})

const restart = async (deps: CommandDeps, id: string): Promise<string> =>
  await unitOfWork(deps, async (sql, enqueue) => {
    const version = await restartVersion(sql, id, { ...deps, enqueue })
    if (version?.changed) {
      const { was, now } = version
      const target = auditTarget.version(now.nodeId, now.version)
      await record(sql, deps.audit, { action: 'version.restart', target, was, now })
      return `${publishWorkflowId(id)} was started again`
    }
    if (version)
      throw new OperatorError(
        `version ${id} is ${version.now.status}: only a pending version can be started again`,
      )
    const done = requireOpen(id, await restartTask(sql, id, { ...deps, enqueue }))
    await record(sql, deps.audit, { action: 'task.restart', target: auditTarget.task(id), ...done })
    const { family } = done.now
    return `${taskWorkflowId(family, id)} was started again`
  })

const fail = async (deps: CommandDeps, id: string): Promise<string> =>
  await unitOfWork(deps, async (sql, enqueue) => {
    const done = requireOpen(id, await failOpenTask(sql, id, { ...deps, enqueue }))
    await record(sql, deps.audit, { action: 'task.fail', target: auditTarget.task(id), ...done })
    const { family } = done.now
    return `task ${id} has failed${family === 'video' ? ', its credits are returned' : ''}`
  })

interface OperatorChange extends Pick<AuditChange, 'action' | 'target'> {
  was: { status: string }
  now: { status: string }
}

const record = (sql: Transaction, audit: Audit, { action, target, was, now }: OperatorChange) => {
  const [before, after] = [{ status: was.status }, { status: now.status }]
  return insertAudit(sql, audit, { action, target, before, after })
}

const noTask = (id: string): OperatorError =>
  new OperatorError(`there is no task ${id}: \`kiln operate stuck\` lists ids`)

const requireOpen = (id: string, done: Operated<OpenTask> | undefined): Operated<OpenTask> => {
  if (!done) throw noTask(id)
  if (done.changed) return done
  const { ended, status, waitsOn } = done.now
  throw new OperatorError(
    ended
      ? `task ${id} is ${status}: only an open task can be changed`
      : `task ${id} waits (${waitsOn}): nothing of it runs, and it begins by itself once it may`,
  )
}
