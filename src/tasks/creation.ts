import type { Transaction } from '../platform/db/client.ts'
import type { AccountLimits } from './db/account.ts'
import type { NewTask } from './db/insert-task.ts'
import type { NewTaskInput } from './db/task-file.ts'
import type { EngineName } from './domain/engine.ts'
import type { BodyLimits } from '../platform/json-body/body-limits.ts'
import type { InlineImage } from '../platform/json-body/inline.ts'
import type { BodyRules, RuledBody } from '../platform/json-body/validate-body.ts'
import type { TaskDeps } from './deps.ts'
import type { InputMember } from './inputs.ts'

/** Maker of a task, and its body. */
export interface TaskCommand {
  owner: string
  /** Account that it counts for: its owner, or one of the callers who share an owner for lack of a credential. */
  account: string
  /** API key that it is made with; where that has a cap, its credits count for the key, too. */
  apiKeyId?: string | undefined
  isKeyCapped?: boolean
  batchId?: string | undefined
  /** Task whose request it has. */
  runAgainOf?: string | undefined
  /** Valid by the rules of the creation. */
  body: unknown
  /** Inline images of the body, by their pointer. */
  inline: ReadonlyMap<string, InlineImage>
}

/** The same, with what is written in the transaction that makes the task; its result is the creation's. */
export interface SavedCommand<Result> extends TaskCommand {
  save(sql: Transaction, made: MadeTask): Promise<Result>
}

/** The response to whoever makes a task. It is saved under an Idempotency-Key, by a route and by a batch. */
export interface CreationResponse {
  status: number
  body: object
  headers: Record<string, string>
}

export interface MadeTask {
  id: string
  response: CreationResponse
}

/** A task that a valid body asks for, before its files are stored. */
export interface TaskPlan extends Pick<
  NewTask,
  | 'family'
  | 'kind'
  | 'segment'
  | 'templateId'
  | 'settings'
  | 'webhookUrl'
  | 'payload'
  | 'offPeakSeconds'
  | 'engine'
> {
  credits: number
  members: readonly InputMember[]
  /** A file that the store has already. */
  source?: NewTaskInput | undefined
  limits: AccountLimits
  /** An operator reads this first; absent: its kind, with what the row says of a video. */
  summarise?(inputs: readonly NewTaskInput[]): string
  respond(made: PlannedTask): CreationResponse | Promise<CreationResponse>
}

/** A planned task whose files are stored, and whose row is being written. */
export interface PlannedTask {
  id: string
  engine: EngineName
  inputs: readonly NewTaskInput[]
  createdAt: Promise<Date>
}

/** One way in which tasks are made: rules of its body, and what is made of it. Routes and batches have the same. */
export interface Creation extends BodyRules, Omit<BodyLimits, 'deadlineMs'> {
  path: string
  /** The response holds a secret: a stored copy is encrypted. */
  secretResponse?: boolean
  /** A member of the body that the response repeats. It may be large, so a stored response leaves it out. */
  echo?: string
  validate(given: RuledBody): ReturnType<NonNullable<BodyRules['validate']>>
  plan(command: TaskCommand): TaskPlan | Promise<TaskPlan>
}

/** Finds what the upstream of a kind takes beside the interface; undefined while another engine has its tasks. */
export const findUpstreamMembers = (
  { engineOf, upstreamMembers }: Pick<TaskDeps, 'engineOf' | 'upstreamMembers'>,
  { kind, path }: { kind: string; path: string },
) => (upstreamMembers && engineOf(kind, '') === 'vendor' ? upstreamMembers(path) : undefined)
