import { Type, type Static, type TObject, type TSchema } from 'typebox'

import { ADDRESS_MAX, ADDRESS_PATTERN, IMAGE_PATTERN } from '../../../platform/domain/address.ts'
import { customName, customPath, type CustomKind } from '../custom-kind.ts'
import { IMAGE_OPTIONS } from '../task-options.ts'
import type { EngineName } from '../engine.ts'
import {
  RelightSettings,
  SkinCreativeSettings,
  SkinFaithfulSettings,
  SkinFlexibleSettings,
  UpscalePrecisionSettings,
  UpscaleSettings,
} from './image-settings.ts'
import type { ImageSettingsByKind } from './image-settings.ts'

/** An image as a caller gives it: Base64, a data: URI or an https URL. */
export const image = (description: string) =>
  Type.String({
    minLength: 1,
    'x-pattern': IMAGE_PATTERN,
    'x-expectation': 'an image as Base64, a data: URI or an https URL',
    description: `${description} Base64 (standard or URL-safe), a data: URI or an https URL.`,
  })

export const webhookUrl = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: ADDRESS_MAX,
    'x-pattern': ADDRESS_PATTERN,
    description:
      'Notified of every change of status after the creation; tried twelve times within 76 hours.',
  }),
)

const common = { image: image('The image to work on.'), webhook_url: webhookUrl }

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
/** A kind whose tasks have the record of an image task. */
export type AnyImageKind = ImageTaskKind | CustomKind

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

/** Path prefix of the image task routes. */
export const IMAGE_PREFIX = '/proxy/imgvendor/v1/ai'

/** Everything that the creation of a kind needs. */
export interface ImageKind {
  kind: AnyImageKind
  /** Path of the creation. */
  path: string
  /** Path below which its tasks are read. */
  tasks: string
  /** Groups the tasks of an owner. */
  segment: string
  title: string
  description: string
  body: TSchema
  settings: TObject
  /** Members that take an image, inline too. */
  images: readonly string[]
  /** Members that take the address of a video. */
  videos?: readonly string[]
  /** Those of both that take a list of them. */
  lists?: readonly string[]
  /** Largest body in bytes: one image of 50 MB is 66.7 MB of Base64; relight takes two. */
  maxBytes: number
  /** Members in which an empty text counts as absent. */
  emptyIsAbsent: readonly string[]
  /** Row of the template whose graph its tasks keep. */
  templateId?: number
  /** Engine that it comes from; absent: settings say who renders its tasks. */
  engine?: EngineName | undefined
  /** The only owners who may make its tasks; absent: all. */
  owners?: readonly string[] | undefined
}

export const IMAGE_BYTES = 68_000_000

interface KindRow extends ImageKind {
  kind: ImageTaskKind
  segment: ImageFamily
  /** Settings that show what the kind can do, for the documentation and the demo. */
  example: object
  /** Most pixels that a result may have, and on each side (interface, Limits). */
  maxResult?: { pixels?: number; side?: number }
  /**
   * Seconds of the local engine for each megapixel of the result, decoding and encoding included: one and a half to two
   * and a half times what was measured (0.08 to 0.17 for 4 megapixels of JPEG on one core), for slower machines and for
   * PNG.
   */
  secondsPerMegapixel: number
}

export type ImageFamily =
  | 'image-relight'
  | 'image-upscaler'
  | 'image-upscaler-precision-v2'
  | 'skin-enhancer'

interface GivenRow extends Pick<
  KindRow,
  'segment' | 'title' | 'settings' | 'example' | 'maxResult' | 'secondsPerMegapixel'
> {
  /** Path of the creation below the prefix; absent: the segment. */
  path?: string
}

const row = (kind: ImageTaskKind, { path, ...given }: GivenRow): KindRow => ({
  kind,
  path: `${IMAGE_PREFIX}/${path ?? given.segment}`,
  tasks: `${IMAGE_PREFIX}/${given.segment}`,
  description:
    'Not generative: the local engine is classical image processing. Responds once the task is durable; it runs afterwards.',
  body: Type.Object({ ...common, ...given.settings.properties, ...IMAGE_OPTIONS }),
  images: ['image'],
  maxBytes: IMAGE_BYTES,
  emptyIsAbsent: ['prompt'],
  ...given,
})

const skin = (mode: string, settings: TObject, example: object): KindRow =>
  row(`skin_${mode}` as ImageTaskKind, {
    path: `skin-enhancer/${mode}`,
    segment: 'skin-enhancer',
    title: `Enhance skin, ${mode} mode`,
    settings,
    example,
    secondsPerMegapixel: 0.25,
  })

/**
 * Everything a kind of image task needs to be routed, validated, described and estimated. A new one has its settings in
 * image-settings.ts, and settings and a plan in packages/engines; the client (lib/create.ts) and the console (try/kinds.ts)
 * list the kinds, too.
 */
export const IMAGE_KINDS: Record<ImageTaskKind, KindRow> = {
  relight: {
    ...row('relight', {
      segment: 'image-relight',
      title: 'Relight an image',
      settings: RelightSettings,
      example: {
        prompt: '(warm light:1.2) from the left',
        light_transfer_strength: 80,
        style: 'smooth',
        advanced_settings: { contrast: 60, engine: 'real' },
      },
      secondsPerMegapixel: 0.2,
    }),
    body: Type.Object(
      // The documentation, and the issues that are reported, follow this order.
      {
        ...common,
        prompt: relightPrompt,
        ...relightImages,
        ...otherRelightSettings,
        ...IMAGE_OPTIONS,
      },
      {
        not: { required: ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'] },
      },
    ),
    images: IMAGE_FIELDS,
    maxBytes: 2 * IMAGE_BYTES,
  },
  upscale: row('upscale', {
    segment: 'image-upscaler',
    title: 'Upscale an image',
    settings: UpscaleSettings,
    example: { scale_factor: '4x', optimized_for: 'soft_portraits', hdr: 2, resemblance: 5 },
    maxResult: { pixels: 25_300_000 },
    secondsPerMegapixel: 0.2,
  }),
  upscale_precision: row('upscale_precision', {
    segment: 'image-upscaler-precision-v2',
    title: 'Upscale an image faithfully',
    settings: UpscalePrecisionSettings,
    example: { scale_factor: 4, flavor: 'photo_denoiser', ultra_detail: 40 },
    maxResult: { side: 10_060 },
    secondsPerMegapixel: 0.2,
  }),
  skin_flexible: skin('flexible', SkinFlexibleSettings, {
    optimized_for: 'improve_lighting',
    sharpen: 10,
    smart_grain: 5,
  }),
  skin_creative: skin('creative', SkinCreativeSettings, { sharpen: 20, smart_grain: 10 }),
  skin_faithful: skin('faithful', SkinFaithfulSettings, { skin_detail: 60 }),
}

/** Path on which a task of a kind is made. */
export const creationPath = (kind: string): string => {
  const custom = customName(kind)
  return custom === undefined ? IMAGE_KINDS[kind as ImageTaskKind].path : customPath(custom)
}

/** Path below which a task of a kind is read. */
export const tasksPath = (kind: string, segment: string): string => {
  const custom = customName(kind)
  return custom === undefined ? `${IMAGE_PREFIX}/${segment}` : customPath(custom)
}

const UPSCALES: ImageTaskKind[] = ['upscale', 'upscale_precision']

/** Kinds whose tasks the status route of a family returns. */
export const IMAGE_FAMILIES: Record<ImageFamily, ImageTaskKind[]> = {
  'image-relight': ['relight'],
  'image-upscaler': UPSCALES,
  'image-upscaler-precision-v2': UPSCALES,
  'skin-enhancer': ['skin_flexible', 'skin_creative', 'skin_faithful'],
}
