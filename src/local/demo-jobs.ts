import { IMAGE_KINDS, IMAGE_PREFIX, type ImageTaskKind } from '../tasks/domain/image/image-kind.ts'

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

const image = (kind: ImageTaskKind, given: Partial<ImageDemoJob> = {}): ImageDemoJob => {
  const { path, segment, example } = IMAGE_KINDS[kind]
  return {
    name: kind.replaceAll('_', '-'),
    family: 'image',
    path: path.slice(`${IMAGE_PREFIX}/`.length),
    segment,
    sample: segment === 'skin-enhancer' ? 'portrait.png' : 'still-life.png',
    input: 'inline',
    settings: { ...example },
    ...given,
  }
}

/** One of every kind, those with several ways in each of them; each way of giving an image is there, too. */
export const DEMO_JOBS: DemoJob[] = [
  image('relight', { name: 'relight-prompt', sample: 'portrait.png' }),
  image('relight', {
    name: 'relight-reference',
    settings: { light_transfer_strength: 80 },
    reference: 'sunset-light.png',
    input: 'upload',
  }),
  ...(Object.keys(IMAGE_KINDS) as ImageTaskKind[])
    .filter((kind) => kind !== 'relight')
    .map((kind) => image(kind)),
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
