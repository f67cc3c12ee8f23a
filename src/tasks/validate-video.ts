import { makeIssue, type Issue } from '../platform/domain/validate.ts'
import { validateExtend, validateTextToVideo } from './domain/video/video-validation.ts'
import { validateTaskOptions } from './domain/task-options.ts'
import type { TextToVideoBody } from './domain/video/video-body.ts'
import { listMadeOtherwise } from './domain/video/video-defaults.ts'
import { endImageIssue, startImageIssue } from './domain/video/video-size.ts'
import type { InlineImage } from '../platform/json-body/inline.ts'
import { validateSource, validateUrl } from './inputs.ts'
import type { VideoTaskDeps } from './create-video.ts'
import type { Creation } from './creation.ts'

/** Pointers to the one image of a request, and to the last frame beside a first one. */
export const IMAGE_POINTER = '/images/0'
export const END_IMAGE_POINTER = '/images/1'

type Validate = Creation['validate']

/** Makes the rules of a body that its schema cannot say. All issues are reported, beside the schema's own. */
export const validateTextToVideoBody =
  (deps: VideoTaskDeps, frames: 1 | 2 | undefined): Validate =>
  ({ body, inline }) => [
    ...validateTextToVideo(body, frames),
    ...validateInline(inline, IMAGE_POINTER, startImageIssue),
    ...validateInline(frames === 2 ? inline : NONE, END_IMAGE_POINTER, (end) => {
      const start = inline.get(IMAGE_POINTER)?.image
      return start && endImageIssue(end, start)
    }),
    ...validateImageUrls(deps, body, inline, frames),
    // Also without `watermark`, which alone decides whether it is fetched.
    ...validateSource(deps, '/wm_url', body['wm_url']),
    ...validateUrl(deps, '/callback_url', body['callback_url']),
    ...validateTaskOptions(body, deps.quotas.owner.retentionDays),
  ]

/** Lists what a text-to-video body asks for and its record will have otherwise. */
export const listIneffective: NonNullable<Creation['listIneffective']> = ({ body, inline }) =>
  listMadeOtherwise(body as TextToVideoBody, inline.get(IMAGE_POINTER)?.image).map(
    ({ name, ...rest }) => ({ field: `/${name}`, meant: undefined, ...rest }),
  )

/** The same of an extension. */
export const validateExtendBody =
  (deps: VideoTaskDeps): Validate =>
  ({ body, inline }) => [
    ...validateExtend(body, deps.extendSource),
    ...validateInline(inline, IMAGE_POINTER),
    ...validateImageUrls(deps, body, inline),
    ...validateSource(deps, '/video_url', body['video_url']),
    ...validateUrl(deps, '/callback_url', body['callback_url']),
    ...validateTaskOptions(body, deps.quotas.owner.retentionDays),
  ]

/** Lists the issues of an inline image. The domain's validator rejects a second one, as an issue of the list. */
const validateInline = (
  inline: ReadonlyMap<string, InlineImage>,
  field: string,
  sizeIssue: typeof startImageIssue = () => undefined,
): Issue[] => {
  const { issue, image } = inline.get(field) ?? {}
  if (issue) return [{ field, ...issue }]
  const sentence = image && sizeIssue(image)
  return sentence === undefined ? [] : [makeIssue(field, sentence, 'pixel_limit')]
}

const NONE: ReadonlyMap<string, InlineImage> = new Map()

const validateImageUrls = (
  deps: VideoTaskDeps,
  { images }: Record<string, unknown>,
  inline: ReadonlyMap<string, InlineImage>,
  max = 1,
): Issue[] =>
  (Array.isArray(images) ? images.slice(0, max) : []).flatMap((image, at) =>
    inline.has(`/images/${at}`) ? [] : validateSource(deps, `/images/${at}`, image),
  )
