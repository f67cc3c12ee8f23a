import { EXAMPLE } from '../try/snippets.ts'
import { t } from '../words/translate.ts'

/** A request whose result is shipped with the console; `tools/samples.ts` makes the file with the engine of the release. */
export interface Sample {
  /** Name of its file. */
  id: string
  /** Kind of the task, as in the address of its page. */
  kind: 'relight' | 'upscale' | 'skin_flexible' | 'skin_creative' | 'text2video'
  title: string
  /** Picture that it begins with; a video begins with words. */
  picture?: keyof typeof PICTURES
  settings: Readonly<Record<string, string | number>>
}

/** Files of the pictures below `src`. */
export const PICTURES = {
  portrait: 'home/portrait.webp',
  'still-life': 'try/still-life.webp',
  eye: 'samples/eye.webp',
  face: 'samples/face.webp',
} as const

export const SAMPLES: readonly Sample[] = [
  {
    id: 'evening',
    kind: 'relight',
    title: t('Warm evening light'),
    picture: 'portrait',
    settings: EXAMPLE,
  },
  {
    id: 'moonlight',
    kind: 'relight',
    title: t('Cool moonlight'),
    picture: 'portrait',
    settings: { prompt: '(cool moonlight:1.4) from the right, dark', style: 'contrasted_n_hdr' },
  },
  {
    id: 'lamp',
    kind: 'relight',
    title: t('A lamp at the left'),
    picture: 'still-life',
    settings: { prompt: '(warm lamp:1.3) from the left, dramatic', style: 'contrasted_n_hdr' },
  },
  {
    id: 'enlarged',
    kind: 'upscale',
    title: t('Four times as large'),
    picture: 'eye',
    settings: { scale_factor: '4x', creativity: 4, hdr: 3 },
  },
  {
    id: 'plain',
    kind: 'skin_flexible',
    title: t('Even colour'),
    picture: 'face',
    settings: { optimized_for: 'no_make_up' },
  },
  {
    id: 'smooth',
    kind: 'skin_creative',
    title: t('Smooth skin, more colour'),
    picture: 'face',
    settings: { sharpen: 10 },
  },
  {
    id: 'sunset',
    kind: 'text2video',
    title: t('A sunset'),
    settings: {
      model: 'videoq2-pro',
      prompt: 'an orange sunset over dark mountains',
      duration: 4,
      seed: 7,
    },
  },
]
