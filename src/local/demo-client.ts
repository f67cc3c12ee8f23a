import { createHash, randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

import type { UploadLinks } from '../platform/domain/upload.ts'
import { IMAGE_PREFIX } from '../tasks/domain/image/image-kind.ts'
import type { ImageTaskRecord } from '../tasks/domain/image/image-task.ts'
import type { VideoCreations } from '../tasks/domain/video/video-task.ts'
import type { DemoJob, ImageDemoJob, VideoDemoJob } from './demo-jobs.ts'

/** A task of either family, as the demonstration follows it. */
export interface DemoTask {
  id: string
  /** The service's own word, with the progress of a video. */
  status: string
  end?: 'succeeded' | 'failed'
  /** Links to what was made: the picture; the video, its cover and its watermarked copy. */
  links: string[]
  /** Why it failed. */
  issue?: string
}

/** Requests of the demonstration to a service, by HTTP alone. */
export interface DemoClient {
  /** Creates the task; `samples` is the folder of the inputs, `source` the finished task that an extension continues. */
  create(job: DemoJob, samples: string, source?: DemoTask): Promise<DemoTask>
  read(job: DemoJob, taskId: string): Promise<DemoTask>
  /** Saves the file behind a link; its name gets the extension of the file. */
  save(link: string, path: string): Promise<string>
}

const VIDEOS = '/proxy/vidvendor'

/** Makes the client of a service. Every method throws the response when the service rejects. */
export const makeDemoClient = (call: Call): DemoClient => {
  const upload = async (path: string): Promise<string> => {
    const bytes = await readFile(path)
    const links = await call<UploadLinks>('POST', '/customers/storage', {
      file_name: basename(path),
      file_hash: createHash('sha256').update(bytes).digest('hex'),
    })
    if (links.existing_file) return links.download_url
    const stored = await fetch(links.upload_url, { method: 'PUT', body: bytes })
    if (!stored.ok)
      throw new Error(`the upload failed with ${stored.status}: ${await stored.text()}`)
    return links.download_url
  }

  const give = async ({ input }: DemoJob, path: string): Promise<string> =>
    input === 'upload' ? await upload(path) : await readFile(path, 'base64')

  const createImage = async (job: ImageDemoJob, samples: string): Promise<DemoTask> => {
    const image = await give(job, `${samples}/${job.sample}`)
    const reference = job.reference !== undefined && {
      transfer_light_from_reference_image: await give(job, `${samples}/${job.reference}`),
    }
    const body = { image, ...reference, ...job.settings }
    return ofImage(await call('POST', `${IMAGE_PREFIX}/${job.path}`, body))
  }

  const createVideo = async (
    job: VideoDemoJob,
    samples: string,
    source: DemoTask | undefined,
  ): Promise<DemoTask> => {
    const body = {
      ...(job.sample && { images: [await give(job, `${samples}/${job.sample}`)] }),
      ...(source && { video_creation_id: source.id, video_url: source.links[0] }),
      ...job.settings,
    }
    const made = await call<{ task_id: string; state: string }>(
      'POST',
      `${VIDEOS}/${job.path}`,
      body,
    )
    return { id: made.task_id, status: made.state, links: [] }
  }

  return {
    create: (job, samples, source) =>
      job.family === 'image' ? createImage(job, samples) : createVideo(job, samples, source),
    read: async (job, taskId) =>
      job.family === 'image'
        ? ofImage(await call('GET', `${IMAGE_PREFIX}/${job.segment}/${taskId}`))
        : ofVideo(await call<VideoCreations>('GET', `${VIDEOS}/tasks/${taskId}/creations`)),
    save: async (link, path) => {
      const response = await fetch(link)
      if (!response.ok)
        throw new Error(`the result's link responded with ${response.status}: ${link}`)
      const extension = /\.(\w+)$/.exec(new URL(link).pathname)?.[1] ?? 'png'
      const file = `${path}.${extension}`
      await writeFile(file, Buffer.from(await response.arrayBuffer()))
      return file
    },
  }
}

/** An image task, as its status route returns it. */
interface Data {
  data: ImageTaskRecord
}

const ofImage = ({ data: { task_id: id, status, generated: links, error } }: Data): DemoTask => ({
  id,
  status,
  links,
  ...(status === 'COMPLETED' && { end: 'succeeded' }),
  ...(status === 'FAILED' && { end: 'failed', issue: `${error?.code}: ${error?.message}` }),
})

const ofVideo = ({ id, state, progress, creations, ...error }: VideoCreations): DemoTask => ({
  id,
  status: state === 'processing' && progress > 0 ? `${state} ${progress}%` : state,
  links: creations
    .flatMap((video) => [video.url, video.cover_url, video.watermarked_url])
    .filter(Boolean),
  ...(state === 'success' && { end: 'succeeded' }),
  ...(state === 'failed' && { end: 'failed', issue: `${error.err_code}: ${error.err_msg}` }),
})

/** Calls a service in the name of the token's user. Throws its response when it rejects. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

export const makeCall =
  (baseUrl: string, token: string): Call =>
  async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok)
      throw new Error(`${method} ${path} responded with ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }
