import type { Fault } from '../../domain/shared/validate.ts'
import { judgeExtend, judgeTextToVideo } from '../../domain/video-task/video-judge.ts'
import { endImageFault, startImageFault } from '../../domain/video-task/video-size.ts'
import type { VideoTaskKind } from '../../domain/video-task/video-task.ts'
import type { InlineImage } from '../body/inline.ts'
import type { Route } from '../route.ts'
import { judgeSource, judgeUrl } from '../task/inputs.ts'
import type { VideoTaskDeps } from './deps.ts'

/** Where the one image of a request stands, and the last frame beside a first one. */
export const IMAGE_POINTER = '/images/0'
export const END_IMAGE_POINTER = '/images/1'

type Judge = NonNullable<Route['judge']>

/** Makes the rules of a body that its schema cannot say. Every fault is told; the schema's own come beside them. */
export const makeJudge = (deps: VideoTaskDeps, kind: VideoTaskKind, frames?: 1 | 2): Judge =>
  kind === 'text2video' ? judgeTextToVideoBody(deps, frames) : judgeExtendBody(deps)

const judgeTextToVideoBody =
  (deps: VideoTaskDeps, frames: 1 | 2 | undefined): Judge =>
  ({ body, inline }) => [
    ...judgeTextToVideo(body, frames),
    ...judgeInline(inline, IMAGE_POINTER, startImageFault),
    ...judgeInline(frames === 2 ? inline : NONE, END_IMAGE_POINTER, (end) => {
      const start = inline.get(IMAGE_POINTER)?.image
      return start && endImageFault(end, start)
    }),
    ...judgeImageUrls(deps, body, inline, frames),
    // Also without `watermark`, which alone decides whether it is fetched.
    ...judgeSource(deps, '/wm_url', body['wm_url']),
    ...judgeUrl(deps, '/callback_url', body['callback_url']),
  ]

const judgeExtendBody =
  (deps: VideoTaskDeps): Judge =>
  ({ body, inline }) => [
    ...judgeExtend(body, deps.extendSource),
    ...judgeInline(inline, IMAGE_POINTER),
    ...judgeImageUrls(deps, body, inline),
    ...judgeSource(deps, '/video_url', body['video_url']),
    ...judgeUrl(deps, '/callback_url', body['callback_url']),
  ]

/** What is wrong with an inline image. The domain's judge refuses a second one, as a fault of the list. */
const judgeInline = (
  inline: ReadonlyMap<string, InlineImage>,
  field: string,
  sizeFault: typeof startImageFault = () => undefined,
): Fault[] => {
  const { fault, image } = inline.get(field) ?? {}
  if (fault) return [{ field, ...fault }]
  const sentence = image && sizeFault(image)
  return sentence === undefined
    ? []
    : [{ field, code: 'pixel_limit', message: `${field} ${sentence}` }]
}

const NONE: ReadonlyMap<string, InlineImage> = new Map()

const judgeImageUrls = (
  deps: VideoTaskDeps,
  { images }: Record<string, unknown>,
  inline: ReadonlyMap<string, InlineImage>,
  most = 1,
): Fault[] =>
  (Array.isArray(images) ? images.slice(0, most) : []).flatMap((image, at) =>
    inline.has(`/images/${at}`) ? [] : judgeSource(deps, `/images/${at}`, image),
  )
