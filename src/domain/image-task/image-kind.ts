import { Type, type Static, type TObject, type TSchema } from 'typebox'

import { ADDRESS_MAX, ADDRESS_PATTERN, IMAGE_PATTERN } from '../shared/address.ts'
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
const image = (description: string) =>
  Type.String({
    minLength: 1,
    'x-pattern': IMAGE_PATTERN,
    description: `${description} Base64 (standard or URL-safe), a data: URI or an https URL.`,
  })

const common = {
  image: image('The image to work on.'),
  webhook_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ADDRESS_MAX,
      'x-pattern': ADDRESS_PATTERN,
      description:
        'Notified of every change of status after the creation; tried twelve times within 76 hours.',
    }),
  ),
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

/** Path prefix of the image task routes. */
export const IMAGE_PREFIX = '/proxy/imgvendor/v1/ai'

interface KindRow {
  /** Path of the creation below `IMAGE_PREFIX`. */
  path: string
  /** Segment of the status, list and cancel routes. */
  family: ImageFamily
  title: string
  body: TSchema
  settings: TObject
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

/**
 * Everything a kind of image task needs to be routed, validated and described. A new one has its settings in
 * image-settings.ts, its time and most pixels in image-size.ts, examples in http/image-task/examples.ts, a schema name in
 * http/openapi/names.ts and a plan in adapters/image-engine/render.ts; the client (lib/create.ts), the console
 * (try/kinds.ts) and the demo (local/demo-jobs.ts) list the kinds, too.
 */
export const IMAGE_KINDS: Record<ImageTaskKind, KindRow> = {
  relight: {
    ...row('/image-relight', 'image-relight', 'Relight an image', RelightSettings),
    body: Type.Object(
      // The order is that of the documentation, and of the issues that are reported.
      { ...common, prompt: relightPrompt, ...relightImages, ...otherRelightSettings },
      {
        not: { required: ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'] },
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

/** Kinds whose creations the list of a family shows, and kinds whose tasks its status route returns. */
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
