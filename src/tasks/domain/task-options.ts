import { Type, type Static } from 'typebox'

import { shown } from '../../platform/domain/errors.ts'
import { isObject } from '../../platform/domain/is-object.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

export const LABEL_KEY = '[a-z0-9][a-z0-9._-]{0,62}'
const LABELS_MAX = 10
const VALUE_MAX = 256
const KEY_FORM = new RegExp(`^${LABEL_KEY}$`)
const KEY_IN_WORDS = 'small letters, digits, ., _ and -, at most 63 of them'

const LABELS_IN_WORDS = `1 to ${LABELS_MAX} labels, whose names have ${KEY_IN_WORDS}`

/** Names and values by which the caller finds a task again. */
export const Labels = Type.Unsafe<Record<string, string>>({
  type: 'object',
  minProperties: 1,
  maxProperties: LABELS_MAX,
  propertyNames: { type: 'string', pattern: `^${LABEL_KEY}$` },
  additionalProperties: { type: 'string', maxLength: VALUE_MAX },
  description: `Labels of the task, by name: ${LABELS_IN_WORDS}. Lists find it by them.`,
  'x-expectation': `an object of ${LABELS_IN_WORDS}`,
})
export type Labels = Static<typeof Labels>

/** One label of a filter, as a query has it. */
export const LabelText = Type.String({
  pattern: `^${LABEL_KEY}:[^\\u0000]{0,${VALUE_MAX}}$`,
  'x-expectation': `key:value, where the key has ${KEY_IN_WORDS}`,
})
export const LABEL_LIST = {
  minItems: 1,
  maxItems: LABELS_MAX,
  description: 'Only tasks with this label, as `key:value`; of several, with all of them.',
}
/** Labels of a filter in a query. */
export const LabelFilter = Type.Optional(
  Type.Array(LabelText, { ...LABEL_LIST, 'x-list': 'repeated' }),
)

/** Reads the labels of a filter, which its schema has passed. */
export const readLabelFilter = (given: readonly string[] = []): Labels[] =>
  given.map((text) => {
    const at = text.indexOf(':')
    return { [text.slice(0, at)]: text.slice(at + 1) }
  })

/** True when a task has the labels of a filter. */
export const isLabelled = (given: Labels = {}, filter: readonly Labels[]): boolean =>
  filter.every((label) => Object.entries(label).every(([name, value]) => given[name] === value))

/** A week: longer than any deadline of the service. */
export const WITHIN_MAX = 604_800
/** 30 days. */
const START_AFTER_MAX = 2_592_000
const RETENTION_MIN = 60
const INT32_MAX = 2_147_483_647

const within = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WITHIN_MAX,
      description,
      'x-expectation': `a whole number of seconds from 1 to ${WITHIN_MAX}`,
    }),
  )

const common = {
  kiln_labels: Type.Optional(Labels),
  kiln_start_after: Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: START_AFTER_MAX }),
        Type.String({ format: 'date-time' }),
      ],
      {
        description:
          'Seconds from the creation, or a time, 30 days away at most: it waits until then, and all deadlines count from there. Addresses are fetched then. A time that has passed is now.',
        'x-expectation': `a whole number of seconds from 1 to ${START_AFTER_MAX}, or an ISO 8601 date-time such as 2026-01-31T12:00:00Z at most 30 days away`,
      },
    ),
  ),
  kiln_start_within: within(
    'Seconds from the creation: a task that has not begun by then fails with start_timeout.',
  ),
  kiln_end_within: within(
    'Seconds from the creation: a task that has not ended by then fails with deadline_exceeded. The header Cancel-After says the same.',
  ),
  kiln_retention_seconds: Type.Optional(
    Type.Integer({
      minimum: RETENTION_MIN,
      maximum: INT32_MAX,
      description:
        'Seconds from the end of the task until its files are removed, at most RESULT_RETENTION_DAYS: 2592000, unless the operator has set another.',
    }),
  ),
}

const priority = Type.Optional(
  Type.Integer({
    format: 'int32',
    minimum: -INT32_MAX - 1,
    maximum: INT32_MAX,
    description:
      'Order among the tasks of the same account that wait: 1 to 3 go ahead of them, -1 to -3 behind; values beyond count as 3 and -3. No task goes ahead of those of others for it.',
  }),
)

/** Members of the body of a creation that say something of the task itself; no engine is given them. */
export const TASK_OPTIONS = { ...common, kiln_priority: priority }

/** The same where the interface has a member for the priority. */
export const PRIORITY_OPTIONS = { ...common, priority }

/** Encoding of pictures. */
export const OutputFormat = Type.Enum(['png', 'jpeg', 'webp', 'auto'])

/** The same where results are pictures. */
export const IMAGE_OPTIONS = {
  ...TASK_OPTIONS,
  kiln_output_format: Type.Optional(
    Type.Enum(OutputFormat.enum, {
      description:
        'How results are encoded. `auto`: as the machine made them. Absent: PNG where the image is one or has transparency, else JPEG. A JPEG has white in the place of transparency; animations stay as they are.',
    }),
  ),
  kiln_output_quality: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Quality of results that are JPEG or WebP; absent: 95 or 90.',
    }),
  ),
}

/** The header Cancel-After may say it, too. */
export const END_WITHIN = 'kiln_end_within'

type Body = Readonly<Record<string, unknown>>

/** Encoding of the pictures of a task, as its request says. */
export interface Output {
  format?: Static<typeof OutputFormat>
  quality?: number
}

/** Options of a new task, as its row has them. */
export interface TaskOptions {
  labels: Labels | null
  /** From -3 to 3. */
  priority: number
  /** Seconds from the creation, or a time; null: at once. */
  startAfter: number | string | null
  startWithin: number | null
  endWithin: number | null
  retentionSeconds: number | null
  /** Null: nothing is said of it. */
  output: Output | null
  /** Batch that makes the task. */
  batchId?: string | undefined
  /** Task whose request it has. */
  runAgainOf?: string | undefined
}

export const readTaskOptions = (body: Body): TaskOptions => {
  const value = (name: string) => (body[name] as number | undefined) ?? null
  const given = value('priority') ?? value('kiln_priority') ?? 0
  return {
    labels: (body['kiln_labels'] as Labels | undefined) ?? null,
    priority: Math.max(-3, Math.min(3, given)),
    startAfter: (body['kiln_start_after'] as number | string | undefined) ?? null,
    startWithin: value('kiln_start_within'),
    endWithin: value(END_WITHIN),
    retentionSeconds: value('kiln_retention_seconds'),
    output: readOutput(body),
  }
}

const readOutput = ({
  kiln_output_format: format,
  kiln_output_quality: quality,
}: Body & Record<string, unknown>): Output | null =>
  format === undefined && quality === undefined
    ? null
    : ({
        ...(format !== undefined && { format }),
        ...(quality !== undefined && { quality }),
      } as Output)

/** Makes the members of a body that give these options. */
export const writeTaskOptions = (
  { labels, priority: order, startWithin, endWithin, retentionSeconds, output }: TaskOptions,
  priorityName: 'priority' | 'kiln_priority',
): Record<string, unknown> => ({
  ...(labels && { kiln_labels: labels }),
  ...(startWithin !== null && { kiln_start_within: startWithin }),
  ...(endWithin !== null && { [END_WITHIN]: endWithin }),
  ...(retentionSeconds !== null && { kiln_retention_seconds: retentionSeconds }),
  ...(output?.format !== undefined && { kiln_output_format: output.format }),
  ...(output?.quality !== undefined && { kiln_output_quality: output.quality }),
  ...(order !== 0 && { [priorityName]: order }),
})

export const withoutTaskOptions = <B extends Body>(body: B): Omit<B, OptionName> => {
  const rest = Object.entries(body).filter(
    ([name]) => name !== 'priority' && !Object.hasOwn(TASK_OPTIONS, name),
  )
  return Object.fromEntries(rest) as Omit<B, OptionName>
}

type OptionName = keyof typeof TASK_OPTIONS | 'priority'

/** The rules of the options that their schema cannot say, or not in words. */
export const validateTaskOptions = (body: Body, retentionDays: number): Issue[] => [
  ...validateLabels(body['kiln_labels']),
  ...validateRetention(body['kiln_retention_seconds'], retentionDays * 86_400),
  ...validateQuality(body),
  ...validateStart(body['kiln_start_after']),
]

const validateLabels = (labels: unknown): Issue[] => {
  if (!isObject(labels)) return []
  const wrong = Object.keys(labels).find((name) => !KEY_FORM.test(name))
  return wrong === undefined
    ? []
    : [makeIssue('/kiln_labels', `must have names of ${KEY_IN_WORDS}, got ${shown(wrong)}`)]
}

const validateStart = (at: unknown): Issue[] =>
  typeof at === 'string' && Date.parse(at) > Date.now() + START_AFTER_MAX * 1000
    ? [makeIssue('/kiln_start_after', `must be at most 30 days away, got ${at}`)]
    : []

const validateQuality = (body: Body): Issue[] =>
  body['kiln_output_format'] === 'png' && body['kiln_output_quality'] !== undefined
    ? [
        makeIssue(
          '/kiln_output_quality',
          'must be absent beside png, which loses nothing',
          'incompatible_fields',
        ),
      ]
    : []

const validateRetention = (seconds: unknown, max: number): Issue[] =>
  isOneOf(seconds, RETENTION_MIN, Math.min(max, INT32_MAX))
    ? []
    : [
        {
          ...makeIssue(
            '/kiln_retention_seconds',
            `must be a whole number of seconds from ${RETENTION_MIN} to ${max}, got ${shown(seconds)}`,
          ),
          isExact: true,
        },
      ]

const isOneOf = (value: unknown, min: number, max: number): boolean =>
  value === undefined || (Number.isInteger(value) && min <= Number(value) && Number(value) <= max)
