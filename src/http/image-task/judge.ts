import { IMAGE_KINDS } from '../../domain/image-task/image-kind.ts'
import { pixelLimitFault } from '../../domain/image-task/image-size.ts'
import type { ImageRequest, ImageTaskKind } from '../../domain/image-task/image-kind.ts'
import { parsePrompt } from '../../domain/image-task/prompt-weight.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { InlineImage } from '../body/inline.ts'
import { judgeSource, judgeUrl } from '../task/judge-url.ts'
import type { InputDeps } from '../task/deps.ts'

type Body = Record<string, unknown>
type Inline = ReadonlyMap<string, InlineImage>

/** Makes the rules of a kind that its schema cannot say. Every fault is told; the schema's own come beside them. */
export const makeJudge =
  (deps: InputDeps, kind: ImageTaskKind) =>
  ({ body, inline }: { body: Body; inline: Inline }): Fault[] => [
    ...IMAGE_KINDS[kind].images.flatMap((field) => judgeImage(deps, kind, { field, body, inline })),
    ...judgeUrl(deps, '/webhook_url', body['webhook_url']),
    ...judgePrompt(kind, body['prompt']),
    ...judgePair(body),
  ]

const judgeImage = (
  deps: InputDeps,
  kind: ImageTaskKind,
  { field, body, inline }: { field: string; body: Body; inline: Inline },
): Fault[] => {
  const pointer = `/${field}`
  const image = inline.get(pointer)
  if (!image) return judgeSource(deps, pointer, body[field])
  if (image.fault) return [{ field: pointer, ...image.fault }]
  const request = { kind, settings: body } as unknown as ImageRequest
  const tooLarge = field === 'image' && image.image && pixelLimitFault(request, image.image)
  return tooLarge
    ? [{ field: pointer, code: 'pixel_limit', message: `${pointer} ${tooLarge}` }]
    : []
}

const judgePrompt = (kind: ImageTaskKind, prompt: unknown): Fault[] =>
  kind === 'relight' && typeof prompt === 'string'
    ? parsePrompt(prompt).faults.map((sentence) => ({
        field: '/prompt',
        code: 'validation_failed',
        message: `/prompt ${sentence}`,
      }))
    : []

const judgePair = (body: Body): Fault[] =>
  body['transfer_light_from_lightmap'] !== undefined &&
  body['transfer_light_from_reference_image'] !== undefined
    ? [
        {
          field: '/transfer_light_from_reference_image',
          code: 'incompatible_fields',
          message:
            '/transfer_light_from_reference_image must be absent when /transfer_light_from_lightmap is given, got both',
        },
      ]
    : []
