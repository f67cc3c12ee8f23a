import { admitOwner } from '../../../src/tasks/db/admission.ts'
import type { Transaction } from '../../../src/platform/db/client.ts'
import { toLimitError } from '../../../src/tasks/db/account.ts'
import { endTask, type EndOptions, type TaskEnd } from '../../../src/tasks/db/end-task.ts'
import { FAMILIES } from '../../../src/tasks/domain/family.ts'
import { VIDEO_ERRORS, type VideoErrorCode } from '../../../src/tasks/domain/video/video-error.ts'
import type { ClaimedVideoTask } from '../../../src/tasks/db/video/video-task.ts'
import { claimTask } from '../../../src/tasks/db/task-transition.ts'
import type { VideoTaskKind } from '../../../src/tasks/domain/video/video-task.ts'
import { ApiError } from '../../../src/platform/domain/errors.ts'
import type { Quota } from '../../../src/tasks/domain/quota.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import type { TestDatabase } from '../../support/stack.ts'
import { insertNewTask, insertTasks, type TaskRow } from '../../support/task-rows.ts'
import { admissionOf, startOf } from './place.ts'

export interface NewVideo extends TaskRow {
  /** OWNER_CREDIT_LIMIT. */
  limit?: number
  quota?: Quota
}

/** Inserts a task as a creation does: undefined, and nothing written, when a limit rejects it. */
export const insertVideo = async (
  { sql }: Pick<TestDatabase, 'sql'>,
  { limit, quota, ...given }: NewVideo = {},
): Promise<string | undefined> => {
  const { owner: account = 'alice', credits = 10 } = given
  const task = { kind: 'text2video', account, credits, ...given } as const
  try {
    return await sql.begin((sql) => insertNewTask(sql, task, { creditLimit: limit, quota }))
  } catch (given) {
    const error = await toLimitError(sql, given, { ...task, retentionDays: quota?.retentionDays })
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** As `insertVideo`, of a task that no limit rejects. */
export const getVideo = async (
  database: Pick<TestDatabase, 'sql'>,
  given?: NewVideo,
): Promise<string> => {
  const id = await insertVideo(database, given)
  if (id === undefined) throw new Error('the charge was rejected')
  return id
}

export const claimVideo = async (
  { sql }: Pick<TestDatabase, 'sql'>,
  id: string,
): Promise<ClaimedVideoTask | undefined> => {
  const admission = await admissionOf(sql, id)
  return await sql.begin((sql) => claimTask<VideoTaskKind>(sql, { id, family: 'video', admission }))
}

type Ended = Omit<TaskEnd, 'family' | 'to'>

export const videoError = (code: VideoErrorCode) => ({ code, message: VIDEO_ERRORS[code] })
export const completeVideoTask = (sql: Transaction, end: Ended, options: EndOptions) =>
  endTask(sql, { ...end, family: 'video', to: 'done' }, options)
export const failVideoTask = (sql: Transaction, end: Ended, options: EndOptions) =>
  endTask(sql, { ...end, family: 'video', to: 'failed' }, options)
export const cancelVideoTask = (sql: Transaction, id: string, options: EndOptions) =>
  failVideoTask(
    sql,
    { id, error: videoError('UserCancelled'), from: FAMILIES.video.cancellable },
    options,
  )

/** Ways in which tasks enter the queue of their owner and end, as those who keep so many slots have them. */
export const makeVideoQueue = (
  database: Pick<TestDatabase, 'sql'>,
  { slots }: { slots: number },
) => ({
  cancel: (id: string) =>
    unitOfWork(database, (sql, enqueue) => cancelVideoTask(sql, id, { slots, startOf, enqueue })),
  fail: (id: string) =>
    unitOfWork(database, (sql, enqueue) =>
      failVideoTask(
        sql,
        { id, error: videoError('SystemThrottling') },
        { slots, startOf, enqueue },
      ),
    ),
  complete: (id: string, fence: number, record = () => Promise.resolve()) =>
    unitOfWork(database, (sql, enqueue) =>
      completeVideoTask(sql, { id, fence, record }, { slots, startOf, enqueue }),
    ),
})

/** Gives free slots of a task's owner to those that wait, as their creation does. */
export const enterVideo = async (
  database: Pick<TestDatabase, 'sql'>,
  id: string,
  slots: number,
): Promise<void> => {
  const [row] = await database.sql<{ owner: string }[]>`select owner from task where id = ${id}`
  if (row)
    await unitOfWork(database, (sql, enqueue) =>
      admitOwner(sql, { slots, owner: row.owner, startOf, enqueue }),
    )
}

/** Inserts a task in success with files of these names, which are nowhere. */
export const finishVideo = async (
  database: Pick<TestDatabase, 'sql'>,
  given: TaskRow & { files?: readonly string[] } = {},
): Promise<string> => {
  const files = ['video.mp4']
  const task = { kind: 'text2video', state: 'done', files, ...given } as const
  const [id = ''] = await insertTasks(database.sql, task)
  return id
}

export interface SeenVideo {
  state: string
  rev: number
  fence: number
  failures: number
  progress: number
  isAdmitted: boolean
  errorCode: string | null
  errorMessage: string | null
  events: string[]
  /** `charge 10`, `refund 10`. */
  ledger: string[]
}

/** A task, its events and its credits as the database has them. */
export const seeVideo = async (
  { sql }: Pick<TestDatabase, 'sql'>,
  id: string,
): Promise<SeenVideo> => {
  const [row] = await sql<SeenVideo[]>`
    select status as state, rev, fence, failures, progress, admitted_at is not null as "isAdmitted",
      error_code as "errorCode", error_message as "errorMessage",
      array(select e.status from event e where e.task_id = task.id order by sequence) as events,
      array(select l.kind || ' ' || l.credits from ledger l where l.task_id = task.id order by l.kind) as ledger
    from task
    where id = ${id}
  `
  if (!row) throw new Error(`no task ${id}`)
  return row
}

export const wakes = (...ids: string[]): string[] => ids.map((id) => `video-task/${id}`)
