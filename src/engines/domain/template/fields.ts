import type { TSchema } from 'typebox'

import { IMAGE_KINDS, ImageTaskKind } from '../../../tasks/domain/image/image-kind.ts'
import { ExtendBody, TextToVideoBody } from '../../../tasks/domain/video/video-body.ts'

/** Kinds that may have a template. Videos from pictures share the template of text2video. */
export const TEMPLATE_KINDS: readonly string[] = [...ImageTaskKind.enum, 'text2video', 'extend']

/** Value that a mark may name. `text` is what a caller wrote. */
export interface Field {
  type: 'file' | 'text' | 'number' | 'flag' | 'choice'
  choices?: readonly string[]
  /** Word of the file name without which a template must not name it. */
  word?: string
}
export type Fields = Readonly<Record<string, Field>>

type Schema = TSchema & {
  type?: string
  enum?: string[]
  properties?: Record<string, Schema>
}

/** Reads the type of a mark's value from the schema of its field. */
export const fieldOf = ({ type, enum: choices }: Schema): Field => {
  if (choices) return { type: 'choice', choices }
  if (type === 'boolean') return { type: 'flag' }
  return { type: type === 'string' ? 'text' : 'number' }
}

/** Fields of a body; the fields of an object in it stand beside the others. */
const listFields = (properties: Record<string, Schema>): [string, Field][] =>
  Object.entries(properties).flatMap(([name, rule]) =>
    rule.properties ? listFields(rule.properties) : [[name, fieldOf(rule)] as [string, Field]],
  )

const NUMBER: Field = { type: 'number' }
const FILE: Field = { type: 'file' }
const LIGHT: Field = { type: 'file', word: 'light' }
const PICTURE = { width: NUMBER, height: NUMBER, seed: NUMBER, negative: { type: 'text' } } as const
const FILM = { ...PICTURE, frames: NUMBER, fps: NUMBER, seconds: NUMBER } as const
const END = { end: { type: 'file', word: 'end' } } as const

/** Members of a body that say nothing about the picture, or that have another name here. */
const LEFT_OUT = new Set(
  'images video_url video_creation_id wm_url payload callback_url meta_data enhance priority'.split(
    ' ',
  ),
)

const withoutLeftOut = ({ properties }: { properties: object }): Fields =>
  Object.fromEntries(
    listFields(properties as Record<string, Schema>).filter(([name]) => !LEFT_OUT.has(name)),
  )

/** Names that the marks of a kind's templates may have; undefined for a kind that is none of ours. */
export const fieldsOf = (kind: string): Fields | undefined => {
  if (kind === 'text2video')
    return {
      ...withoutLeftOut(TextToVideoBody),
      ...FILM,
      start: { type: 'file', word: 'start' },
      ...END,
    }
  if (kind === 'extend') return { ...withoutLeftOut(ExtendBody), ...FILM, video: FILE, ...END }
  if (!Object.hasOwn(IMAGE_KINDS, kind)) return undefined
  const { settings } = IMAGE_KINDS[kind as ImageTaskKind]
  return {
    ...withoutLeftOut(settings),
    ...PICTURE,
    image: FILE,
    ...(kind.startsWith('upscale') && { scale: NUMBER }),
    ...(kind === 'relight' && {
      light: LIGHT,
      transfer_light_from_lightmap: LIGHT,
      transfer_light_from_reference_image: LIGHT,
    }),
  }
}

/** Names without which a template would ignore what a task is about; of a list one is enough. */
export const requiredNames = (kind: string, words: readonly string[]): string[][] => {
  if (kind === 'extend') return [['video'], ...words.map((word) => [word])]
  if (kind === 'text2video') return words.length === 0 ? [['prompt']] : words.map((word) => [word])
  return [
    ['image'],
    ...words.map(() => [
      'light',
      'transfer_light_from_lightmap',
      'transfer_light_from_reference_image',
    ]),
  ]
}

/** Words that the file names of a kind's templates may have behind a plus. */
export const wordsOf = (fields: Fields): string[] => [
  ...new Set(Object.values(fields).flatMap(({ word }) => word ?? [])),
]

/** Names that a custom kind cannot give to its fields. */
const RESERVED = new Set(['webhook_url', 'result'])

/** True of a name that no field of a custom kind has. */
export const isReserved = (name: string): boolean => RESERVED.has(name) || name.startsWith('kiln_')

/** Inputs whose text is the name of a file or folder in the nodes that people use, and such nodes. */
const FILE_INPUT =
  /(^|[_.])(file|files|filename|path|paths|dir|directory|folder|subfolder|url)([_.]|$)/i
const FILE_CLASS = /(load|save)\w*(path|file|dir|folder|image|video|audio)|path$|file$/i

/** True of a class whose texts may be names of files. */
export const takesFileName = (classType: string): boolean => FILE_CLASS.test(classType)

/** Inputs that take the name of an upload. */
const FILES = new Map<string, 'image' | 'video'>([
  ['LoadImage.image', 'image'],
  ['LoadImageMask.image', 'image'],
  ['LoadImageOutput.image', 'image'],
  ['LoadVideo.file', 'video'],
  ['VHS_LoadVideo.video', 'video'],
  ['VHS_LoadVideoFFmpeg.video', 'video'],
])

const SOUND = /audio|sound|music|voice|\.(aac|flac|m4a|mp3|ogg|opus|wav)$/i
const MOTION = /video|clip|film|movie|\.(avi|m4v|mkv|mov|mp4|webm)$/i

/** Says by which node a file is loaded, from the name of a field, class or file that stands for it. */
export const adviseLoader = (name: string): string =>
  SOUND.test(name)
    ? 'sound comes with a video: use Load Video and Get Video Components'
    : `use ${MOTION.test(name) ? 'Load Video' : 'Load Image'}`

/** Finds the media of an input that takes an upload; undefined of all others. */
export const fileOf = (classType: string, input: string): 'image' | 'video' | undefined =>
  FILES.get(`${classType}.${input}`)

/** Finds why a mark makes no field of a custom kind, as far as its file says; undefined where it does. */
export const customMarkIssue = (
  name: string,
  { classType, input }: { classType: string; input: string },
): string | undefined => {
  if (isReserved(name)) return `${name} is a name of the service's own`
  if (FILE_INPUT.test(input) && !fileOf(classType, input))
    return `${input} names a file, and no caller may name one`
  return undefined
}
