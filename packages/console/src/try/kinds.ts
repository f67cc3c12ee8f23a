import { IMAGES, VIDEOS } from '../../../client/src/lib/task.ts'

/** The last part of its page's address, its title, its creation route, and its function in the TypeScript client. */
const kind = (id: string, title: string, path: string, call: string) => ({ id, title, path, call })

const PRECISION = `${IMAGES}/image-upscaler-precision-v2`

export type Kind = ReturnType<typeof kind>

/** Kinds of tasks to try, in the order of the choice. */
export const KINDS = [
  kind('relight', 'Relight', `${IMAGES}/image-relight`, 'relight'),
  kind('upscale', 'Upscale', `${IMAGES}/image-upscaler`, 'upscale'),
  kind('upscale_precision', 'Upscale, faithful', PRECISION, 'upscalePrecision'),
  kind('skin_flexible', 'Skin, flexible', `${IMAGES}/skin-enhancer/flexible`, 'skinFlexible'),
  kind('skin_creative', 'Skin, creative', `${IMAGES}/skin-enhancer/creative`, 'skinCreative'),
  kind('skin_faithful', 'Skin, faithful', `${IMAGES}/skin-enhancer/faithful`, 'skinFaithful'),
  kind('text2video', 'Text to video', `${VIDEOS}/text2video`, 'textToVideo'),
  kind('img2video', 'Image to video', `${VIDEOS}/img2video`, 'imageToVideo'),
  kind('start-end2video', 'Two frames to video', `${VIDEOS}/start-end2video`, 'startEndToVideo'),
  kind('extend', 'Extend a video', `${VIDEOS}/extend`, 'extendVideo'),
]

/** The kind of a creation route: a video that began with a picture is a text2video to the lists, but not here. */
export const kindOfPath = (path: string): Kind | undefined =>
  KINDS.find((known) => known.path === path)

/** The name of a task's kind. */
export const titleOf = (id: string): string =>
  KINDS.find((known) => known.id === id)?.title ?? id.replaceAll('_', ' ')
