import type { Attempt, TaskDetail } from './types.ts'

/** Members of a task that the timeline needs. */
export type Life = Pick<TaskDetail, 'state' | 'created_at' | 'ended_at' | 'moves' | 'attempts'>
type RenderAttempt = Life['attempts'][number]
export type Notified = Pick<Attempt, 'started_at' | 'error_class'>

/** Position and width as parts of the whole, 0 to 1. */
type Placed = { left: number; width: number; seconds: number }
export type Bar = Placed & {
  kind: 'wait' | RenderAttempt['outcome']
  number?: number
  error?: string | undefined
}

/** Idle times above this many milliseconds, and twice what was worked, are folded: they would hide what happened. */
const FOLD_MS = 2000
/** Parts of the unfolded length: that of a fold, and the least of anything. */
const FOLD = 0.15
const LEAST = 0.02

type Span = { from: number; to: number }

/** Makes bars of a task's life over time, in which long waits are folded, and dots at its notifications. */
export const makeTimeline = (life: Life, notified: readonly Notified[], now: number) => {
  const created = Date.parse(life.created_at)
  const ended = life.ended_at === undefined ? now : Date.parse(life.ended_at)
  const attemptsMade = life.attempts.map(({ number, outcome: kind, error }, index) => {
    return { ...spanOf(life, index, now), kind, number, error }
  })
  const waits = [...attemptsMade, { from: ended }]
    .map(({ from }, index) => ({ from: attemptsMade[index - 1]?.to ?? created, to: from }))
    .filter(({ from, to }) => to > from)
    .map((span) => ({ ...span, kind: 'wait' as const }))
  const sent = notified.map((one) => ({ ...one, at: Date.parse(one.started_at) }))
  const gaps = makeGaps([created, ended, ...sent.map(({ at }) => at)], attemptsMade)
  const total = sum(gaps, ({ weight }) => weight) || 1
  const place = (time: number): number =>
    sum(gaps, ({ to, weight }) => (to <= time ? weight : 0)) / total
  const put = <Of extends Span>(one: Of): Of & Placed => {
    const left = place(one.from)
    return { ...one, left, width: place(one.to) - left, seconds: (one.to - one.from) / 1000 }
  }
  const bars: readonly Bar[] = [...waits, ...attemptsMade].map(put)
  return {
    bars: bars.toSorted((a, b) => a.left - b.left),
    dots: sent.map((one) => ({ ...one, left: place(one.at) })),
    folds: gaps.filter(({ isFolded }) => isFolded).map(put),
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0)

/** Span of an attempt; one whose end nobody saw lasts until the next one, or the end of the task. */
const spanOf = ({ attempts, ended_at: ended }: Life, index: number, now: number): Span => {
  const from = Date.parse(attempts[index]?.started_at ?? '')
  const end = attempts[index]?.ended_at ?? attempts[index + 1]?.started_at ?? ended
  return { from, to: Math.max(from, end === undefined ? now : Date.parse(end)) }
}

const makeGaps = (instants: readonly number[], attemptsMade: readonly Span[]) => {
  const ends = attemptsMade.flatMap(({ from, to }) => [from, to])
  const times = [...new Set([...instants, ...ends])].toSorted((a, b) => a - b)
  const gaps = times.slice(1).map((to, index) => {
    const from = times[index] ?? to
    return { from, to, isBusy: attemptsMade.some((span) => span.from <= from && to <= span.to) }
  })
  const busy = sum(gaps, ({ from, to, isBusy }) => (isBusy ? to - from : 0))
  const most = Math.max(FOLD_MS, busy * 2)
  const folded = gaps.map((gap) => ({ ...gap, isFolded: !gap.isBusy && gap.to - gap.from > most }))
  const total = sum(folded, ({ from, to, isFolded }) => (isFolded ? 0 : to - from)) || 1
  return folded.map((gap) => ({
    ...gap,
    weight: gap.isFolded ? FOLD * total : Math.max(gap.to - gap.from, LEAST * total),
  }))
}

/** One line of a task's life in words: a transition, or with a number the outcome of an attempt. */
interface Line {
  at: string
  status?: string
  number?: number
  error?: string
  /** Seconds since the line before. */
  after: number
}

/** Lists transitions, and the attempts that add to them: all from the second on, and those that failed. */
export const makeLines = (life: Life): Line[] => {
  const { state, moves, attempts } = life
  const attemptsMade = attempts.flatMap(({ number, started_at: at, outcome, error }, index) => {
    const end = new Date(spanOf(life, index, Date.parse(at)).to).toISOString()
    const isOver = outcome === 'failed' || outcome === 'lost'
    return [
      ...(number > 1 ? [{ at, number }] : []),
      ...(isOver ? [{ at: end, number, error: error ?? outcome }] : []),
    ]
  })
  const transitions = moves.map(({ at, status }, index) => ({
    at,
    // The API's word of a cancelled one is that of a failed one.
    status: state === 'cancelled' && index === moves.length - 1 ? state : status,
  }))
  const lines = [...transitions, ...attemptsMade].toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  )
  return lines.map((line, index) => ({
    ...line,
    after: (Date.parse(line.at) - Date.parse(lines[index - 1]?.at ?? line.at)) / 1000,
  }))
}

type Going = Pick<TaskDetail, 'family' | 'progress' | 'estimated_seconds'>

/** Estimates the seconds that a task still takes: by similar ones, and for a video past their time by its progress. */
export const secondsLeft = (
  { family, progress, estimated_seconds: estimate }: Going,
  passed: number,
): number | undefined => {
  const usual = estimate === undefined ? undefined : estimate - passed
  if (family === 'image' || (usual !== undefined && usual > 1)) return usual
  return progress > 0 ? (passed * (100 - progress)) / progress : undefined
}
