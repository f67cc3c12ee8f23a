import { join } from 'node:path'

import { Value } from 'typebox/value'

import { copyPicture, isOutputFormat } from '../../packages/engines/src/raster-file.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import { requireDecodable } from '../../src/engines/adapters/thumbnail.ts'
import { makeBody } from '../../src/engines/upstream/body.ts'
import type { FindUpstream, Upstream } from '../../src/engines/upstream/upstream.ts'
import type { ClaimedImageTask } from '../../src/tasks/db/image/image-task.ts'
import { IMAGE_KINDS, type ImageTaskKind } from '../../src/tasks/domain/image/image-kind.ts'
import { isObject } from '../../src/platform/domain/is-object.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { readStatusWord, UpstreamImage } from '../../src/tasks/domain/upstream-record.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { VendorDependencies } from './dependencies.ts'
import { EngineError } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import { fetchImages, outputOf, RESULT_PIXELS } from './render-image-task.ts'
import type { RenderedImage, MakeImages } from './render-image-task.ts'
import { giveReason, runUpstreamTask } from './upstream-task.ts'
import type { UpstreamJob } from './upstream-task.ts'

/** Addresses of finished images. */
type Links = readonly string[]

/** The vendor engine: an upstream renders, and what it made is fetched. */
export const makeVendorImages =
  (deps: VendorDependencies, findUpstream: FindUpstream): MakeImages =>
  async (task, attempt) => {
    const upstream = findUpstream(task.kind)
    return await runUpstreamTask<Links, RenderedImage[]>({
      deps,
      upstream,
      scope: 'engine:vendor:image',
      task,
      attempt,
      job: makeJob(deps, upstream, task, attempt),
      copy: (links, dir) => copyImages(upstream, links, { dir, attempt, task }),
    })
  }

const makeJob = (
  deps: VendorDependencies,
  upstream: Upstream,
  task: ClaimedImageTask,
  attempt: RenderAttempt,
): UpstreamJob<Links> => {
  const { path, tasks } = IMAGE_KINDS[task.kind as ImageTaskKind]
  const statusPath = (id: string): string => `${tasks}/${encodeURIComponent(id)}`
  return {
    submission: async () => {
      const inputs = await fetchImages(deps, task, attempt)
      return { path, body: await makeBody(task.settings, inputs) }
    },
    idOf: (body) => findRecord(body)?.task_id,
    statusPath,
    cancelPath: (id) => `${statusPath(id)}/cancel`,
    read: (body) => {
      const record = findRecord(body)
      const end = record && readStatusWord(record.status)
      if (end === 'failed') {
        const { message = '' } = record?.error ?? {}
        const reason = giveReason(upstream, `status ${record?.status}${message && `: ${message}`}`)
        throw new TaskError('upstream_failed', upstream.clean(message) || undefined, reason)
      }
      if (end !== 'done') return record && { percent: record.progress ?? 0 }
      const links = record?.generated ?? []
      return links.length === 0 ? undefined : { percent: 100, done: links }
    },
    toError: (error) => error,
  }
}

/** A record stands in `data`, or by itself. */
const findRecord = (body: Record<string, unknown>) => {
  const record = isObject(body['data']) ? body['data'] : body
  return Value.Check(UpstreamImage, record) ? record : undefined
}

const copyImages = async (
  upstream: Upstream,
  links: Links,
  { dir, attempt, task }: { dir: string; attempt: RenderAttempt; task: ClaimedImageTask },
): Promise<RenderedImage[]> => {
  const images: RenderedImage[] = []
  for (const [index, url] of links.entries()) {
    const path = join(dir, `result-${index + 1}`)
    await upstream.fetch({ url, toFile: path, signal: attempt.signal })
    images.push(await convert({ file: path, ...(await inspect(upstream, path)) }, task))
    failpoint('upstream.while-copying')
  }
  return images
}

/** Encodes a result once more where the task wishes for another format, or says how good it is to be. */
const convert = async (
  image: Omit<RenderedImage, 'file'> & { file: string },
  task: ClaimedImageTask,
): Promise<RenderedImage> => {
  const { format = image.extension, quality } = outputOf(task)
  const isAsItIs = format === image.extension && quality === undefined
  if (isAsItIs || !isOutputFormat(format)) return image
  const file = `${image.file}.${format}`
  return { file, ...(await copyPicture(image.file, file, { format, quality })) }
}

/** A file may have been cut on its way here, so it is worth another attempt. */
const inspect = async (
  { showsErrors: isShown }: Upstream,
  path: string,
): Promise<Omit<RenderedImage, 'file'>> => {
  try {
    const { extension, contentType, width, height } = await probeImage(path, {
      maxPixels: RESULT_PIXELS,
    })
    await requireDecodable(path)
    return { extension, contentType, width, height }
  } catch (cause) {
    throw new EngineError('the upstream’s result is no image', { cause, isShown })
  }
}
