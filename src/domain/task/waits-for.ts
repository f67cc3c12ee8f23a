import { Type } from 'typebox'

/** Sentence for callers; an operator reads what each machine lacks. */
export const WaitsFor = Type.Optional(
  Type.String({
    description: 'Why a task that has begun does not go on, in a sentence; absent while it does.',
  }),
)

/**
 * Says to callers why a task does not go on.
 * @param reasons what each machine lacks; empty where one is only busy, null while the task does not wait
 */
export const describeWait = (reasons: readonly string[] | null): { waits_for?: string } => {
  if (reasons === null) return {}
  return {
    waits_for:
      reasons.length === 0
        ? 'It waits for a machine: all that can run it are busy.'
        : 'It waits for a machine: none can run it now.',
  }
}
