import { Type, type Static, type TSchema } from 'typebox'

import { ImageTaskKind, type AnyImageKind } from './image/image-kind.ts'
import { CUSTOM, CUSTOM_NAME } from './custom-kind.ts'
import { timeBounds } from '../../platform/domain/time-bounds.ts'
import { DeletedAt } from './deleted-at.ts'
import { EngineErrorText } from './engine-error.ts'
import { DeliveryState, SentEvent } from './task-event.ts'
import { LabelFilter, Labels } from './task-options.ts'
import { instant, queryText, uuid } from '../../platform/domain/schema-fields.ts'
import { ImageTaskStatus, warnings } from './image/image-task.ts'
import { WaitsFor } from './waits-for.ts'
import { VideoTaskKind, VideoTaskState } from './video/video-task.ts'

const KINDS = [...ImageTaskKind.enum, ...VideoTaskKind.enum]
export const KIND_PATTERN = `(${KINDS.join('|')}|${CUSTOM}${CUSTOM_NAME})`

export const TaskKind = Type.Unsafe<AnyImageKind | VideoTaskKind>(
  Type.String({
    pattern: `^${KIND_PATTERN}$`,
    'x-expectation': `one of ${KINDS.join(', ')}, or ${CUSTOM} with the name of a template`,
    description: `${KINDS.join(', ')}, or \`${CUSTOM}\` with the name of a template.`,
  }),
)
export type TaskKind = Static<typeof TaskKind>

/** States of a task of either family, in the words that both share. */
export const TaskState = Type.Enum(['waiting', 'queued', 'running', 'done', 'failed', 'cancelled'])
export type TaskState = Static<typeof TaskState>

/** States of a task that has not ended. */
export const OPEN_STATES: readonly TaskState[] = ['waiting', 'queued', 'running']

const TaskStatus = Type.Union([ImageTaskStatus, VideoTaskState], {
  description: 'The same in the word of the status route.',
})

const text = (description: string, options: object = {}) =>
  Type.Optional(Type.String({ description, ...options }))
const count = (description: string) => Type.Integer({ minimum: 0, description })
const some = <Item extends TSchema>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, description }))

/** A task of either family as lists show it. A member without a value is absent. */
const members = {
  task_id: uuid('Id of the task.'),
  kind: TaskKind,
  family: Type.Enum(['image', 'video']),
  state: TaskState,
  status: TaskStatus,
  rev: count('Grows with all that is shown: the higher one is the newer.'),
  created_at: instant('When it was made.'),
  start_after: Type.Optional(instant('Time before which it does not begin.')),
  started_at: Type.Optional(instant('When the first attempt at rendering began.')),
  ended_at: Type.Optional(instant('When it ended.')),
  progress: count('Per cent rendered; 0 while nobody knows.'),
  waits_for: WaitsFor,
  prompt: text('First 200 characters of the prompt.'),
  engine: text('Model of a video, engine of an image.'),
  credits: count('Charged and not given back.'),
  labels: Type.Optional(Labels),
  priority: Type.Optional(
    Type.Integer({ description: 'Order among those of its account that wait; absent: 0.' }),
  ),
  run_again_of: Type.Optional(uuid('The task that an operation has made again with this one.')),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String(), engine_error: EngineErrorText },
      { description: 'Why it failed, or that it was cancelled.' },
    ),
  ),
  thumbnail_url: text('Signed link to a WebP of the result, 256 pixels at most on a side.'),
  cancellable: Type.Boolean({ description: 'Whether its cancel route would take it now.' }),
  deleted_at: DeletedAt,
  path: Type.String({
    description: 'Path of the task: `/cancel` behind it cancels, of a video `/creations` reads it.',
  }),
  owner: text('For platform admins only.'),
}
export const TaskItem = Type.Object(members)
export type TaskItem = Static<typeof TaskItem>

const next = text('Asks for the next page, as `after`; absent on the last one.')
const SHORT = 'There may be fewer than the limit, even none, while `next` is there.'

export const TaskPage = Type.Object({
  tasks: Type.Array(TaskItem, { description: `Newest first. ${SHORT}` }),
  next,
})

const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Most of a page.' }),
  after: text('The `next` of the page before.', { maxLength: 200 }),
}

export const TASK_QUERY_EMPTY_IS_ABSENT = [
  ...(['from', 'to', 'since', 'until', 'q', 'batch_id', 'after', 'owner'] as const),
]

const ofBatch = (description: string) => Type.Optional(uuid(description))

const filters = {
  kind: some(TaskKind, 'Only these kinds.'),
  state: some(TaskState, 'Only tasks in these states.'),
  ...timeBounds('Tasks made'),
  q: Type.Optional(queryText(200, 'A part of the prompt, whatever its case.')),
  label: LabelFilter,
  batch_id: ofBatch('Only tasks of this batch.'),
  ...paging,
}

export const TaskQuery = Type.Object(filters)
export type TaskQuery = Static<typeof TaskQuery>

export const AdminTaskQuery = Type.Object({
  ...filters,
  owner: Type.Optional(queryText(255, 'Only tasks of this owner.')),
})

export const TaskSummary = Type.Object({
  open: Type.Object(
    {
      waiting: count('May not begin yet.'),
      queued: count('Wait for a worker.'),
      running: count('Run now.'),
    },
    { description: 'Tasks that have not ended.' },
  ),
  day: Type.Object(
    { done: count('Done.'), failed: count('Failed.'), cancelled: count('Cancelled.') },
    { description: 'Ended tasks that were made within the last 24 hours.' },
  ),
  exhausted_deliveries: count('Events of the newest 10,000 tasks that reached nobody.'),
  capped: Type.Boolean({ description: 'There were more than 10,000: the counts are at least.' }),
})
export type TaskSummary = Static<typeof TaskSummary>

const file = {
  url: Type.String({ description: 'Signed link, else the address as given; empty once deleted.' }),
  content_type: text('Media type.'),
  bytes: Type.Optional(count('Size.')),
  width: Type.Optional(count('Pixels.')),
  height: Type.Optional(count('Pixels.')),
}

/** A task with all that is known of its life. */
export const TaskDetail = Type.Object({
  ...members,
  request: Type.Object(
    { path: Type.String(), body: Type.Object({}, { additionalProperties: true }) },
    { description: 'Makes the same again: settings with defaults, inputs by their address.' },
  ),
  inputs: Type.Array(
    Type.Object({
      field: Type.String(),
      ...file,
      stored_url: text(
        'Fresh signed link to the file that `url` leads to, where that is a link of this service; absent once it is removed, and for others than its owner.',
      ),
    }),
  ),
  results: Type.Array(Type.Object({ name: Type.String(), ...file })),
  moves: Type.Array(
    Type.Object({
      event_id: uuid('Id of the event of the move.'),
      sequence: count('From 1; the first is the creation.'),
      status: TaskStatus,
      state: TaskState,
      at: instant('When the task moved.'),
    }),
  ),
  attempts: Type.Array(
    Type.Object({
      number: count('From 1.'),
      started_at: instant('When it began.'),
      ended_at: Type.Optional(instant('When it ended; if it was lost, at the latest.')),
      outcome: Type.Enum(['running', 'done', 'failed', 'cancelled', 'put_back', 'lost'], {
        description:
          'put_back: the task could not go on, and waits. lost: its worker went away. cancelled: its task was.',
      }),
      error: text('Code of its error.'),
    }),
    { description: 'Attempts at rendering, in order, the first fifty.' },
  ),
  engine_error: text(
    'What its engine said of the last attempt that failed, cut and without texts of the request; for platform admins, and for callers where the engine has `errors=shown`.',
  ),
  queue_position: Type.Optional(
    count('Its place among the tasks of its account that wait, from 1; absent of any other.'),
  ),
  lacking: some(Type.String(), 'Why it waits, with what each machine lacks; for platform admins.'),
  placed_at: Type.Optional(instant('When a machine last took it, where machines are chosen.')),
  log: Type.Optional(
    Type.String({
      description:
        'Last lines that its engine has printed, of one that speaks the HTTP API of cog; until its files are removed.',
    }),
  ),
  template: Type.Optional(
    Type.Object(
      {
        name: Type.String(),
        version: Type.String({ description: 'SHA-256 of its file, and of the map beside it.' }),
        first_seen_at: instant('When a worker first saw this version.'),
      },
      { description: 'Template that a machine last took it with.' },
    ),
  ),
  estimated_seconds: Type.Optional(
    Type.Number({ description: 'Recent median of its kind; only of a task that has not ended.' }),
  ),
  warnings,
  purge_at: Type.Optional(
    instant('When inputs and results are removed, where the request said for how long they stay.'),
  ),
  purged_at: Type.Optional(instant('When inputs and results were removed.')),
  temporal_url: text('Its workflow in the Temporal UI, for platform admins.'),
})
export type TaskDetail = Static<typeof TaskDetail>

export const TaskToken = Type.Object({
  token: Type.String({ description: 'The secret, shown this once.' }),
  expires_at: instant('When it ends: in an hour, or earlier with the credential it is made with.'),
})
export type TaskToken = Static<typeof TaskToken>

export const OwnerEventQuery = Type.Object({
  label: LabelFilter,
  batch_id: ofBatch('Only events of tasks of this batch.'),
  ...timeBounds('Events made'),
  state: some(Type.Enum(DeliveryState.enum), 'Only events with a delivery in these states.'),
  ...paging,
})
export type OwnerEventQuery = Static<typeof OwnerEventQuery>

/** Events of all tasks of an owner. */
export const OwnerEvents = Type.Object({
  events: Type.Array(
    Type.Object({
      ...SentEvent.properties,
      task_id: uuid('Its task.'),
      kind: TaskKind,
      prompt: members.prompt,
    }),
    { description: `Those of the newest task first, and of a task the newest first. ${SHORT}` },
  ),
  next,
})

export const TaskStreamQuery = Type.Pick(TaskQuery, [
  ...(['label', 'batch_id', 'from', 'to', 'since', 'until'] as const),
])
export type TaskStreamQuery = Static<typeof TaskStreamQuery>

/** Response to a creation that is only tried. */
export const DryRun = Type.Object({
  dry_run: Type.Boolean(),
  credits: count('What the task would cost.'),
  estimated_seconds: Type.Union([Type.Number(), Type.Null()], {
    description: 'What tasks of its kind took lately, as a median; null without any.',
  }),
  ignored_fields: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Fields of the request that nothing reads, or that take no effect in it.',
    }),
  ),
})
export type DryRun = Static<typeof DryRun>
