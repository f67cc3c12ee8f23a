import { showSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'
import type { TaskDetail } from './types.ts'

/** Members of a task that the timeline needs. */
export type Life = Pick<TaskDetail, 'state' | 'created_at' | 'ended_at' | 'moves' | 'attempts'>
type RenderAttempt = Life['attempts'][number]

interface Bar {
  kind: 'wait' | RenderAttempt['outcome']
  seconds: number
  /** Number of an attempt. */
  number?: number
}

/** Makes bars of a task's life, which follow each other: its waits and its attempts. */
export const makeBars = (life: Life, now: number): Bar[] => {
  let last = Date.parse(life.created_at)
  const bars: Bar[] = []
  const add = (to: number, bar: Omit<Bar, 'seconds'>): void => {
    if (to > last) bars.push({ ...bar, seconds: (to - last) / 1000 })
    last = Math.max(last, to)
  }
  for (const [index, { number, outcome: kind }] of life.attempts.entries()) {
    const { from, to } = spanOf(life, index, now)
    add(from, { kind: 'wait' })
    add(to, { kind, number })
  }
  add(life.ended_at === undefined ? now : Date.parse(life.ended_at), { kind: 'wait' })
  return bars
}

/** Seconds that a task waited, and that it ran. */
export const sumUp = (bars: readonly Bar[]): { waited: number; ran: number } => {
  const sumOf = (isWait: boolean): number =>
    bars.reduce((sum, { kind, seconds }) => sum + ((kind === 'wait') === isWait ? seconds : 0), 0)
  return { waited: sumOf(true), ran: sumOf(false) }
}

/** Both of them in words, `waited 29 s, ran 0.3 s`; what never ran only waited. */
export const aboutTime = ({ waited, ran }: { waited: number; ran: number }): string =>
  ran > 0
    ? t('waited {waited}, ran {ran}', { waited: showSeconds(waited), ran: showSeconds(ran) })
    : t('waited {waited}', { waited: showSeconds(waited) })

/** Span of an attempt; one whose end nobody saw lasts until the next one, or the end of the task. */
const spanOf = ({ attempts, ended_at: ended }: Life, index: number, now: number) => {
  const from = Date.parse(attempts[index]?.started_at ?? '')
  const end = attempts[index]?.ended_at ?? attempts[index + 1]?.started_at ?? ended
  return { from, to: Math.max(from, end === undefined ? now : Date.parse(end)) }
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
    const isOver = outcome === 'failed' || outcome === 'lost' || outcome === 'put_back'
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

type Going = Pick<TaskDetail, 'progress' | 'estimated_seconds'>

/** Seconds for which a task has been rendered: where machines are chosen, since the last one took it. */
export const secondsRendered = (
  {
    started_at: started,
    placed_at: placed = started,
  }: Pick<TaskDetail, 'started_at' | 'placed_at'>,
  now: number,
): number => (placed === undefined ? 0 : Math.max(0, (now - Date.parse(placed)) / 1000))

/** Percentage from which progress says something about the rest: a first task loads its models before. */
const ENOUGH = 25

/** Estimates the seconds that a task still takes: by similar ones, and past their time by its progress. */
export const secondsLeft = (
  { progress, estimated_seconds: estimate }: Going,
  passed: number,
): number | undefined => {
  const usual = estimate === undefined ? undefined : estimate - passed
  if (progress < ENOUGH || (usual !== undefined && usual > 1)) return usual
  return (passed * (100 - progress)) / progress
}

/** The part from which a bar looks full. */
const NEARLY = 0.75

/** The rest of a task in words that agree with its bar. */
export const aboutLeft = (left: number | undefined, part: number | undefined): string => {
  if (left !== undefined && left > 1)
    return t('about {time} left', { time: showSeconds(Math.round(left)) })
  return part !== undefined && part >= NEARLY ? t('Almost done') : t('Rendering')
}

/** True of a sentence by which a task waits for others of its own account: how long others waited says nothing then. */
export const isOwnLimit = (waits = ''): boolean => / of its (owner|account)\b/.test(waits)

/** True of the sentence by which a video waits for a slot. */
export const isForSlot = (waits = ''): boolean => waits.includes('free video slot')

/** Says about when a task begins, by how long those like it waited; half of them no longer than `p50`. */
export const aboutWait = (
  { p50, p95 }: { p50: number | null; p95: number | null },
  waited: number,
): string | undefined => {
  if (p50 === null || p95 === null) return undefined
  return waited <= p50
    ? t('usually starts after about {time}', { time: showSeconds(p50) })
    : t('longer than usual: nearly all start within {time}', { time: showSeconds(p95) })
}
