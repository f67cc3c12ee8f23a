import { Value } from 'typebox/value'

import { requireDecodable } from '../../src/engines/adapters/thumbnail.ts'
import { UPSTREAM_FAMILIES, type UpstreamFamily } from '../../src/engines/settings.ts'
import { makeBody, type StreamedBody } from '../../src/engines/upstream/body.ts'
import { isWholeMp4 } from '../../src/engines/upstream/mp4.ts'
import { isObject } from '../../src/platform/domain/is-object.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import { IMAGE_KINDS } from '../../src/tasks/domain/image/image-kind.ts'
import {
  readStatusWord,
  UpstreamImage,
  UpstreamVideo,
} from '../../src/tasks/domain/upstream-record.ts'
import {
  applyExtendDefaults,
  applyTextToVideoDefaults,
} from '../../src/tasks/domain/video/video-defaults.ts'

/** A result, and what it must be. */
interface Link {
  name: string
  url: string
  /** Throws where the file is none. */
  check(file: string): Promise<void>
}

/** Response of a status route; `unreadable`: it is not of the form that Kiln reads. */
export interface Reading {
  state: 'done' | 'failed' | 'running' | 'unreadable'
  links: Link[]
  found: unknown
}

/** A kind of tasks as it is tried. */
export interface Trial {
  kind: string
  family: UpstreamFamily
  path: string
  statusPath(id: string): string
  cancelPath(id: string): string
  makeBody(): Promise<StreamedBody>
  /** Undefined where Kiln cannot read it. */
  read(body: object): Reading | undefined
}

interface Given {
  picture: string
  /** Link to a video that the upstream can fetch. */
  source: string | undefined
}

/** Lists what can be tried: the extension of a video only where there is one. */
export const listTrials = (given: Given): Trial[] => [...listImages(given), ...listVideos(given)]

/** Finds the id in the response to a creation. */
export const readId = ({ body }: { body: object }): string | undefined => {
  const { task_id: id } = recordOf(body)
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** A record of images stands in `data`, or by itself. */
const recordOf = (body: object): Record<string, unknown> => {
  const { data } = body as { data?: unknown }
  return isObject(data) ? data : { ...body }
}

const listImages = ({ picture: path }: Given): Trial[] =>
  Object.values(IMAGE_KINDS).map(({ kind, path: creation, tasks, settings }) => ({
    kind,
    family: 'image',
    path: creation,
    statusPath: (id) => `${tasks}/${id}`,
    cancelPath: (id) => `${tasks}/${id}/cancel`,
    makeBody: () => makeBody(Value.Default(settings, {}) as object, { image: { path } }),
    read: readImage,
  }))

const readImage = (body: object): Reading | undefined => {
  const found = recordOf(body)
  if (!Value.Check(UpstreamImage, found)) return undefined
  const links = (found.generated ?? []).map((url) => ({ name: 'picture', url, check: checkImage }))
  const state = readStatusWord(found.status)
  return state === 'done' && links.length === 0 ? undefined : { state, links, found }
}

const PROMPT = { prompt: 'waves of the sea' }

const listVideos = ({ picture: path, source }: Given): Trial[] => {
  const { prefix } = UPSTREAM_FAMILIES.video
  const made = applyTextToVideoDefaults(PROMPT, Math.random)
  const image = { path }
  const bodies: Record<string, () => Promise<StreamedBody>> = {
    text2video: () => makeBody(made, {}),
    img2video: () => makeBody(made, { images: [image] }),
    'start-end2video': () => makeBody(made, { images: [image, image] }),
    ...(source !== undefined && {
      extend: () => {
        const video = { video_creation_id: 'conform', video_url: source }
        const body = { ...PROMPT, model: 'videoq2-turbo', ...video } as const
        return makeBody({ ...applyExtendDefaults(body), ...video }, {})
      },
    }),
  }
  return Object.entries(bodies).map(([kind, body]) => ({
    kind,
    family: 'video',
    path: `${prefix}/${kind}`,
    statusPath: (id) => `${prefix}/tasks/${id}/creations`,
    cancelPath: (id) => `${prefix}/tasks/${id}/cancel`,
    makeBody: body,
    read: readVideo,
  }))
}

const readVideo = (found: object): Reading | undefined => {
  if (!Value.Check(UpstreamVideo, found)) return undefined
  const [creation] = found.creations ?? []
  const links = creation
    ? [
        { name: 'video', url: creation.url, check: checkVideo },
        { name: 'cover', url: creation.cover_url, check: checkCover },
      ]
    : []
  const state = readStatusWord(found.state)
  return state === 'done' && !creation ? undefined : { state, links, found }
}

const LIMITS = { maxPixels: 105_000_000 }

const checkImage = async (file: string): Promise<void> => {
  await probeImage(file, LIMITS)
  await requireDecodable(file)
}

const checkCover = async (file: string): Promise<void> => {
  const { format } = await probeImage(file, LIMITS)
  if (format !== 'jpeg') throw new Error(`a ${format}, no JPEG`)
  await requireDecodable(file)
}

const checkVideo = async (file: string): Promise<void> => {
  if (!(await isWholeMp4(file))) throw new Error('no whole MP4')
}
