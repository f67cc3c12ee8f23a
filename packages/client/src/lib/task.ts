import type { paths } from '../generated/openapi.ts'
import type { Replay } from './replay.ts'

export const IMAGES = '/proxy/imgvendor/v1/ai'
export const VIDEOS = '/proxy/vidvendor'

export type ReadOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
/** An image task as its routes return it. */
export type ImageRecord = ReadOf<'/proxy/imgvendor/v1/ai/image-relight/{task_id}'>['data']
/** A video task as its status route returns it. */
export type VideoRecord = ReadOf<'/proxy/vidvendor/tasks/{task_id}/creations'>
/** A task with its request, inputs, results, attempts and moves. */
export type TaskDetail = ReadOf<'/tasks/{task_id}'>

interface AnyTask {
  id: string
  /** The service's own word, such as IN_PROGRESS or queueing. */
  status: string
  /** Path of its status, where that is known: the end of a stream does not name that of an image task. */
  path?: string
  /** Set by a creation whose idempotency key an earlier request had: that one has made the task. */
  replayed?: Replay | undefined
  /** Sentences about what of the request takes no effect, or may surprise. */
  warnings?: string[]
}

/**
 * A task that goes on; `progress` is the percentage that is rendered, and `waitsFor` says why one that has begun
 * does not go on.
 */
export type RunningTask = AnyTask & { state: 'running'; progress?: number; waitsFor?: string }

/** A file that a task has made. Its links need no credential, and live a day; read the task again for fresh ones. */
export interface TaskFile {
  url: string
  /** Cover of a video. */
  coverUrl?: string
  watermarkedUrl?: string
}

export type SucceededTask = AnyTask & { state: 'succeeded'; files: TaskFile[] }
/** Why a task failed; `engineError` is what its engine said, where the caller may read that. */
interface TaskError {
  code: string
  message: string
  engineError?: string
}
/** docs/reference/errors.md lists the codes of either family. */
export type FailedTask = AnyTask & { state: 'failed'; error: TaskError }

export type EndedTask = SucceededTask | FailedTask
/** A task of either family; `state` decides which members there are. */
export type Task = RunningTask | EndedTask

/** Reads a task from the response of any of its routes; `path` is that of its status. */
export const toTask = (body: unknown, path?: string): Task => {
  const { data, ...rest } = body as { data?: ImageRecord } & Partial<VideoRecord | TaskDetail>
  if (data) return ofImage(data, path)
  return 'family' in rest ? ofDetail(rest as TaskDetail, path) : ofVideo(rest as MadeVideo, path)
}

const ofDetail = (detail: TaskDetail, path?: string): Task => {
  const { task_id: id, status, state, progress, waits_for, error, warnings } = detail
  const { engine_error: said } = detail
  const common = { id, status, ...(path !== undefined && { path }), ...(warnings && { warnings }) }
  if (state === 'done') return { ...common, state: 'succeeded', files: listFiles(detail) }
  if (state === 'failed' || state === 'cancelled')
    return { ...common, state: 'failed', error: toError({ engine_error: said, ...error }) }
  return { ...common, state: 'running', ...(progress && { progress }), ...toWait(waits_for) }
}

/** Makes the files of a list that has those of a video, its cover and its copy each by its name. */
const listFiles = ({ family, results }: TaskDetail): TaskFile[] => {
  if (family === 'image') return results.map(({ url }) => ({ url }))
  const urls = new Map(results.map(({ name, url }) => [name, url]))
  return results.flatMap(({ name, url }) => {
    const [, number] = /^video(.*)\.mp4$/.exec(name) ?? []
    if (number === undefined) return []
    const cover_url = urls.get(`cover${number}.jpg`)
    const watermarked_url = urls.get(`watermarked${number}.mp4`)
    return toFile({ url, cover_url, watermarked_url })
  })
}

const ofImage = (
  { task_id: id, status, generated, error, waits_for, progress, warnings }: ImageRecord,
  path?: string,
): Task => {
  const common = { id, status, ...(path !== undefined && { path }), ...(warnings && { warnings }) }
  if (status === 'COMPLETED')
    return { ...common, state: 'succeeded', files: generated.map((url) => ({ url })) }
  if (status !== 'FAILED')
    return { ...common, state: 'running', ...(progress && { progress }), ...toWait(waits_for) }
  return { ...common, state: 'failed', error: toError(error) }
}

interface GivenError {
  code?: string
  message?: string
  engine_error?: string | undefined
}

const toError = ({
  code = 'unknown',
  message = 'the task failed',
  engine_error: said,
}: GivenError = {}): TaskError => ({
  code,
  message,
  ...(said !== undefined && { engineError: said }),
})

/** The response of a creation has `task_id` where the others have `id`, and may have warnings. */
type MadeVideo = VideoRecord & { task_id?: string; warnings?: string[] }

const ofVideo = (record: MadeVideo, path?: string): Task => {
  const id = record.task_id ?? record.id
  const { warnings } = record
  const common = {
    id,
    status: record.state,
    ...(path !== undefined && { path }),
    ...(warnings && { warnings }),
  }
  if (record.state === 'failed') {
    const { err_code: code, err_msg: message, engine_error } = record
    return { ...common, state: 'failed', error: toError({ code, message, engine_error }) }
  }
  if (record.state === 'success')
    return { ...common, state: 'succeeded', files: record.creations.map(toFile) }
  const progress = record.progress ? { progress: record.progress } : {}
  return { ...common, state: 'running', ...progress, ...toWait(record.waits_for) }
}

const toWait = (waitsFor: string | undefined) => (waitsFor === undefined ? {} : { waitsFor })

type VideoFile = { url: string } & Partial<
  Record<'cover_url' | 'watermarked_url', string | undefined>
>

const toFile = (file: VideoFile): TaskFile => {
  const { url, cover_url: coverUrl, watermarked_url: watermarkedUrl } = file
  return { url, ...(coverUrl && { coverUrl }), ...(watermarkedUrl && { watermarkedUrl }) }
}
