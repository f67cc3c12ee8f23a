import type { Schema } from '../api/schema.ts'
import type { Bar } from '../ui/bar.ts'
import { locale } from '../words/language.ts'
import { showSeconds } from '../words/text.ts'

type Usage = Schema<'Usage'>
export type Sums = Usage['total']
/** Days of one bar: a year of single days could not be read. */
export type Step = 'day' | 'week' | 'month'

const DAY_MS = 86_400_000

export const sumOf = ({ done, failed, cancelled }: Sums['tasks']): number =>
  done + failed + cancelled

const COMPACT = new Intl.NumberFormat(locale, { notation: 'compact' })
const showCount = (count: number): string => COMPACT.format(count)

/** Measures that the bars may show, each with the form of its value. */
export const MEASURES = {
  tasks: { read: ({ tasks }: Sums) => sumOf(tasks), show: showCount },
  credits: { read: ({ credits }: Sums) => credits, show: showCount },
  seconds: { read: ({ engine_seconds: seconds }: Sums) => seconds, show: showSeconds },
}
export type Measure = keyof typeof MEASURES

const DAY = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' })

/** Makes a bar of each step from the first day to the last one; a day without tasks is zero. */
export const makeBars = (
  { from, to, groups }: Pick<Usage, 'from' | 'to' | 'groups'>,
  { step, measure }: { step: Step; measure: Measure },
): Bar[] => {
  const { read, show } = MEASURES[measure]
  const byDay = new Map(groups.map(({ group, ...sums }) => [group, read(sums)]))
  const first = Date.parse(from)
  const bars = new Map<string, { at: number; value: number }>()
  for (let at = first; at <= Date.parse(to); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10)
    const weeks = Math.floor((at - first) / DAY_MS / 7)
    const key = { day, week: String(weeks), month: day.slice(0, 7) }[step]
    const bar = bars.get(key) ?? { at, value: 0 }
    bars.set(key, { ...bar, value: bar.value + (byDay.get(day) ?? 0) })
  }
  return [...bars.values()].map(({ at, value }) => ({
    label: (step === 'month' ? MONTH : DAY).format(at),
    value,
    text: show(value),
  }))
}
