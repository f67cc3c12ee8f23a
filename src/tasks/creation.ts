import type { Transaction } from '../db/client.ts'
import type { DryRun } from '../domain/task/task-item.ts'
import type { BodyLimits } from '../json-body/body-limits.ts'
import type { InlineImage } from '../json-body/inline.ts'
import type { BodyRules, RuledBody } from '../json-body/validate-body.ts'

/** Maker of a task, and its body. */
export interface TaskCommand {
  owner: string
  /** Whom it counts for: its owner, or one of those who share an owner because they have no credential. */
  account: string
  /** API key with a cap that the credits count for, too. */
  apiKeyId?: string | undefined
  /** Batch that makes it. */
  batchId?: string | undefined
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

/** A task that is being made. */
export interface MadeTask {
  id: string
  response: CreationResponse
}

/** One way in which tasks are made: rules of its body, and the commands. Routes and batches have the same. */
export interface Creation extends BodyRules, Omit<BodyLimits, 'deadlineMs'> {
  path: string
  /** The response holds a secret: a stored copy is encrypted. */
  secretResponse?: boolean
  /** A member of the body that the response repeats. It may be large, so a stored response leaves it out. */
  echo?: string
  validate(given: RuledBody): ReturnType<NonNullable<BodyRules['validate']>>
  /** Makes a task durable together with the start of its workflow. */
  create<Result>(command: SavedCommand<Result>): Promise<Result>
  /** Looks at all that `create` would look at, and changes nothing. */
  tryOut(command: TaskCommand): Promise<DryRun>
}
