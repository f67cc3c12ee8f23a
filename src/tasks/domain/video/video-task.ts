import { Type, type Static } from 'typebox'

import { DeletedAt } from '../deleted-at.ts'
import { EngineErrorText } from '../engine-error.ts'
import { WaitsFor } from '../waits-for.ts'
import { MOVEMENT_AMPLITUDES, STYLES } from './video-body.ts'
import { VIDEO_ERROR_CODES } from './video-error.ts'
import { RESOLUTIONS, VIDEO_MODEL_NAMES } from './video-model.ts'

/**
 * Kinds of a video task, which share states, routes and ledger. One that begins with a picture is img2video, one between
 * two start-end2video, by whatever route it was made.
 */
export const VideoTaskKind = Type.Enum(['text2video', 'img2video', 'start-end2video', 'extend'])
export type VideoTaskKind = Static<typeof VideoTaskKind>

const GENERATED = ['text2video', 'img2video', 'start-end2video'] as const

/** The kind of a video that is generated with so many images. */
export const generatedKind = (images: number): VideoTaskKind => GENERATED[images] ?? 'text2video'

/** Part by which lists of an owner's tasks are merged; a task keeps the part that it was made in. */
export const videoSegment = (kind: VideoTaskKind): string =>
  kind === 'extend' ? 'extend' : 'text2video'

/** States of a video task and the transitions between them (no other exists). Callers see the words as they are here. */
export const VideoTaskState = Type.Enum(['created', 'queueing', 'processing', 'success', 'failed'])
export type VideoTaskState = Static<typeof VideoTaskState>

/** For each state, those it may be reached from. */
export const VIDEO_TASK_TRANSITIONS = {
  queueing: ['created'],
  processing: ['queueing'],
  success: ['processing'],
  failed: ['created', 'queueing', 'processing'],
} as const satisfies Partial<Record<VideoTaskState, readonly VideoTaskState[]>>

/** States in which a caller may still cancel: before a worker has taken the task. */
export const VIDEO_CANCELLABLE_STATES: readonly VideoTaskState[] = ['created', 'queueing']

/** States that a callback is notified of; the first event is kept, not sent. */
export const VIDEO_DELIVERED_STATES: readonly VideoTaskState[] = [
  'queueing',
  'processing',
  'success',
  'failed',
]

export const VIDEO_TERMINAL_STATES: readonly VideoTaskState[] = ['success', 'failed']

const int32 = (description: string) => Type.Integer({ format: 'int32', description })
const instant = (description: string) => Type.String({ format: 'date-time', description })
const link = (description: string) => Type.String({ format: 'uri', description })

const Resolution = Type.Enum([...RESOLUTIONS], { description: 'Resolution asked for.' })
const Model = Type.Enum(VIDEO_MODEL_NAMES, { description: 'Model of the task.' })
const Duration = int32('Seconds asked for; of an extension, those that are added.')
const Payload = Type.String({ description: 'What the caller gave, untouched.' })
const CreatedAt = instant('When the task was made.')

/** Members that the response to both creations has. A member without a value is absent, never null. */
const record = {
  task_id: Type.String({ format: 'uuid', description: 'Id of the task.' }),
  state: VideoTaskState,
  credits: int32('Credits charged for the task.'),
  created_at: CreatedAt,
  model: Model,
  prompt: Type.Optional(Type.String({ description: 'Prompt as given.' })),
  images: Type.Optional(
    Type.Array(link('URL as given, or a signed link to the stored copy of an inline image.'), {
      description: 'Images of the request.',
    }),
  ),
  duration: Duration,
  resolution: Resolution,
  payload: Type.Optional(Payload),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What may surprise: no prompt, an address that is fetched later.',
    }),
  ),
}

/** Response of POST /text2video: how the video is made, defaults applied. `prompt` alone stands as it was given. */
export const TextToVideoRecord = Type.Object({
  ...record,
  aspect_ratio: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d*:[1-9]\\d*$',
      description:
        'Ratio of the video, in lowest terms. With a start image it is that of the image: absent while only its address is known.',
    }),
  ),
  bgm: Type.Boolean({ description: 'Whether background music is added.' }),
  movement_amplitude: Type.Enum([...MOVEMENT_AMPLITUDES], {
    description: 'How far the picture moves; `auto` on q2 and q3 models.',
  }),
  off_peak: Type.Boolean({ description: 'Whether the task runs off-peak.' }),
  seed: int32('Seed in use: the one given, or the one drawn for the task.'),
  style: Type.Enum([...STYLES], {
    description: 'Look of the picture; `general` on q2 and q3 models.',
  }),
  watermark: Type.Boolean({ description: 'Whether a watermarked copy is made.' }),
})
export type TextToVideoRecord = Static<typeof TextToVideoRecord>

/** Response of POST /extend. */
export const ExtendRecord = Type.Object({
  ...record,
  video_creation_id: Type.Optional(Type.String({ description: 'Source by id, as given.' })),
  video_url: Type.Optional(Type.String({ description: 'Source by URL, as given.' })),
})
export type ExtendRecord = Static<typeof ExtendRecord>

export const VideoCreation = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of the video; names it as a source.' }),
  url: link('Signed link to the video (.mp4).'),
  cover_url: link('Signed link to its first frame (.jpg).'),
  watermarked_url: Type.String({
    description: 'Signed link to the copy with a watermark (.mp4); empty when none was asked for.',
  }),
  moderation_url: Type.Array(Type.String(), {
    maxItems: 0,
    description: 'Always empty: this service moderates nothing.',
  }),
  video: Type.Object({
    duration: Type.Number({ description: 'Length in seconds.' }),
    fps: Type.Number({ description: 'Frames a second.' }),
    resolution: Type.Object({
      width: Type.Integer({ description: 'Width in pixels.' }),
      height: Type.Integer({ description: 'Height in pixels.' }),
    }),
  }),
})
export type VideoCreation = Static<typeof VideoCreation>

/** Response of the status route, and body of a callback. */
export const VideoCreations = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of the task.' }),
  state: VideoTaskState,
  err_code: Type.Enum(['', ...VIDEO_ERROR_CODES], {
    description: 'Why the task failed; empty in every other state.',
  }),
  err_msg: Type.String({ description: 'The same in a sentence; empty unless failed.' }),
  engine_error: EngineErrorText,
  credits: int32('Credits charged; 0 once a failed task was refunded.'),
  payload: Type.Optional(Payload),
  bgm: Type.Boolean({ description: 'Whether background music is added; false in extend.' }),
  off_peak: Type.Boolean({ description: 'Whether the task runs off-peak; false in extend.' }),
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Per cent rendered: 0 until processing, never falling, 100 only with success.',
  }),
  waits_for: WaitsFor,
  creations: Type.Array(VideoCreation, {
    description:
      'The video, or all that a workflow of ComfyUI makes; empty until success, and once deleted.',
  }),
  deleted_at: DeletedAt,
})
export type VideoCreations = Static<typeof VideoCreations>

/** One page of tasks, newest first. */
export const VideoTaskList = Type.Object({
  tasks: Type.Array(
    Type.Intersect([
      VideoCreations,
      Type.Object({
        created_at: CreatedAt,
        model: Model,
        duration: Duration,
        resolution: Resolution,
      }),
    ]),
  ),
  next_page_token: Type.String({ description: 'Asks for the next page; empty on the last one.' }),
})
export type VideoTaskList = Static<typeof VideoTaskList>

/** Credits and slots of an owner. */
export const VideoCredits = Type.Object({
  remains: Type.Array(
    Type.Object({
      credit_remain: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Credits that may still be charged; null where no limit is set.',
      }),
      credit_used: Type.Integer({ description: 'Charges minus refunds so far.' }),
      concurrency_limit: Type.Integer({ description: 'Tasks that may hold a slot at once.' }),
      current_concurrency: Type.Integer({ description: 'Tasks that hold one now.' }),
      queue_count: Type.Integer({ description: 'Tasks that wait for one.' }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
})
export type VideoCredits = Static<typeof VideoCredits>
