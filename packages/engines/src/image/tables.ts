import type {
  RelightSettings,
  SkinFlexibleSettings,
  UpscalePrecisionSettings,
  UpscaleSettings,
} from '../image-settings.ts'

type Advanced = RelightSettings['advanced_settings']

/** Exponent of the light's gain, and how much more of it skin gets. */
export const LIGHT_STRENGTH: Record<Advanced['transfer_light_a'], { all: number; faces: number }> =
  {
    automatic: { all: 1, faces: 0 },
    low: { all: 0.5, faces: 0 },
    medium: { all: 0.75, faces: 0 },
    normal: { all: 1, faces: 0 },
    high: { all: 1.25, faces: 0 },
    high_on_faces: { all: 1, faces: 0.25 },
  }

export interface LightShape {
  /** Exponent of the gain where the picture's own light is 0, ½ and 1. */
  tones: readonly [shadows: number, mids: number, highlights: number]
  /** Factor on the blur of both lights. */
  blur: number
  /** Share of the map's colour that is taken over. */
  colour: number
}

const shape = (tones: LightShape['tones'], blur = 1, colour = 0.3): LightShape => ({
  tones,
  blur,
  colour,
})

export const LIGHT_SHAPES: Record<Advanced['transfer_light_b'], LightShape> = {
  automatic: shape([1, 1, 1]),
  composition: shape([1, 1, 1], 2),
  straight: shape([1, 1, 1]),
  smooth_in: shape([0.5, 1, 1]),
  smooth_out: shape([1, 1, 0.5]),
  smooth_both: shape([0.5, 1, 0.5]),
  reverse_both: shape([1, 0.5, 1]),
  soft_in: shape([0.5, 0.75, 1], 2),
  soft_out: shape([1, 0.75, 0.5], 2),
  soft_mid: shape([0.75, 1, 0.75], 2),
  strong_mid: shape([1, 1.25, 1]),
  style_shift: shape([1, 1, 1], 1, 1),
  strong_shift: shape([1.25, 1.25, 1.25], 1, 1),
}

interface LightCharacter {
  /** The gain stays between 1 / limit and limit. */
  limit: number
  /** Exponent on the gain. */
  power: number
}

const usual: LightCharacter = { limit: 4, power: 1 }

export const LIGHT_CHARACTERS: Record<Advanced['engine'], LightCharacter> = {
  automatic: usual,
  balanced: usual,
  cool: usual,
  real: { limit: 2, power: 1 },
  illusio: usual,
  fairy: usual,
  colorful_anime: usual,
  hard_transform: { limit: 4, power: 1.5 },
  softy: usual,
}

/** Offsets on the sliders creativity, fractality and hdr. */
export interface UpscaleOffsets {
  creativity: number
  fractality: number
  hdr: number
}

const offsets = (creativity: number, fractality: number, hdr: number): UpscaleOffsets => ({
  creativity,
  fractality,
  hdr,
})

export const UPSCALE_ENGINES: Record<UpscaleSettings['engine'], UpscaleOffsets> = {
  automatic: offsets(0, 0, 0),
  vendor_illusio: offsets(-2, -3, 0),
  vendor_sharpy: offsets(-1, 4, 1),
  vendor_sparkle: offsets(0, 1, 4),
}

export const UPSCALE_SUBJECTS: Record<UpscaleSettings['optimized_for'], UpscaleOffsets> = {
  standard: offsets(0, 0, 0),
  soft_portraits: offsets(-2, -2, -2),
  hard_portraits: offsets(0, 2, 1),
  art_n_illustration: offsets(-1, 2, 1),
  videogame_assets: offsets(-2, 3, 1),
  nature_n_landscapes: offsets(1, 2, 2),
  films_n_photography: offsets(1, 0, 0),
  '3d_renders': offsets(-3, 2, 1),
  science_fiction_n_horror: offsets(2, 1, 3),
}

interface Flavor {
  /** Factor on ultra_detail. */
  ultraDetail: number
  /** True when a 3 × 3 median runs before the enlargement. */
  median: boolean
}

export const FLAVORS: Record<UpscalePrecisionSettings['flavor'], Flavor> = {
  sublime: { ultraDetail: 1.25, median: false },
  photo: { ultraDetail: 1, median: false },
  photo_denoiser: { ultraDetail: 1, median: true },
}

/** Changes that an aim of the flexible mode adds; 0 and 1 are neutral. */
export interface SkinAim {
  gamma: number
  /** Share of the equalised luma (CLAHE). */
  equalise: number
  /** Added to the sliders. */
  sharpen: number
  smartGrain: number
  /** Share of Y − blur(1) that is added. */
  localContrast: number
  saturation: number
  /** True when the colour of skin is smoothed by blur(1). */
  evenColour: boolean
}

export const NO_SKIN_AIM: SkinAim = {
  gamma: 1,
  equalise: 0,
  sharpen: 0,
  smartGrain: 0,
  localContrast: 0,
  saturation: 1,
  evenColour: false,
}

export const SKIN_AIMS: Record<SkinFlexibleSettings['optimized_for'], SkinAim> = {
  enhance_skin: NO_SKIN_AIM,
  improve_lighting: { ...NO_SKIN_AIM, gamma: 0.9, equalise: 0.2 },
  enhance_everything: { ...NO_SKIN_AIM, sharpen: 15, localContrast: 0.2 },
  transform_to_real: { ...NO_SKIN_AIM, smartGrain: 6, saturation: 0.92 },
  no_make_up: { ...NO_SKIN_AIM, evenColour: true },
}
