import type { paths } from '../generated/openapi.ts'
import { responseOf } from './http.ts'
import type { Asked, Http } from './http.ts'
import { IMAGES, toTask, VIDEOS } from './task.ts'
import type { Task } from './task.ts'
import { giveFiles } from './upload.ts'
import type { WithBytes } from './upload.ts'

export interface CreateOptions {
  /** The same key gives the same task; a new one for each call unless given. The body must be the same, too: give links, not bytes. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

/** Path on which each kind of task is made, and the segment under which it is read. */
const KINDS = {
  relight: [`${IMAGES}/image-relight`, 'image-relight'],
  upscale: [`${IMAGES}/image-upscaler`, 'image-upscaler'],
  upscalePrecision: [`${IMAGES}/image-upscaler-precision-v2`, 'image-upscaler-precision-v2'],
  skinFlexible: [`${IMAGES}/skin-enhancer/flexible`, 'skin-enhancer'],
  skinCreative: [`${IMAGES}/skin-enhancer/creative`, 'skin-enhancer'],
  skinFaithful: [`${IMAGES}/skin-enhancer/faithful`, 'skin-enhancer'],
  textToVideo: [`${VIDEOS}/text2video`],
  imageToVideo: [`${VIDEOS}/img2video`],
  startEndToVideo: [`${VIDEOS}/start-end2video`],
  extendVideo: [`${VIDEOS}/extend`],
} as const satisfies Record<string, readonly [keyof paths, string?]>

export type TaskKind = keyof typeof KINDS

/** Paths under which tasks are read, but for the id; videos first. */
export const STATUS_PREFIXES: readonly string[] = [
  `${VIDEOS}/tasks`,
  ...new Set(Object.values(KINDS).flatMap(([, name]) => (name ? `${IMAGES}/${name}` : []))),
]

export const statusPath = (prefix: string, id: string): string =>
  `${prefix}/${encodeURIComponent(id)}${prefix.startsWith(VIDEOS) ? '/creations' : ''}`

type BodyOf<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody?: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never

/** The body of a kind, as the service's document has it, but that images may be given as bytes. */
export type TaskBody<Kind extends TaskKind> = WithBytes<BodyOf<(typeof KINDS)[Kind][0]>>

/** A function for each kind of task: it makes one, and returns as soon as it is durable. */
export type Creators = {
  [Kind in TaskKind]: (body: TaskBody<Kind>, options?: CreateOptions) => Promise<Task>
}

export const makeCreators = (http: Http): Creators =>
  Object.fromEntries(
    Object.entries(KINDS).map(([kind, [path, segment]]) => [
      kind,
      async (body: object, { idempotencyKey, signal }: CreateOptions = {}): Promise<Task> => {
        const given = await giveFiles(http, body, signal)
        const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
        // One call for all: that body and path belong together, Creators says.
        const post = http.routes.POST as (path: string, init: object) => Promise<Asked<object>>
        const response = await responseOf(post(path, { body: given, headers, signal }))
        const prefix = segment === undefined ? `${VIDEOS}/tasks` : `${IMAGES}/${segment}`
        const { id } = toTask(response)
        return toTask(response, statusPath(prefix, id))
      },
    ]),
  ) as Creators
