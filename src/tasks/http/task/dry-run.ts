import { Type, type TSchema } from 'typebox'

import { DryRun } from '../../domain/task-item.ts'

/** The query of a creation that can be tried without a task being made. */
export const DryRunQuery = Type.Object({
  dry_run: Type.Boolean({
    default: false,
    description:
      'Only validate the request: the response holds its price, or all its issues. Nothing is stored, charged or begun, the Idempotency-Key is ignored, and it counts as a read.',
  }),
})

/** Makes the schema of the response to a creation or to its dry run. */
export const orDryRun = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, DryRun])
