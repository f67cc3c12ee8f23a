import { IMAGES, VIDEOS } from '../../../client/src/lib/task.ts'
import type { Data } from '../api/schema.ts'
import { t } from '../words/translate.ts'
import { sentence } from './words.ts'

/** The last part of its page's address, its title, its creation route, and its function in the TypeScript client. */
const kind = (id: string, title: string, path: string, call: string) => ({ id, title, path, call })

const PRECISION = `${IMAGES}/image-upscaler-precision-v2`

export type Kind = ReturnType<typeof kind> & {
  /** Argument of the client's function before the body. */
  argument?: string
}

/** Kinds of tasks to try, in the order of the choice. */
export const KINDS = [
  kind('relight', t('Relight'), `${IMAGES}/image-relight`, 'relight'),
  kind('upscale', t('Upscale'), `${IMAGES}/image-upscaler`, 'upscale'),
  kind('upscale_precision', t('Upscale (precise)'), PRECISION, 'upscalePrecision'),
  kind('skin_flexible', t('Skin – flexible'), `${IMAGES}/skin-enhancer/flexible`, 'skinFlexible'),
  kind('skin_creative', t('Skin – creative'), `${IMAGES}/skin-enhancer/creative`, 'skinCreative'),
  kind('skin_faithful', t('Skin – faithful'), `${IMAGES}/skin-enhancer/faithful`, 'skinFaithful'),
  kind('text2video', t('Text to video'), `${VIDEOS}/text2video`, 'textToVideo'),
  kind('img2video', t('Image to video'), `${VIDEOS}/img2video`, 'imageToVideo'),
  kind('start-end2video', t('Two frames to video'), `${VIDEOS}/start-end2video`, 'startEndToVideo'),
  kind('extend', t('Extend a video'), `${VIDEOS}/extend`, 'extendVideo'),
]

/** Kinds as tiles, each with the variants that stand below it once it is chosen. */
export const FAMILIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [t('Relight')]: { relight: '' },
  [t('Upscale')]: { upscale: t('Standard'), upscale_precision: t('Precise') },
  [t('Skin')]: {
    skin_flexible: t('Flexible'),
    skin_creative: t('Creative'),
    skin_faithful: t('Faithful'),
  },
  [t('Video')]: {
    text2video: t('From text'),
    img2video: t('From an image'),
    'start-end2video': t('From two frames'),
    extend: t('Extend'),
  },
}

/** Begins the id of a kind that a template of the service's operator makes. */
const CUSTOM = 'custom/'

export const findKind = (id = ''): Kind | undefined =>
  id.startsWith(CUSTOM) ? ofTemplate(id) : KINDS.find((known) => known.id === id)

const ofTemplate = (id: string): Kind => {
  const name = id.slice(CUSTOM.length)
  const path = `/templates/${name}/tasks`
  return { ...kind(id, titleOf(id), path, 'templates.createTask'), argument: `'${name}', ` }
}

/** The kind that the page opens on: the first that can run here, templates of the operator before all. */
export const firstKind = ({ templates, unserved }: Data<'/templates'>): string => {
  const ids = [...templates, ...KINDS.map(({ id }) => ({ kind: id }))].map(({ kind }) => kind)
  return ids.find((id) => !unserved.includes(id)) ?? 'relight'
}

/** The name of a task's kind. */
export const titleOf = (id: string): string =>
  KINDS.find((known) => known.id === id)?.title ??
  sentence(id.replace(CUSTOM, '').replaceAll('-', ' '))
