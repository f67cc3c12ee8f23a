import type { Transaction } from '../db/client.ts'
import type { DryRun } from '../domain/task/task-item.ts'
import type { BodyLimits } from '../json-body/body-limits.ts'
import type { InlineImage } from '../json-body/inline.ts'
import type { BodyRules, RuledBody } from '../json-body/validate-body.ts'

/** Who makes a task, and of what. */
export interface TaskCommand {
  owner: string
  /** Whom it counts for: its owner, or one of those who share an owner because they have no credential. */
  account: string
  /** API key with a cap that the credits count for, too. */
  apiKeyId?: string | undefined
  /** Valid by the rules of the creation. */
  body: unknown
  /** Inline images of the body, by their pointer. */
  inline: ReadonlyMap<string, InlineImage>
}

/** The same, with what is written in the transaction that makes the task; its result is the creation's. */
export interface SavedCommand<Made, Result> extends TaskCommand {
  save(sql: Transaction, made: Made): Promise<Result>
}

/** One way in which tasks are made: rules of its body, and the commands. Routes and batches have the same. */
export interface Creation<Made extends { id: string } = { id: string }>
  extends BodyRules, Omit<BodyLimits, 'deadlineMs'> {
  path: string
  validate(given: RuledBody): ReturnType<NonNullable<BodyRules['validate']>>
  /** Makes a task durable together with the start of its workflow. */
  create<Result>(command: SavedCommand<Made, Result>): Promise<Result>
  /** Looks at all that `create` would look at, and changes nothing. */
  tryOut(command: TaskCommand): Promise<DryRun>
}
