/** A job of the demonstration: what is asked for, and the samples it is made from. */
export type DemoJob = ImageDemoJob | VideoDemoJob

interface CommonJob {
  /** Names the job on the screen and its files. */
  name: string
  /** Path of the creation below the prefix of the family. */
  path: string
  /** File in `samples/`. */
  sample?: string
  /** `upload` gives the link of an upload in place of the bytes. */
  input: 'inline' | 'upload'
  settings: Record<string, unknown>
}

export interface ImageDemoJob extends CommonJob {
  family: 'image'
  /** Segment of the status route. */
  segment: string
  sample: string
  /** A second one, whose light is taken over. */
  reference?: string
}

export interface VideoDemoJob extends CommonJob {
  family: 'video'
  /** Name of the job whose video is continued. */
  continues?: string
}

const image = (
  name: string,
  path: string,
  sample: string,
  settings: DemoJob['settings'],
  more: Partial<ImageDemoJob> = {},
): DemoJob => ({
  name,
  family: 'image',
  path,
  segment: path,
  sample,
  input: 'inline',
  settings,
  ...more,
})

const skin = (mode: string, settings: DemoJob['settings']): DemoJob =>
  image(`skin-${mode}`, `skin-enhancer/${mode}`, 'portrait.png', settings, {
    segment: 'skin-enhancer',
  })

/** One of every kind, those with several ways in each of them; each way of giving an image is there, too. */
export const DEMO_JOBS: DemoJob[] = [
  image('relight-prompt', 'image-relight', 'portrait.png', {
    prompt: '(warm evening light:1.3) from the left',
    style: 'contrasted_n_hdr',
  }),
  image(
    'relight-reference',
    'image-relight',
    'still-life.png',
    { light_transfer_strength: 80 },
    { reference: 'sunset-light.png', input: 'upload' },
  ),
  image(
    'upscale',
    'image-upscaler',
    'still-life.png',
    { scale_factor: '2x', creativity: 2, hdr: 3 },
    { input: 'upload' },
  ),
  image('upscale-precision', 'image-upscaler-precision-v2', 'still-life.png', {
    scale_factor: 2,
    flavor: 'photo',
  }),
  skin('flexible', { optimized_for: 'improve_lighting' }),
  skin('creative', { sharpen: 20 }),
  skin('faithful', { skin_detail: 60 }),
  {
    name: 'video-text',
    family: 'video',
    path: 'text2video',
    input: 'inline',
    settings: {
      model: 'videoq2-pro',
      prompt: 'Sunset over a calm ocean, seen from the shore',
      duration: 4,
      resolution: '540p',
      seed: 7,
      bgm: true,
      watermark: true,
    },
  },
  {
    name: 'video-image',
    family: 'video',
    path: 'text2video',
    sample: 'still-life.png',
    input: 'inline',
    settings: { model: 'video2.0', duration: 4, movement_amplitude: 'large', seed: 11 },
  },
  {
    name: 'video-extend',
    family: 'video',
    path: 'extend',
    sample: 'sunset-light.png',
    input: 'upload',
    continues: 'video-text',
    settings: { model: 'videoq2-turbo', duration: 3, resolution: '540p' },
  },
]

/** A video that takes long enough for its worker to be killed in the middle of it. */
export const KILLED_JOB: DemoJob = {
  name: 'killed',
  family: 'video',
  path: 'text2video',
  input: 'inline',
  settings: {
    model: 'videoq2-pro',
    prompt: 'Waves that come and go',
    duration: 5,
    resolution: '720p',
    seed: 3,
  },
}
