import type { Fault } from '../../domain/shared/validate.ts'
import { judgeExtend, judgeTextToVideo } from '../../domain/video-task/video-judge.ts'
import { startImageFault } from '../../domain/video-task/video-size.ts'
import type { VideoTaskKind } from '../../domain/video-task/video-task.ts'
import type { InlineImage } from '../body/inline.ts'
import type { Route } from '../route.ts'
import { judgeSource, judgeUrl } from '../task/judge-url.ts'
import type { VideoTaskDeps } from './deps.ts'

/** Where the one image of a request stands. */
export const IMAGE_POINTER = '/images/0'

type Judge = NonNullable<Route['judge']>

/** Makes the rules of a body that its schema cannot say. Every fault is told; the schema's own come beside them. */
export const makeJudge = (deps: VideoTaskDeps, kind: VideoTaskKind, needsImage?: boolean): Judge =>
  kind === 'text2video' ? judgeTextToVideoBody(deps, needsImage) : judgeExtendBody(deps)

const judgeTextToVideoBody =
  (deps: VideoTaskDeps, needsImage: boolean | undefined): Judge =>
  ({ body, inline }) => [
    ...judgeTextToVideo(body, needsImage),
    ...judgeInline(inline.get(IMAGE_POINTER), startImageFault),
    ...judgeImageUrl(deps, body, inline),
    // Also without `watermark`, which alone decides whether it is fetched.
    ...judgeSource(deps, '/wm_url', body['wm_url']),
    ...judgeUrl(deps, '/callback_url', body['callback_url']),
  ]

const judgeExtendBody =
  (deps: VideoTaskDeps): Judge =>
  ({ body, inline }) => [
    ...judgeExtend(body, deps.extendSource),
    ...judgeInline(inline.get(IMAGE_POINTER)),
    ...judgeImageUrl(deps, body, inline),
    ...judgeSource(deps, '/video_url', body['video_url']),
    ...judgeUrl(deps, '/callback_url', body['callback_url']),
  ]

/** What is wrong with an inline image. The domain's judge refuses a second one, as a fault of the list. */
const judgeInline = (
  inline: InlineImage | undefined,
  sizeFault: typeof startImageFault = () => undefined,
): Fault[] => {
  if (inline?.fault) return [{ field: IMAGE_POINTER, ...inline.fault }]
  const sentence = inline?.image && sizeFault(inline.image)
  return sentence === undefined
    ? []
    : [{ field: IMAGE_POINTER, code: 'pixel_limit', message: `${IMAGE_POINTER} ${sentence}` }]
}

const judgeImageUrl = (
  deps: VideoTaskDeps,
  { images }: Record<string, unknown>,
  inline: ReadonlyMap<string, InlineImage>,
): Fault[] =>
  Array.isArray(images) && !inline.has(IMAGE_POINTER)
    ? judgeSource(deps, IMAGE_POINTER, images[0])
    : []
