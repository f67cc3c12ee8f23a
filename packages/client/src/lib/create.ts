import type { paths } from '../generated/openapi.ts'
import { toSegment } from './argument.ts'
import type { FileBytes } from './bytes.ts'
import { responseOf, toKeyHeader } from './http.ts'
import type { Asked, Http } from './http.ts'
import { readReplay } from './replay.ts'
import { IMAGES, toTask, VIDEOS } from './task.ts'
import type { ReadOf, Task } from './task.ts'
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

type BodyOf<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody?: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never

/** The body of a kind, as the service's document has it, but that images may be given as bytes, and a time as a `Date`. */
export type TaskBody<Kind extends TaskKind> = WithBytes<BodyOf<(typeof KINDS)[Kind][0]>>

/** A function for each kind of task: it makes one, and returns as soon as it is durable. */
export type Creators = {
  [Kind in TaskKind]: (body: TaskBody<Kind>, options?: CreateOptions) => Promise<Task>
}

const statusPathOf =
  (segment: string | undefined) =>
  (id: string): string =>
    segment === undefined ? `${VIDEOS}/tasks/${id}/creations` : `${IMAGES}/${segment}/${id}`

/** Makes a task on a path. @param toStatusPath the path of its status, from its id */
const create = async (
  http: Http,
  { path, body, toStatusPath }: { path: string; body: object; toStatusPath(id: string): string },
  options: CreateOptions = {},
): Promise<Task> => {
  const { idempotencyKey, signal } = options
  const headers = toKeyHeader(idempotencyKey)
  const given = await giveFiles(http, body, signal)
  // One call for all: that body and path belong together, Creators says.
  const post = http.routes.POST as (path: string, init: object) => Promise<Asked<object>>
  const asked = post(path, { body: given, headers, signal })
  const made = await responseOf(asked)
  const id = toSegment(toTask(made).id)
  const replayed = await readReplay(http, asked, `/tasks/${id}`, options)
  return { ...toTask(made, toStatusPath(id)), ...(replayed && { replayed }) }
}

export const makeCreators = (http: Http): Creators =>
  Object.fromEntries(
    Object.entries(KINDS).map(([kind, [path, segment]]) => [
      kind,
      (body: object, options?: CreateOptions): Promise<Task> =>
        create(http, { path, body, toStatusPath: statusPathOf(segment) }, options),
    ]),
  ) as Creators

/** A kind that an operator of the service has added; `body` is the JSON Schema of what its tasks take. */
export type Template = ReadOf<'/templates'>['templates'][number]

/** Body of a template's task: what its schema says, with bytes in the place of any image, and its labels. */
export type TemplateBody = Readonly<
  Record<string, TemplateValue | readonly TemplateValue[] | Readonly<Record<string, string>>>
>
type TemplateValue = string | number | boolean | Date | FileBytes

export const makeTemplates = (http: Http) => ({
  /** Lists the templates that tasks can be made with. */
  list: async ({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Template[]> =>
    (await responseOf(http.routes.GET('/templates', { signal: signal ?? null }))).templates,
  /** Makes a task with a template. Throws `template_not_found` where there is none of the name any more. */
  createTask: (name: string, body: TemplateBody, options?: CreateOptions): Promise<Task> => {
    const path = `/templates/${toSegment(name)}/tasks`
    return create(http, { path, body, toStatusPath: (id) => `${path}/${id}` }, options)
  },
})
