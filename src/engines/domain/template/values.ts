import { resultSize } from '../../../tasks/domain/image/image-size.ts'
import type { ImageRequest } from '../../../tasks/domain/image/image-kind.ts'
import { isObject } from '../../../platform/domain/is-object.ts'
import type { Size } from '../../../platform/domain/size.ts'
import { recommendedPrompt } from '../../../tasks/domain/video/video-prompt.ts'
import type { Literal } from './template.ts'

export type Values = Readonly<Record<string, Literal | undefined>>

/** Frames a second of every video of this service. */
const FPS = 24

const isLiteralValue = (value: unknown): value is Literal =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Members of the settings, and of objects in them. */
const flatten = (settings: object): Values =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]: [string, unknown]): [string, Literal][] => {
      if (isObject(value)) return Object.entries(flatten(value)) as [string, Literal][]
      return isLiteralValue(value) ? [[name, value]] : []
    }),
  )

/** Lists the values of an image task. Its seed comes from its id, unless equal requests are to give equal bytes. */
export const imageValues = (request: ImageRequest, source: Size, id: string): Values => {
  const result = resultSize(request, source)
  const isFixed = request.kind === 'relight' && request.settings.advanced_settings?.fixed_generation
  return {
    ...flatten(request.settings),
    ...result,
    scale: result.width / source.width,
    seed: isFixed ? 1 : seedOf(id),
  }
}

/** Lists the values of a task of a custom kind. */
export const customValues = (settings: object, id: string): Values => ({
  seed: seedOf(id),
  ...flatten(settings),
})

const seedOf = (id: string): number => Number.parseInt(id.slice(0, 8), 16) % 2 ** 31

/** Lists the values of a video task. Without a prompt and a picture a recommended prompt is rendered. */
export const videoValues = (
  settings: object,
  { width, height, seconds, seed }: Size & { seconds: number; seed: number },
  hasPicture: boolean,
): Values => {
  const values = flatten(settings)
  const isRecommended = values['is_rec'] === true || (values['prompt'] === undefined && !hasPicture)
  const frames = Math.round(seconds * FPS)
  const prompt = isRecommended ? recommendedPrompt(seed) : values['prompt']
  return { ...values, width, height, seconds, seed, frames, fps: FPS, prompt }
}
