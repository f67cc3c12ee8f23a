import type { NewTaskInput } from './db/task-file.ts'
import type { ExtendBody, TextToVideoBody } from './domain/video/video-body.ts'
import {
  applyExtendDefaults,
  applyTextToVideoDefaults,
  describeMade,
  type MadeVideo,
} from './domain/video/video-defaults.ts'
import { estimateExtend, estimateTextToVideo } from './domain/video/video-estimate.ts'
import { extendCredits, textToVideoCredits } from './domain/video/video-price.ts'
import type { Size } from '../platform/domain/size.ts'
import { withoutTaskOptions } from './domain/task-options.ts'

/** Settings and price of a valid request. */
export interface VideoPlan {
  /** With defaults applied, and without the members that a task keeps elsewhere. */
  settings: { model: string; duration: number; resolution: string }
  credits: number
  offPeak: boolean
  describe(inputs: Inputs): VideoDescription
}

export interface VideoDescription {
  /** Members of the record that are not as the settings have them. */
  made?: MadeVideo
  /** Expected time of rendering in seconds. */
  estimate: number
}

type Inputs = readonly Pick<NewTaskInput, 'field' | 'width' | 'height'>[]

export const planTextToVideo = (body: TextToVideoBody): VideoPlan => {
  const applied = applyTextToVideoDefaults(withoutTaskOptions(body), Math.random)
  const { images, payload: _, callback_url: __, ...settings } = applied
  const hasStartImage = images !== undefined
  return {
    settings,
    credits: textToVideoCredits(settings),
    offPeak: settings.off_peak,
    describe(inputs) {
      const startImage = sizeOfImage(inputs)
      return {
        made: describeMade(applied, startImage),
        estimate: estimateTextToVideo({ ...settings, hasStartImage }, startImage),
      }
    },
  }
}

export const planExtend = (body: ExtendBody): VideoPlan => {
  const applied = applyExtendDefaults(withoutTaskOptions(body))
  const { images: _, payload: __, callback_url: ___, ...settings } = applied
  return {
    settings,
    credits: extendCredits(settings),
    offPeak: false,
    describe: () => ({ estimate: estimateExtend(settings) }),
  }
}

/** Known of an inline image only. */
const sizeOfImage = (inputs: Inputs): Size | undefined => {
  const image = inputs.find(({ field }) => field === 'images')
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}
