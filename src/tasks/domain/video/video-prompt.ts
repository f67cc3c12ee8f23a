import type { TextToVideoBody } from './video-body.ts'

/**
 * Prompts that are rendered in place of a caller's (`is_rec`), or where there is neither prompt nor image. Each names a
 * palette or a landscape that the local engine draws.
 */
export const RECOMMENDED_PROMPTS = [
  'A quiet ocean under a clear morning sky',
  'Sunset over long hills, the last light on the grass',
  'A forest in the early mist',
  'A calm night with a bright moon over the water',
  'Violet clouds above a wide plain',
  'A green valley after the rain',
  'An orange desert in the evening wind',
  'White snow on blue mountains',
] as const

/** Warns of a request by which nothing says what the video shows. */
export const listPromptWarnings = ({
  prompt = '',
  images = [],
  is_rec: isRecommended = false,
}: Pick<TextToVideoBody, 'prompt' | 'images' | 'is_rec'>): string[] =>
  isRecommended || prompt.trim() !== '' || images.length > 0
    ? []
    : ['no prompt: neither /prompt nor /images says what the video shows']

/** The recommended prompt of a seed: equal seeds name equal ones. */
export const recommendedPrompt = (seed: number): string =>
  RECOMMENDED_PROMPTS[seed % RECOMMENDED_PROMPTS.length] ?? RECOMMENDED_PROMPTS[0]
