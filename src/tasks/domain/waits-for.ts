import { Type } from 'typebox'

/** Sentence for callers; an operator reads what each machine lacks. */
export const WaitsFor = Type.Optional(
  Type.String({
    description: 'Why a task does not begin or go on, in a sentence or two; absent while it does.',
  }),
)

/** Reason of a task that an admin has paused; until when and why may follow. `wait_reasons` (0096) gives reasons. */
export const PAUSED = 'It is paused.'

/** Reason of a task whose engine does not work; when it is tried again follows, which only operators read: it moves. */
export const BROKEN = 'Its engine does not work.'

/** Reason of a task that its request wants started later; when follows. */
export const LATER = 'It starts later.'

/** Reasons of an admitted task that does not begin. */
export const UNSERVED = 'No worker serves its engine.'
export const NO_CORE = 'No core worker lives.'
export const NOT_STARTED = 'Temporal has not taken it.'
export const BUSY = 'All workers are busy.'

/** Reason of a task of a template that has as many tasks on machines as it may. */
export const FULL = 'As many tasks of its template run as may at once.'

/**
 * Word that a task waits on while no instance of its engine can take it; a space and the template may follow, of which
 * one must be able. No template has a space in its name.
 */
export const NO_INSTANCE = 'template:no instance'

/** Reason of a task on a machine that is silent. */
export const SILENT = 'Its machine does not respond.'

/** Sentence of an event whose webhook host an admin has paused. */
export const PAUSED_EVENT = 'It waits: the service has paused its host, and sends it later.'

/**
 * Says to callers why a task does not go on.
 * @param reasons what each machine lacks, or a reason above or the word that it waits on; empty where a machine is only busy,
 * null while it does not wait
 */
export const describeWait = (reasons: readonly string[] | null): { waits_for?: string } => {
  if (reasons === null) return {}
  const [first, ...rest] = reasons
  const more = first === BROKEN ? [] : rest.map(withoutMilliseconds)
  if (first === PAUSED) return { waits_for: [PAUSED_TASK, ...more].join(' ') }
  const sentence = SENTENCES[first ?? '']
  if (sentence !== undefined) return { waits_for: [sentence, ...more].join(' ') }
  return {
    waits_for:
      reasons.length === 0
        ? 'It waits for a machine: all that can run it are busy.'
        : 'It waits for a machine: none can run it now.',
  }
}

/** Says the same to an operator, with all reasons; undefined while it does not wait. */
export const explainWait = (reasons: readonly string[] | null): string | undefined => {
  const { waits_for: sentence } = describeWait(reasons)
  if (sentence === undefined) return undefined
  if (reasons?.[0] === NO_CORE) return 'It waits: no core worker lives.'
  const more = (reasons ?? [])
    .filter((reason) => reason !== PAUSED && SENTENCES[reason] === undefined)
    .map(withoutMilliseconds)
    .filter((reason) => !sentence.includes(reason))
  return [sentence, ...(more.length > 0 ? [more.join('; ')] : [])].join(' ')
}

const withoutMilliseconds = (text: string): string =>
  text.replace(/(?<=T\d\d:\d\d:\d\d)\.\d{3}(?=Z)/, '')

const PAUSED_TASK = 'It waits: the service has paused it, and goes on with it later.'
/** By the word that a task waits on, or a reason of an admitted one. */
const SENTENCES: Readonly<Record<string, string>> = {
  [LATER]: 'It waits for the time that its request gives.',
  slot: 'It waits for a free video slot of its owner.',
  behind: 'It waits: tasks of its account with a higher priority go first.',
  turn: 'It waits for its turn: earlier tasks of its account go first.',
  [BROKEN]: 'It waits: its engine does not work now.',
  [UNSERVED]: 'It waits: no worker serves its engine now.',
  [NO_CORE]: 'It waits: no worker serves its engine now.',
  [BUSY]: 'It waits for a free worker: all that serve its engine are busy.',
  [FULL]: 'It waits: as many tasks of its template run now as may at once.',
  [SILENT]: 'It waits for its machine, which does not respond now.',
  [NOT_STARTED]: 'It waits: the service cannot reach Temporal, and starts it once it can.',
}
