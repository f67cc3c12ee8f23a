import { Type, type Static } from 'typebox'

import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { count, map } from '../../platform/domain/schema-fields.ts'

/** Most days of a response. */
const DAYS_MAX = 366
const DAYS_USUAL = 90
const DAY_MS = 86_400_000

const date = (description: string) =>
  Type.Optional(
    Type.String({
      format: 'date',
      pattern: '^(?!0000)', // PostgreSQL knows no year 0
      description,
      'x-expectation': 'a day, such as 2026-01-31',
    }),
  )

/** Query of GET /nodes/{n}/downloads. */
export const DownloadQuery = Type.Object({
  from: date(`First day, in UTC; ${DAYS_USUAL - 1} days before the last one unless given.`),
  to: date('Last day; today unless given.'),
})
export type DownloadQuery = Static<typeof DownloadQuery>

const DownloadDay = Type.Object({
  day: Type.String({ format: 'date', description: 'The day, in UTC.' }),
  downloads: count('Installs on that day.'),
  versions: map<number>(Type.Integer(), {
    description: 'The same by version.',
  }),
})
export type DownloadDay = Static<typeof DownloadDay>

export const Downloads = Type.Object({
  from: Type.String({ format: 'date', description: 'First day.' }),
  to: Type.String({ format: 'date', description: 'Last day.' }),
  downloads: count('Installs on all these days.'),
  days: Type.Array(DownloadDay, { description: 'Days with installs, oldest first.' }),
})

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

export const readDays = (query: DownloadQuery, now: Date): { from: string; to: string } => {
  const to = query.to ?? dayOf(now.getTime())
  return { to, from: query.from ?? dayOf(Date.parse(to) - (DAYS_USUAL - 1) * DAY_MS) }
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** Checks that days are in order and not too many. Of a text that is no day the schema says so. */
export const validateDays = (query: DownloadQuery, now: Date): Issue[] => {
  if (query.to !== undefined && !isDay(query.to)) return []
  const { from, to } = readDays(query, now)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  return days >= 1 && days <= DAYS_MAX
    ? []
    : [
        makeIssue(
          '?from',
          `must be at most ${DAYS_MAX - 1} days before ${to}, and not after it, got ${shown(from)}`,
        ),
      ]
}
