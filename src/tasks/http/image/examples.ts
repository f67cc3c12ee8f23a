import type { ImageTaskKind } from '../../domain/image/image-kind.ts'

/** Settings that show what each kind can do, for the documentation. */
export const EXAMPLES: Record<ImageTaskKind, object> = {
  relight: {
    prompt: '(warm light:1.2) from the left',
    light_transfer_strength: 80,
    style: 'smooth',
    advanced_settings: { contrast: 60, engine: 'real' },
  },
  upscale: { scale_factor: '4x', optimized_for: 'soft_portraits', hdr: 2, resemblance: 5 },
  upscale_precision: { scale_factor: 4, flavor: 'photo_denoiser', ultra_detail: 40 },
  skin_flexible: { optimized_for: 'improve_lighting', sharpen: 10, smart_grain: 5 },
  skin_creative: { sharpen: 20, smart_grain: 10 },
  skin_faithful: { skin_detail: 60 },
}

export const EXAMPLE_URL = 'https://images.example.com/portrait.png'

/** A whole PNG of one pixel, as Base64. */
export const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

export const EXAMPLE_ID = '5c0f6a52-2a9f-4a3c-9d0e-7d1b6f0c8e21'

export const EXAMPLE_LINK = `https://kiln.example.com/files/${EXAMPLE_ID}/result-1.png?expires=1767225600&signature=q3`
