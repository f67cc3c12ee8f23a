import { DOT, EXAMPLE_ID, EXAMPLE_URL } from '../image/examples.ts'

const CREATION_ID = '0b8f6c1e-5d0a-4b52-8f3e-9a1c7d2e4f60'
const CREATED_AT = '2026-01-01T00:00:00.000Z'
const EXAMPLE_VIDEO_URL = 'https://videos.example.com/harbour.mp4'

const link = (name: string): string =>
  `https://kiln.example.com/files/${EXAMPLE_ID}/${name}?expires=1767225600&signature=q3`

/** Bodies of POST /text2video, by what they show. */
export const TEXT_TO_VIDEO_EXAMPLES = {
  prompt: {
    prompt: 'sunset over the ocean, slow waves',
    duration: 4,
    resolution: '540p',
    aspect_ratio: '9:16',
    seed: 7,
    payload: 'order 17',
  },
  'start image': { images: [EXAMPLE_URL], model: 'videoq2-pro', duration: 3, watermark: true },
  inline: { images: [DOT], model: 'video2.0', movement_amplitude: 'small', bgm: true },
  'off-peak': { prompt: 'forest at night', off_peak: true, resolution: '1080p' },
}

/** Bodies of POST /img2video. */
export const IMAGE_TO_VIDEO_EXAMPLES = {
  'start image': { images: [EXAMPLE_URL], model: 'videoq3-turbo', duration: 3 },
}

/** Bodies of POST /start-end2video. */
export const START_END_EXAMPLES = {
  'first and last frame': { images: [EXAMPLE_URL, EXAMPLE_URL], model: 'videoq2', duration: 3 },
}

/** Bodies of POST /extend; valid whatever sources the service asks for. */
export const EXTEND_EXAMPLES = {
  'own video': {
    model: 'videoq2-turbo',
    video_creation_id: EXAMPLE_ID,
    video_url: EXAMPLE_VIDEO_URL,
    duration: 2,
  },
  'end image': {
    model: 'videoq2-pro',
    video_creation_id: CREATION_ID,
    video_url: EXAMPLE_VIDEO_URL,
    images: [EXAMPLE_URL],
    resolution: '1080p',
  },
}

const record = { task_id: EXAMPLE_ID, state: 'created', created_at: CREATED_AT }

export const TEXT_TO_VIDEO_RECORD = {
  ...record,
  credits: 36,
  model: 'videoq3-pro',
  prompt: 'sunset over the ocean, slow waves',
  duration: 4,
  resolution: '540p',
  payload: 'order 17',
  aspect_ratio: '9:16',
  bgm: false,
  movement_amplitude: 'auto',
  off_peak: false,
  seed: 7,
  style: 'general',
  watermark: false,
}

export const EXTEND_RECORD = {
  ...record,
  credits: 20,
  model: 'videoq2-turbo',
  duration: 2,
  resolution: '720p',
  video_creation_id: EXAMPLE_ID,
  video_url: EXAMPLE_VIDEO_URL,
}

export const CREATIONS = {
  id: EXAMPLE_ID,
  state: 'success',
  err_code: '',
  err_msg: '',
  credits: 36,
  payload: 'order 17',
  bgm: false,
  off_peak: false,
  progress: 100,
  creations: [
    {
      id: CREATION_ID,
      url: link('video.mp4'),
      cover_url: link('cover.jpg'),
      watermarked_url: '',
      moderation_url: [],
      video: { duration: 4, fps: 24, resolution: { width: 540, height: 960 } },
    },
  ],
}

export const TASK_LIST = {
  tasks: [
    {
      ...CREATIONS,
      created_at: CREATED_AT,
      model: 'videoq3-pro',
      duration: 4,
      resolution: '540p',
    },
  ],
  next_page_token: '',
}

export const CREDITS = {
  remains: [
    {
      credit_remain: 964,
      credit_used: 36,
      concurrency_limit: 5,
      current_concurrency: 1,
      queue_count: 0,
    },
  ],
}
