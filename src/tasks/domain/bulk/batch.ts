import { Type, type Static, type TSchema } from 'typebox'

import { IDEMPOTENCY_KEY } from '../../../platform/domain/idempotency-key.ts'
import { ADDRESS_MAX, ADDRESS_PATTERN } from '../../../platform/domain/address.ts'
import { uuid } from '../../../platform/domain/schema-fields.ts'
import { Labels } from '../task-options.ts'
import { TaskState } from '../task-item.ts'
import { count, ItemError, next, progress } from './bulk.ts'

/** Most bytes of one request of a batch: larger images go by link. */
export const LINE_MAX_BYTES = 1_048_576

/** Folder of a batch in the store, and its requests there, one a line. They go with its end. */
export const requestsFolder = (id: string): string => `batches/${id}`
export const requestsKey = (id: string): string => `${requestsFolder(id)}/requests.jsonl`

const CustomId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'A name of the caller for the request, which its line of the results has.',
})

/** One request of a batch, as the body and each line of a file have it. */
export const BatchRequest = Type.Object({
  path: Type.String({ description: 'Path on which the task is made.' }),
  body: Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description: 'The body that goes there.' }),
  ),
  custom_id: Type.Optional(CustomId),
  idempotency_key: Type.Optional(
    Type.String({
      pattern: `^${IDEMPOTENCY_KEY}$`,
      'x-expectation': '1 to 255 visible ASCII characters',
      description:
        'As `Idempotency-Key` with this path and body, for 24 hours from its turn: one task, whichever batch or request makes it.',
    }),
  ),
})
export type BatchRequest = Static<typeof BatchRequest>

const text = (description: string, options: object = {}) => Type.String({ description, ...options })
const requestsOf = <Item extends TSchema>(item: Item) =>
  Type.Optional(
    Type.Array(item, {
      minItems: 1,
      maxItems: 1000,
      description:
        'At most 1,000. One that is not valid is a line of the results, not the end of the batch.',
    }),
  )
const given = {
  file: Type.Optional(
    text(
      'In place of `requests`: the `download_url` of an upload (POST /customers/storage) with one request a line, at most 100,000 of at most 1 MiB.',
      { maxLength: ADDRESS_MAX },
    ),
  ),
  labels: Type.Optional({ ...Labels, description: 'Labels that each task gets beside its own.' }),
  webhook_url: Type.Optional(
    text('Notified once, when the last task has ended: `batch.ended`.', {
      maxLength: ADDRESS_MAX,
      'x-pattern': ADDRESS_PATTERN,
    }),
  ),
}

/** Body of a new batch. A request in it is not validated before its turn. */
export const NewBatch = Type.Object({
  requests: requestsOf(Type.Unknown()),
  ...given,
})
export type NewBatch = Static<typeof NewBatch>

/** The same as the documentation shows it. */
export const NewBatchDocument = Type.Object({ requests: requestsOf(BatchRequest), ...given })

export const MadeBatch = Type.Object({ batch_id: uuid('Id of the batch.') })

export const BatchCounts = Type.Object(
  {
    pending: count('No task is made of them yet.'),
    waiting: count('May not begin yet.'),
    queued: count('Wait for a worker.'),
    running: count('Run now.'),
    done: count('Done.'),
    failed: count('Failed.'),
    cancelled: count('Cancelled, or not made because the batch was.'),
    rejected: count('Not valid, so no task was made.'),
  },
  { description: 'Requests by the state of their tasks.' },
)
export type BatchCounts = Static<typeof BatchCounts>

export const Batch = Type.Object({
  ...MadeBatch.properties,
  ...progress,
  counts: BatchCounts,
  waits_for: Type.Optional(
    text('Why tasks of it do not begin, in a sentence; absent unless a pause holds some.'),
  ),
  labels: Type.Optional(Labels),
  webhook_url: Type.Optional(text('Notified when it ends.')),
})
export type Batch = Static<typeof Batch>

export const BatchPage = Type.Object({
  batches: Type.Array(Type.Omit(Batch, ['counts', 'waits_for']), { description: 'Newest first.' }),
  next,
})

export const BatchLine = Type.Object({
  index: count('Place of the request, from 0.'),
  custom_id: Type.Optional(CustomId),
  state: Type.Enum([...TaskState.enum, 'pending', 'rejected']),
  task_id: Type.Optional(uuid('Its task.')),
  replayed: Type.Optional(
    Type.Boolean({
      description:
        'True where an earlier request with the same key has made the task: it does not end with this batch.',
    }),
  ),
  ignored_fields: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Members of its body that nothing reads, as its route would have named them.',
    }),
  ),
  path: Type.Optional(text('Path of the task.')),
  links: Type.Optional(Type.Array(Type.String(), { description: 'Signed links to its results.' })),
  error: Type.Optional(ItemError),
})
export type BatchLine = Static<typeof BatchLine>

/** Says why a file cannot be one of requests, by the beginning of it; undefined where it can. */
export const describeOtherForm = (head: Uint8Array): string | undefined => {
  const [first, second, third] = head
  if (first === 0xef && second === 0xbb && third === 0xbf)
    return 'The file begins with a byte order mark: save it as UTF-8 without one.'
  // No UTF-8 begins so: the marks of UTF-16, and half of a character.
  if (first === 0xff || first === 0xfe || first === 0 || second === 0)
    return 'The file is UTF-16: save it as UTF-8.'
  return String.fromCharCode(...head)
    .trimStart()
    .startsWith('[')
    ? 'The file is a JSON array: write each request as a line of its own, without brackets and commas between (JSON Lines).'
    : undefined
}
