import { Type, type Static } from 'typebox'

/** All settings may be absent. */
const slider = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Optional(Type.Number({ minimum, maximum, default: value, description }))

const flag = (value: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: value, description }))

const choice = <Values extends string[]>(
  values: readonly [...Values],
  value: NoInfer<Values[number]>,
  description: string,
) => Type.Optional(Type.Enum<Values>(values, { default: value, description }))

const sharpen = (value: number) =>
  slider(0, 100, value, 'Strength of sharpening of the whole image.')
const smartGrain = (value: number) => slider(0, 100, value, 'Strength of added fine grain.')
const prompt = (description: string) =>
  Type.Optional(Type.String({ maxLength: 10_000, description }))

export const RelightSettings = Type.Object({
  prompt: prompt(
    'Guides the light; a phrase may be weighted as (phrase:weight), weight 1 to 1.4. The local engine reads words of light (warm, campfire, from the left, darkness …); `warnings` say when it knows none.',
  ),
  light_transfer_strength: slider(
    0,
    100,
    100,
    '0 stays closest to the original, 100 is maximum transfer.',
  ),
  interpolate_from_original: flag(
    false,
    'Interpolate the final image from the original by light_transfer_strength.',
  ),
  change_background: flag(true, 'No effect in the local engine.'),
  preserve_details: flag(true, 'Keep texture and small details.'),
  style: choice(
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
  advanced_settings: Type.Optional(
    Type.Object(
      {
        whites: slider(0, 100, 50, 'Level of the lights.'),
        blacks: slider(0, 100, 50, 'Level of the darks; higher lifts them.'),
        brightness: slider(0, 100, 50, 'Overall brightness.'),
        contrast: slider(0, 100, 50, 'Overall contrast.'),
        saturation: slider(0, 100, 50, 'Overall saturation; 0 is grey.'),
        fixed_generation: flag(
          false,
          'Equal bytes for an equal request; the local engine always keeps that.',
        ),
        engine: choice(
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
        transfer_light_a: choice(
          ['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'],
          'automatic',
          'Intensity of the light transfer.',
        ),
        transfer_light_b: choice(
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
      },
      { default: {} },
    ),
  ),
})

export const UpscaleSettings = Type.Object({
  scale_factor: choice(['2x', '4x', '8x', '16x'], '2x', 'Factor of width and of height.'),
  prompt: prompt('No effect in the local engine.'),
  creativity: slider(-10, 10, 0, 'Added texture; negative values soften.'),
  hdr: slider(-10, 10, 0, 'Definition and local contrast.'),
  resemblance: slider(-10, 10, 0, 'Closeness to the plain enlargement.'),
  fractality: slider(-10, 10, 0, 'Strength of the finest detail.'),
  engine: choice(
    ['automatic', 'vendor_illusio', 'vendor_sharpy', 'vendor_sparkle'],
    'automatic',
    'Character of the enlargement.',
  ),
  optimized_for: choice(
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
  flavor: choice(['sublime', 'photo', 'photo_denoiser'], 'photo', 'Kind of source picture.'),
  sharpen: sharpen(7),
  smart_grain: smartGrain(7),
  ultra_detail: slider(0, 100, 30, 'Strength of medium-radius detail.'),
})

const skin = { sharpen: sharpen(0), smart_grain: smartGrain(2) }

export const SkinCreativeSettings = Type.Object(skin)

export const SkinFlexibleSettings = Type.Object({
  ...skin,
  optimized_for: choice(
    ['enhance_skin', 'improve_lighting', 'enhance_everything', 'transform_to_real', 'no_make_up'],
    'enhance_skin',
    'What the enhancement aims at.',
  ),
})

export const SkinFaithfulSettings = Type.Object({
  ...skin,
  skin_detail: slider(0, 100, 80, 'Share of the skin texture that is kept.'),
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
