import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'

/** Statuses of an image task and the moves between them (media.md 2.2 of the design; no other exists). */
export const ImageTaskStatus = Type.Enum(['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'])
export type ImageTaskStatus = Static<typeof ImageTaskStatus>

/** For each status, those it may be reached from. */
export const IMAGE_TASK_MOVES = {
  IN_PROGRESS: ['CREATED'],
  COMPLETED: ['IN_PROGRESS'],
  FAILED: ['CREATED', 'IN_PROGRESS'],
} as const satisfies Partial<Record<ImageTaskStatus, readonly ImageTaskStatus[]>>

/** Statuses that a webhook is told about; the CREATED event is kept, not sent. */
export const DELIVERED_STATUSES: readonly ImageTaskStatus[] = ['IN_PROGRESS', 'COMPLETED', 'FAILED']

export const TERMINAL_STATUSES: readonly ImageTaskStatus[] = ['COMPLETED', 'FAILED']

/** An upscaled result may hold this many pixels (interface, Limits). */
export const UPSCALE_MAX_PIXELS = 25_300_000
/** A precision result may be this long on each side. */
export const PRECISION_MAX_SIDE = 10_060

const text = (maxLength: number, description: string) => Type.String({ maxLength, description })

const slider = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Number({ minimum, maximum, default: value, description })

const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })

const choice = <Values extends string[]>(
  values: readonly [...Values],
  value: NoInfer<Values[number]>,
  description: string,
) => Type.Enum<Values>(values, { default: value, description })

/** An image as a caller gives it: Base64, a data: URI or an https URL. */
const image = (description: string) =>
  Type.String({
    minLength: 1,
    description: `${description} Base64 (standard or URL-safe), a data: URI or an https URL.`,
  })

const common = {
  image: image('The image to work on.'),
  webhook_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'Told about every change of status after the creation.',
    }),
  ),
}

const sharpen = (value: number) =>
  Type.Optional(slider(0, 100, value, 'Strength of sharpening of the whole image.'))
const smartGrain = (value: number) =>
  Type.Optional(slider(0, 100, value, 'Strength of added fine grain.'))
const prompt = (description: string) => Type.Optional(text(10_000, description))

export const RelightSettings = Type.Object({
  prompt: prompt('Guides the light; a phrase may be weighted as (phrase:weight), weight 1 to 1.4.'),
  light_transfer_strength: Type.Optional(
    slider(0, 100, 100, '0 stays closest to the original, 100 is maximum transfer.'),
  ),
  interpolate_from_original: Type.Optional(
    flag(false, 'Interpolate the final image from the original by light_transfer_strength.'),
  ),
  change_background: Type.Optional(flag(true, 'No effect in the local engine.')),
  preserve_details: Type.Optional(flag(true, 'Keep texture and small details.')),
  style: Type.Optional(
    choice(
      [
        'standard',
        'darker_but_realistic',
        'clean',
        'smooth',
        'brighter',
        'contrasted_n_hdr',
        'just_composition',
      ],
      'standard',
      'Overall look of the result.',
    ),
  ),
  advanced_settings: Type.Optional(
    Type.Object(
      {
        whites: Type.Optional(slider(0, 100, 50, 'Level of the lights.')),
        blacks: Type.Optional(slider(0, 100, 50, 'Level of the darks; higher lifts them.')),
        brightness: Type.Optional(slider(0, 100, 50, 'Overall brightness.')),
        contrast: Type.Optional(slider(0, 100, 50, 'Overall contrast.')),
        saturation: Type.Optional(slider(0, 100, 50, 'Overall saturation; 0 is grey.')),
        fixed_generation: Type.Optional(
          flag(false, 'Equal bytes for an equal request; the local engine always keeps that.'),
        ),
        engine: Type.Optional(
          choice(
            [
              'automatic',
              'balanced',
              'cool',
              'real',
              'illusio',
              'fairy',
              'colorful_anime',
              'hard_transform',
              'softy',
            ],
            'automatic',
            'Character of the result.',
          ),
        ),
        transfer_light_a: Type.Optional(
          choice(
            ['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'],
            'automatic',
            'Intensity of the light transfer.',
          ),
        ),
        transfer_light_b: Type.Optional(
          choice(
            [
              'automatic',
              'composition',
              'straight',
              'smooth_in',
              'smooth_out',
              'smooth_both',
              'reverse_both',
              'soft_in',
              'soft_out',
              'soft_mid',
              'strong_mid',
              'style_shift',
              'strong_shift',
            ],
            'automatic',
            'How the transfer acts on shadows, mids and highlights.',
          ),
        ),
      },
      { default: {} },
    ),
  ),
})

export const UpscaleSettings = Type.Object({
  scale_factor: Type.Optional(
    choice(['2x', '4x', '8x', '16x'], '2x', 'Factor of width and of height.'),
  ),
  prompt: prompt('No effect in the local engine.'),
  creativity: Type.Optional(slider(-10, 10, 0, 'Added texture; negative values soften.')),
  hdr: Type.Optional(slider(-10, 10, 0, 'Definition and local contrast.')),
  resemblance: Type.Optional(slider(-10, 10, 0, 'Closeness to the plain enlargement.')),
  fractality: Type.Optional(slider(-10, 10, 0, 'Strength of the finest detail.')),
  engine: Type.Optional(
    choice(
      ['automatic', 'vendor_illusio', 'vendor_sharpy', 'vendor_sparkle'],
      'automatic',
      'Character of the enlargement.',
    ),
  ),
  optimized_for: Type.Optional(
    choice(
      [
        'standard',
        'soft_portraits',
        'hard_portraits',
        'art_n_illustration',
        'videogame_assets',
        'nature_n_landscapes',
        'films_n_photography',
        '3d_renders',
        'science_fiction_n_horror',
      ],
      'standard',
      'Kind of picture the settings are tuned for.',
    ),
  ),
})

export const UpscalePrecisionSettings = Type.Object({
  scale_factor: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 16,
      default: 2,
      description: 'Factor of width and height.',
    }),
  ),
  flavor: Type.Optional(
    choice(['sublime', 'photo', 'photo_denoiser'], 'photo', 'Kind of source picture.'),
  ),
  sharpen: sharpen(7),
  smart_grain: smartGrain(7),
  ultra_detail: Type.Optional(slider(0, 100, 30, 'Strength of medium-radius detail.')),
})

const skin = { sharpen: sharpen(0), smart_grain: smartGrain(2) }

export const SkinCreativeSettings = Type.Object(skin)

export const SkinFlexibleSettings = Type.Object({
  ...skin,
  optimized_for: Type.Optional(
    choice(
      ['enhance_skin', 'improve_lighting', 'enhance_everything', 'transform_to_real', 'no_make_up'],
      'enhance_skin',
      'What the enhancement aims at.',
    ),
  ),
})

export const SkinFaithfulSettings = Type.Object({
  ...skin,
  skin_detail: Type.Optional(slider(0, 100, 80, 'Share of the skin texture that is kept.')),
})

/** Settings with every default applied: optional members are there, but those without a default. */
type Applied<T> = {
  [K in keyof T as K extends 'prompt' ? K : never]?: Extract<T[K], string>
} & {
  [K in keyof T as K extends 'prompt' ? never : K]-?: NonNullable<T[K]> extends object
    ? Applied<NonNullable<T[K]>>
    : NonNullable<T[K]>
}

export type RelightSettings = Applied<Static<typeof RelightSettings>>
export type UpscaleSettings = Applied<Static<typeof UpscaleSettings>>
export type UpscalePrecisionSettings = Applied<Static<typeof UpscalePrecisionSettings>>
export type SkinCreativeSettings = Applied<Static<typeof SkinCreativeSettings>>
export type SkinFlexibleSettings = Applied<Static<typeof SkinFlexibleSettings>>
export type SkinFaithfulSettings = Applied<Static<typeof SkinFaithfulSettings>>

export interface ImageSettingsByKind {
  relight: RelightSettings
  upscale: UpscaleSettings
  upscale_precision: UpscalePrecisionSettings
  skin_flexible: SkinFlexibleSettings
  skin_creative: SkinCreativeSettings
  skin_faithful: SkinFaithfulSettings
}

export const ImageTaskKind = Type.Enum([
  'relight',
  'upscale',
  'upscale_precision',
  'skin_flexible',
  'skin_creative',
  'skin_faithful',
])
export type ImageTaskKind = Static<typeof ImageTaskKind>
export type ImageSettings = ImageSettingsByKind[ImageTaskKind]

/** A kind together with its settings, so that a switch on the kind narrows them. */
export type ImageRequest = {
  [K in ImageTaskKind]: { kind: K; settings: ImageSettingsByKind[K] }
}[ImageTaskKind]

const relightImages = {
  transfer_light_from_lightmap: Type.Optional(
    image('Grey picture of the wanted light; excludes transfer_light_from_reference_image.'),
  ),
  transfer_light_from_reference_image: Type.Optional(
    image('Picture whose light is taken over; excludes transfer_light_from_lightmap.'),
  ),
}

const { prompt: relightPrompt, ...otherRelightSettings } = RelightSettings.properties

export const IMAGE_FIELDS = [
  'image',
  'transfer_light_from_lightmap',
  'transfer_light_from_reference_image',
] as const
export type ImageField = (typeof IMAGE_FIELDS)[number]

interface KindRow {
  /** Path of the creation below `/proxy/imgvendor/v1/ai`. */
  path: string
  /** Segment of the status, list and cancel routes. */
  family: ImageFamily
  title: string
  body: TSchema
  settings: TSchema
  images: readonly ImageField[]
  /** Largest body in bytes: one image of 50 MB is 66.7 MB of Base64; relight takes two. */
  maxBytes: number
}

export type ImageFamily =
  | 'image-relight'
  | 'image-upscaler'
  | 'image-upscaler-precision-v2'
  | 'skin-enhancer'

const row = (
  path: string,
  family: ImageFamily,
  title: string,
  settings: ReturnType<typeof Type.Object>,
): KindRow => ({
  path,
  family,
  title,
  body: Type.Object({ ...common, ...settings.properties }),
  settings,
  images: ['image'],
  maxBytes: 68_000_000,
})

/** Everything a kind of image task needs to be routed, validated and described. */
export const IMAGE_KINDS: Record<ImageTaskKind, KindRow> = {
  relight: {
    ...row('/image-relight', 'image-relight', 'Relight an image', RelightSettings),
    body: Type.Object(
      // The order is that of the documentation, and of the faults that are told.
      { ...common, prompt: relightPrompt, ...relightImages, ...otherRelightSettings },
      {
        not: {
          required: ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'],
        },
      },
    ),
    images: IMAGE_FIELDS,
    maxBytes: 136_000_000,
  },
  upscale: row('/image-upscaler', 'image-upscaler', 'Upscale an image', UpscaleSettings),
  upscale_precision: row(
    '/image-upscaler-precision-v2',
    'image-upscaler-precision-v2',
    'Upscale an image faithfully',
    UpscalePrecisionSettings,
  ),
  skin_flexible: row(
    '/skin-enhancer/flexible',
    'skin-enhancer',
    'Enhance skin, flexible mode',
    SkinFlexibleSettings,
  ),
  skin_creative: row(
    '/skin-enhancer/creative',
    'skin-enhancer',
    'Enhance skin, creative mode',
    SkinCreativeSettings,
  ),
  skin_faithful: row(
    '/skin-enhancer/faithful',
    'skin-enhancer',
    'Enhance skin, faithful mode',
    SkinFaithfulSettings,
  ),
}

/** The family whose creations a list shows, and the kinds whose tasks its status route answers. */
export const IMAGE_FAMILIES: Record<ImageFamily, { made: ImageTaskKind[]; read: ImageTaskKind[] }> =
  {
    'image-relight': { made: ['relight'], read: ['relight'] },
    'image-upscaler': { made: ['upscale'], read: ['upscale', 'upscale_precision'] },
    'image-upscaler-precision-v2': {
      made: ['upscale_precision'],
      read: ['upscale', 'upscale_precision'],
    },
    'skin-enhancer': {
      made: ['skin_flexible', 'skin_creative', 'skin_faithful'],
      read: ['skin_flexible', 'skin_creative', 'skin_faithful'],
    },
  }

/** What every image route answers under `data`. */
export const ImageTaskRecord = Type.Object({
  task_id: Type.String({ format: 'uuid' }),
  status: ImageTaskStatus,
  generated: Type.Array(Type.String({ format: 'uri' }), {
    description: 'Signed links to the results; empty until COMPLETED.',
  }),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Only in FAILED.' },
    ),
  ),
})
export type ImageTaskRecord = Static<typeof ImageTaskRecord>

/** Width and height of the result in pixels. */
export const resultSize = (
  request: ImageRequest,
  source: { width: number; height: number },
): { width: number; height: number } => {
  const factor = scaleFactor(request)
  return { width: source.width * factor, height: source.height * factor }
}

/** The sentence that refuses a result of this size, or undefined when it is allowed. */
export const pixelLimitFault = (
  request: ImageRequest,
  source: { width: number; height: number },
): string | undefined => {
  const { width, height } = resultSize(request, source)
  if (request.kind === 'upscale' && width * height > UPSCALE_MAX_PIXELS)
    return `must be small enough that the result has at most ${UPSCALE_MAX_PIXELS} pixels; ${source.width}×${source.height} at ${request.settings.scale_factor} gives ${width * height}`
  if (request.kind === 'upscale_precision' && Math.max(width, height) > PRECISION_MAX_SIDE)
    return `must be small enough that each side of the result has at most ${PRECISION_MAX_SIDE} pixels; ${source.width}×${source.height} at factor ${request.settings.scale_factor} gives ${width}×${height}`
  return undefined
}

const scaleFactor = (request: ImageRequest): number => {
  if (request.kind === 'upscale') return Number.parseInt(request.settings.scale_factor, 10)
  return request.kind === 'upscale_precision' ? request.settings.scale_factor : 1
}
