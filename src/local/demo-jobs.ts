/** A job of the demonstration: what is asked for, of which sample. */
export interface DemoJob {
  /** Names the job on the screen and its files. */
  name: string
  /** Path of the creation, and the family whose route tells the status, below `/proxy/imgvendor/v1/ai`. */
  path: string
  family: string
  /** File in `samples/`. */
  sample: string
  /** A second one, whose light is taken over. */
  reference?: string
  /** `upload` gives the link of an upload in place of the bytes. */
  input: 'inline' | 'upload'
  settings: Record<string, unknown>
}

const skin = (mode: string, settings: DemoJob['settings']): DemoJob => ({
  name: `skin-${mode}`,
  path: `skin-enhancer/${mode}`,
  family: 'skin-enhancer',
  sample: 'portrait.png',
  input: 'inline',
  settings,
})

/** One of every kind, relight in both of its ways; each way of giving an image is there, too. */
export const DEMO_JOBS: DemoJob[] = [
  {
    name: 'relight-prompt',
    path: 'image-relight',
    family: 'image-relight',
    sample: 'portrait.png',
    input: 'inline',
    settings: { prompt: '(warm evening light:1.3) from the left', style: 'contrasted_n_hdr' },
  },
  {
    name: 'relight-reference',
    path: 'image-relight',
    family: 'image-relight',
    sample: 'still-life.png',
    reference: 'sunset-light.png',
    input: 'upload',
    settings: { light_transfer_strength: 80 },
  },
  {
    name: 'upscale',
    path: 'image-upscaler',
    family: 'image-upscaler',
    sample: 'still-life.png',
    input: 'upload',
    settings: { scale_factor: '2x', creativity: 2, hdr: 3 },
  },
  {
    name: 'upscale-precision',
    path: 'image-upscaler-precision-v2',
    family: 'image-upscaler-precision-v2',
    sample: 'still-life.png',
    input: 'inline',
    settings: { scale_factor: 2, flavor: 'photo' },
  },
  skin('flexible', { optimized_for: 'improve_lighting' }),
  skin('creative', { sharpen: 20 }),
  skin('faithful', { skin_detail: 60 }),
]
