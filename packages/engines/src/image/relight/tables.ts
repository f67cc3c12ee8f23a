import type { RelightSettings } from '../../image-settings.ts'

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
