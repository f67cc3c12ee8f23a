import { Type } from 'typebox'

/** Sentence for callers; an operator reads what each machine lacks. */
export const WaitsFor = Type.Optional(
  Type.String({
    description: 'Why a task does not begin or go on, in a sentence or two; absent while it does.',
  }),
)

/** The reason of a task that an admin has paused; until when and why may follow. */
export const PAUSED = 'It is paused.'

/** The reason of a video whose owner has no slot for it. */
export const NO_SLOT = 'It has no slot of its owner.'

/** Sentence of an event whose webhook host an admin has paused. */
export const HELD_EVENT = 'It waits: the service has paused its host, and sends it later.'

/**
 * Says to callers why a task does not go on.
 * @param reasons what each machine lacks, or `PAUSED` or `NO_SLOT`; empty where one is only busy, null while it does not wait
 */
export const describeWait = (reasons: readonly string[] | null): { waits_for?: string } => {
  if (reasons === null) return {}
  const [first, ...more] = reasons
  if (first === PAUSED) return { waits_for: [HELD, ...more].join(' ') }
  if (first === NO_SLOT) return { waits_for: QUEUED }
  return {
    waits_for:
      reasons.length === 0
        ? 'It waits for a machine: all that can run it are busy.'
        : 'It waits for a machine: none can run it now.',
  }
}

const HELD = 'It waits: the service has paused it, and goes on with it later.'
const QUEUED =
  'It waits for a slot: its owner has as many videos under way as it may have, or may have none.'
