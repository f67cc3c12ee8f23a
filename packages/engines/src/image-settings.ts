/** Settings of all kinds, with every default applied. Numbers are sliders of 0 to 100 unless another range is named. */
export interface SettingsByKind {
  relight: RelightSettings
  upscale: UpscaleSettings
  upscale_precision: UpscalePrecisionSettings
  skin_flexible: SkinFlexibleSettings
  skin_creative: SkinSettings
  skin_faithful: SkinFaithfulSettings
}

export interface RelightSettings {
  /** 0 stays closest to the original. */
  light_transfer_strength: number
  /** True: the strength applies to the whole result over the original, not to the light. */
  interpolate_from_original: boolean
  preserve_details: boolean
  style:
    | 'standard'
    | 'darker_but_realistic'
    | 'clean'
    | 'smooth'
    | 'brighter'
    | 'contrasted_n_hdr'
    | 'just_composition'
  advanced_settings: {
    whites: number
    blacks: number
    brightness: number
    contrast: number
    saturation: number
    engine:
      | 'automatic'
      | 'balanced'
      | 'cool'
      | 'real'
      | 'illusio'
      | 'fairy'
      | 'colorful_anime'
      | 'hard_transform'
      | 'softy'
    transfer_light_a: 'automatic' | 'low' | 'medium' | 'normal' | 'high' | 'high_on_faces'
    transfer_light_b:
      | 'automatic'
      | 'composition'
      | 'straight'
      | 'smooth_in'
      | 'smooth_out'
      | 'smooth_both'
      | 'reverse_both'
      | 'soft_in'
      | 'soft_out'
      | 'soft_mid'
      | 'strong_mid'
      | 'style_shift'
      | 'strong_shift'
  }
}

/** Creativity, hdr, resemblance and fractality are −10 to 10. */
export interface UpscaleSettings {
  scale_factor: '2x' | '4x' | '8x' | '16x'
  creativity: number
  hdr: number
  resemblance: number
  fractality: number
  engine: 'automatic' | 'vendor_illusio' | 'vendor_sharpy' | 'vendor_sparkle'
  optimized_for:
    | 'standard'
    | 'soft_portraits'
    | 'hard_portraits'
    | 'art_n_illustration'
    | 'videogame_assets'
    | 'nature_n_landscapes'
    | 'films_n_photography'
    | '3d_renders'
    | 'science_fiction_n_horror'
}

export interface UpscalePrecisionSettings {
  /** A whole number from 2 to 16. */
  scale_factor: number
  flavor: 'sublime' | 'photo' | 'photo_denoiser'
  sharpen: number
  smart_grain: number
  ultra_detail: number
}

export interface SkinSettings {
  sharpen: number
  smart_grain: number
}

export interface SkinFlexibleSettings extends SkinSettings {
  optimized_for:
    | 'enhance_skin'
    | 'improve_lighting'
    | 'enhance_everything'
    | 'transform_to_real'
    | 'no_make_up'
}

export interface SkinFaithfulSettings extends SkinSettings {
  /** Share of the skin texture that is kept. */
  skin_detail: number
}

/** Light that the words of a prompt ask for. */
export interface PromptLight {
  /**
   * Slopes of L across, down and around the middle: L is 1 ± slope at the sides, positive is brighter at the left, the
   * top or the middle.
   */
  across: number[]
  down: number[]
  around: number[]
  /** Factor on red and divisor on blue of the gain. */
  warmth: number
  /** Factor on L. */
  brightness: number
  /** Factor on the contrast of L about its mean. */
  contrast: number
}
