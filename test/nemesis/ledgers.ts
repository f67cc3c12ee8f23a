import { Webhook } from 'standardwebhooks'

import type { Received } from '../support/receiver.ts'
import type { BulkResult } from './bulk.ts'
import type { Order, Read } from './callers.ts'
import type { Rows, TaskRow } from './rows.ts'
import type { EndedPause } from './world.ts'

/** The three ledgers of a run: responses to callers, requests to receivers, and rows. */
export interface Ledgers {
  orders: readonly Order[]
  bulks: readonly BulkResult[]
  reads: readonly Read[]
  /** Responses that nobody may be given. */
  wrong: readonly string[]
  received: readonly Received[]
  secrets: ReadonlyMap<string, string>
  rows: Rows
  pauses: readonly EndedPause[]
  /** Output of the processes, and the texts that nobody may find there. */
  said: Readonly<Partial<Record<'log' | 'history' | 'metric', readonly string[]>>>
  canaries: readonly string[]
  /** True when a fault may fail what is under way: no space, or an engine that is killed. */
  mayFail: boolean
}

/** Something that must hold and does not. The invariants are those of docs/reliability.md. */
export interface Violation {
  invariant: `I${number}`
  what: string
}

export type Report = (invariant: Violation['invariant'], holds: boolean, what: string) => void

/** Codes of tasks that failed three times, in both families. */
export const FAULT_CODES = new Set(['engine_failed', 'internal_error', 'InternalServiceFailure'])

export const isSuccess = ({ status }: TaskRow): boolean => ['COMPLETED', 'success'].includes(status)

type Notified = Partial<Record<'task_id' | 'status' | 'id' | 'state' | 'type', string>> & {
  data?: Record<string, unknown>
}

/** Its content, if a secret of the owner signs it. */
export const readNotification = (
  { body, headers }: Received,
  secret: string,
): Notified | undefined => {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': given } = headers
  const text = body.toString()
  const at = new Date(Number(seconds) * 1000)
  const isSigned = String(given)
    .split(' ')
    .includes(new Webhook(secret).sign(String(id), at, text))
  return isSigned ? (JSON.parse(text) as Notified) : undefined
}

/** Checks that a task ran at most once for each admission. One that is cancelled before Temporal knew it needs no run. */
export const checkRuns = (
  { what, task, isCancelled }: { what: string; task: TaskRow; isCancelled: boolean },
  { workflows }: Pick<Rows, 'workflows'>,
  report: Report,
): void => {
  const runs = workflows.get(`${task.family}-task/${task.id}`) ?? 0
  const isRun = runs <= task.admission && (runs > 0 || isCancelled)
  report('I1', isRun, `${what}: ${runs} workflows of ${task.admission} admissions`)
}
