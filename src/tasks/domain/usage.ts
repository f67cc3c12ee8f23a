import { Type, type Static } from 'typebox'

import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { LABEL_KEY, LabelFilter } from './task-options.ts'

const DAY = '^(19[7-9]|20\\d|21\\d)\\d-\\d\\d-\\d\\d$'
const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Three years. */
const MAX_DAYS = 1096
export const MAX_GROUPS = 2000
const LABEL = 'label:'
/** Name under which rows of usage have API keys: no label has it. */
export const KEYS = ':key'

const day = (description: string) =>
  Type.Optional(
    Type.String({ pattern: DAY, description, 'x-expectation': 'a day such as 2026-01-31' }),
  )

export const UsageQuery = Type.Object({
  from: day(
    `First UTC day, by which tasks ended; absent: ${DEFAULT_DAYS - 1} days before the last.`,
  ),
  to: day('Last UTC day; absent: today.'),
  by: Type.String({
    pattern: `^(day|kind|key|owner|${LABEL}${LABEL_KEY})$`,
    default: 'day',
    description:
      'What the groups are: `day`, `kind`, `key` (the API key that made a task), `label:<key>`, or of platform admins `owner`.',
    'x-expectation': `day, kind, key, owner, or ${LABEL} with the key of a label`,
  }),
  label: LabelFilter,
  owner: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\u0000]+$',
      'x-expectation': 'an account or *, of 1 to 255 characters without NUL',
      description:
        'Of platform admins: whose tasks, or `*` for those of all; absent: the own ones.',
    }),
  ),
})
export type UsageQuery = Static<typeof UsageQuery>

const count = (description: string) => Type.Integer({ minimum: 0, description })
const seconds = (description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description })
export const Percentiles = Type.Object({
  p50: seconds('Half of the tasks took no longer; null without any.'),
  p95: seconds('The same of 95 of 100.'),
})

const sums = {
  tasks: Type.Object(
    { done: count('Done.'), failed: count('Failed.'), cancelled: count('Cancelled.') },
    { description: 'Tasks that ended then, by their state.' },
  ),
  credits: count('Charged and not given back.'),
  engine_seconds: Type.Number({
    minimum: 0,
    description: 'Of attempts at rendering; those whose worker went away count none.',
  }),
  pixels: count('Of the results; of a video those of all frames.'),
  stored_bytes: count('Of inputs, results and payload, as they were stored at the end.'),
  waiting: {
    ...Percentiles,
    description:
      'Seconds from the creation to the beginning; time in which a pause holds a task counts.',
  },
  running: { ...Percentiles, description: 'Seconds from the beginning to the end.' },
}

export const Usage = Type.Object({
  from: Type.String({ description: 'First day.' }),
  to: Type.String({ description: 'Last day.' }),
  by: Type.String(),
  groups: Type.Array(
    Type.Object({
      group: Type.String({
        description:
          'The day, the kind, the id of the API key, the value of the label, or the owner.',
      }),
      name: Type.Optional(
        Type.String({ description: 'Name of the API key, which may have ended.' }),
      ),
      ...sums,
    }),
    { description: `Days in order; others with the most tasks first, ${MAX_GROUPS} at most.` },
  ),
  total: Type.Object(sums, { description: 'Of all groups, also of those that are not listed.' }),
})
export type Usage = Static<typeof Usage>

/** The days of a report, and the name under which rows have what it groups by. */
export const readUsageQuery = ({ from, to, by }: UsageQuery, now: Date) => {
  const last = to ?? now.toISOString().slice(0, 10)
  const first = new Date(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  const isLabel = by.startsWith(LABEL)
  const key = isLabel ? by.slice(LABEL.length) : by === 'key' ? KEYS : undefined
  return { from: from ?? first, to: last, by: isLabel ? 'label' : by, key }
}

/** The rules of a query that its schema cannot say. */
export const validateUsageQuery = (query: Readonly<Record<string, unknown>>): Issue[] => {
  const { from, to, by, label } = query
  const wrong = ['from', 'to'].filter((name) => !isDay(query[name]))
  if (wrong.length > 0)
    return wrong.map((name) =>
      makeIssue(`?${name}`, `must be a day of the calendar, got ${String(query[name])}`),
    )
  const days = (Date.parse(String(to)) - Date.parse(String(from))) / DAY_MS + 1
  return [
    ...(days < 1
      ? [makeIssue('?to', `must not be before ?from, got ${String(to)} and ${String(from)}`)]
      : []),
    ...(days > MAX_DAYS
      ? [makeIssue('?to', `must be at most ${MAX_DAYS - 1} days after ?from, got ${String(to)}`)]
      : []),
    ...(Array.isArray(label) && (label.length > 1 || by === 'key' || String(by).startsWith(LABEL))
      ? [
          makeIssue(
            '?label',
            'must be one label, and absent where the groups are those of a label or of keys',
          ),
        ]
      : []),
  ]
}

/** True of a day of the calendar, and of what the schema rejects. */
const isDay = (text: unknown): boolean => {
  if (typeof text !== 'string' || !new RegExp(DAY).test(text)) return true
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Places of the durations that a row counts: `usage_bucket` (0045) finds the place of a task. */
export const USAGE_PLACES = Array.from({ length: 44 }, (_, index) => index + 1)

/** Seconds below which a duration is in a place or before it. */
const usageSeconds = (place: number): number => (place < 1 ? 0 : 0.1 * 2 ** ((place - 1) / 2))

/**
 * The duration in seconds that a part of the tasks did not exceed: within the place where it lies, as if all of it were
 * equally often. So it is wrong by a fifth at most, of durations above 0.1 s. Null without any.
 */
export const percentile = (counts: readonly number[], part: number): number | null => {
  const all = counts.reduce((sum, one) => sum + one, 0)
  if (all === 0) return null
  let rest = part * all
  const index = counts.findIndex((one) => (rest -= one) <= 0)
  const inPlace = counts[index] ?? 1
  const [low, high] = [usageSeconds(index), usageSeconds(index + 1)]
  return Math.round((low + ((inPlace + rest) / inPlace) * (high - low)) * 1000) / 1000
}

const COLUMNS = [
  'done,failed,cancelled,credits,engine_seconds,pixels,stored_bytes',
  'waiting_p50,waiting_p95,running_p50,running_p95',
].join(',')

/** Writes a report as CSV (RFC 4180), a line for each group; of API keys the last column is their names. */
export const writeUsageCsv = ({ by, groups }: Usage): string => {
  const isNamed = by === 'key'
  const lines = groups.map(({ group, name = '', tasks, waiting, running, ...sums }) => [
    quote(group),
    tasks.done,
    tasks.failed,
    tasks.cancelled,
    sums.credits,
    sums.engine_seconds,
    sums.pixels,
    sums.stored_bytes,
    waiting.p50,
    waiting.p95,
    running.p50,
    running.p95,
    ...(isNamed ? [quote(name)] : []),
  ])
  const rows = [`${by},${COLUMNS}${isNamed ? ',name' : ''}`, ...lines.map((line) => line.join(','))]
  return `${rows.join('\r\n')}\r\n`
}

const quote = (text: string): string =>
  /^[\w./-]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`
