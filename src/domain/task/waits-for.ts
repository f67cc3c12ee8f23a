import { Type } from 'typebox'

/** Sentence for callers; an operator reads what each machine lacks. */
export const WaitsFor = Type.Optional(
  Type.String({
    description: 'Why a task does not begin or go on, in a sentence; absent while it does.',
  }),
)

/** The reason of a task that an admin has paused. */
export const PAUSED = 'It is paused.'

/**
 * Says to callers why a task does not go on.
 * @param reasons what each machine lacks, or that it is paused; empty where one is only busy, null while it does not wait
 */
export const describeWait = (reasons: readonly string[] | null): { waits_for?: string } => {
  if (reasons === null) return {}
  if (reasons[0] === PAUSED)
    return { waits_for: 'It waits: the service has paused it, and goes on with it later.' }
  return {
    waits_for:
      reasons.length === 0
        ? 'It waits for a machine: all that can run it are busy.'
        : 'It waits for a machine: none can run it now.',
  }
}
