import { Type, type Static } from 'typebox'

import { ADDRESS_MAX, ADDRESS_PATTERN, IMAGE_PATTERN } from '../../../platform/domain/address.ts'
import { PRIORITY_OPTIONS, TASK_OPTIONS } from '../task-options.ts'
import {
  ASPECT_RATIOS,
  DEFAULT_VIDEO_MODEL,
  EXTEND_MODELS,
  EXTEND_MODEL_NAMES,
  RECOMMENDED_PROMPT_CREDITS,
  RESOLUTIONS,
  VIDEO_MODELS,
  VIDEO_MODEL_NAMES,
} from './video-model.ts'
import { describeResolutions, describeSeconds } from './video-words.ts'

/** Limits in Unicode code points. Prompt and payload are the interface's. */
const PROMPT_MAX = 2_000
export const PAYLOAD_MAX = 1_048_576
const META_DATA_MAX = 65_536

export const MOVEMENT_AMPLITUDES = ['auto', 'small', 'medium', 'large'] as const
export const STYLES = ['general', 'anime'] as const
const AUDIO_TYPES = ['all', 'speech_only', 'sound_effect_only'] as const

const INT32_MAX = 2_147_483_647

const int32 = (minimum: number, maximum: number, options: object) =>
  Type.Integer({ format: 'int32', minimum, maximum, ...options })

const flag = (description: string) => Type.Boolean({ default: false, description })

const url = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ADDRESS_MAX,
      'x-pattern': ADDRESS_PATTERN,
      description,
    }),
  )

export const VideoImage = Type.String({
  minLength: 1,
  'x-pattern': IMAGE_PATTERN,
  description: 'Base64, a data: URI or an https URL.',
})

const images = (description: string) =>
  // An empty list counts as absent.
  Type.Optional(Type.Array(VideoImage, { maxItems: 1, description }))

const lengths = (models: object): number[] =>
  Object.values(models).flatMap((row: { seconds: number[] }) => row.seconds)

const shortest = (models: object): number => Math.min(...lengths(models))
const longest = (models: object): number => Math.max(...lengths(models))

const prompt = (description: string) =>
  Type.Optional(Type.String({ maxLength: PROMPT_MAX, description }))

const passedThrough = {
  payload: Type.Optional(
    Type.String({
      maxLength: PAYLOAD_MAX,
      description: 'Kept untouched and given back in every record of the task and every callback.',
    }),
  ),
  callback_url: url('Notified of every transition of the task after its creation.'),
}

/** Body of POST /text2video, in the order of the documentation, in which issues are reported too. */
export const TextToVideoBody = Type.Partial(
  Type.Object({
    model: Type.Enum(VIDEO_MODEL_NAMES, {
      default: DEFAULT_VIDEO_MODEL,
      description: 'Decides which lengths, resolutions and ratios there are, and the price.',
    }),
    prompt: prompt(
      'What the video is to show. Echoed as given; the local engine draws with it only when there is no start image. With neither prompt nor image a recommended prompt is rendered, without its price.',
    ),
    images: images(
      'The start image: frame 1 of the video, whose ratio the video keeps. From 1:4 to 4:1.',
    ),
    duration: int32(shortest(VIDEO_MODELS), longest(VIDEO_MODELS), {
      description: `Length in seconds, by model (default): ${describeSeconds(VIDEO_MODELS)}.`,
    }),
    resolution: Type.Enum([...RESOLUTIONS], {
      description: `Short side of the picture, by model (default): ${describeResolutions(VIDEO_MODELS)}.`,
    }),
    aspect_ratio: Type.Enum([...ASPECT_RATIOS], {
      default: '16:9',
      description: 'Width to height. No effect with a start image, but validated.',
    }),
    audio: Type.Boolean({
      description:
        'Make sound together with the picture. Default true on q3 models, else false. The local engine makes placeholder tones, no speech.',
    }),
    audio_type: Type.Enum([...AUDIO_TYPES], {
      default: 'all',
      description: 'Kind of sound. Only with audio; no effect on q3 models.',
    }),
    voice_id: Type.String({
      maxLength: 256,
      description:
        'Voice of the speech. Only with audio; no effect on q3 models nor in the local engine.',
    }),
    bgm: flag(
      'Add background music. No effect on q3 models, on q2 models at 9 or 10 s, and with audio.',
    ),
    movement_amplitude: Type.Enum([...MOVEMENT_AMPLITUDES], {
      default: 'auto',
      description: 'How far the picture moves. No effect on q2 and q3 models.',
    }),
    style: Type.Enum([...STYLES], {
      default: 'general',
      description: 'Look of the picture. No effect on q2 and q3 models.',
    }),
    seed: int32(0, INT32_MAX, {
      description: 'Equal seeds give equal videos. 0 or absent: drawn from 1 to 2147483647.',
    }),
    off_peak: flag(
      'Run at a lower price when there is room, within 48 hours, else fail with a refund. Excludes audio, except on q3 models.',
    ),
    is_rec: flag(
      `Render a recommended prompt in place of the one given, for ${RECOMMENDED_PROMPT_CREDITS} credits more.`,
    ),
    watermark: flag('Make a second copy that carries a watermark.'),
    wm_position: int32(1, 4, {
      default: 3,
      description:
        'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom left.',
    }),
    wm_url: url(
      'Image of the watermark, read only with watermark true; without it a built-in mark is used.',
    ),
    meta_data: Type.String({
      maxLength: META_DATA_MAX,
      contentMediaType: 'application/json',
      description: 'A JSON text, kept byte for byte in the comment of the video file.',
    }),
    ...passedThrough,
    enhance: Type.Boolean({ description: 'Accepted; changes neither result, price nor order.' }),
    ...PRIORITY_OPTIONS,
  }),
)
export type TextToVideoBody = Static<typeof TextToVideoBody>

const EXTEND_RESOLUTIONS = RESOLUTIONS.filter((name) =>
  Object.values(EXTEND_MODELS).some((row) => row.offers.some((offer) => offer.resolution === name)),
)

/** Body of POST /extend. Which of the two sources must be given is a setting: see `validateExtend`. */
export const ExtendBody = Type.Object({
  model: Type.Enum(EXTEND_MODEL_NAMES, { description: 'Model that renders the extension.' }),
  video_creation_id: Type.Optional(
    Type.String({
      minLength: 1,
      // No id of this service is longer than 36; ids of other services may be.
      maxLength: 256,
      description:
        'The source by id of its task or creation; used when it names a finished video the caller may read.',
    }),
  ),
  video_url: url('The source by URL: any video of 4 to 60 s. Used when the id names none.'),
  duration: Type.Optional(
    int32(shortest(EXTEND_MODELS), longest(EXTEND_MODELS), {
      default: 5,
      description: 'Seconds that are added after the last frame of the source.',
    }),
  ),
  resolution: Type.Optional(
    Type.Enum(EXTEND_RESOLUTIONS, {
      default: '720p',
      description: 'Short side of the whole result; its ratio is the source’s.',
    }),
  ),
  images: images('The end image: the picture the extension ends on.'),
  prompt: prompt('What the extension is to show. Echoed as given; no effect in the local engine.'),
  ...passedThrough,
  ...TASK_OPTIONS,
})
export type ExtendBody = Static<typeof ExtendBody>
