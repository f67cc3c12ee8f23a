import { Type, type TObject, type TSchema } from 'typebox'

import { ExtendBody, TextToVideoBody } from './video-body.ts'

/** Largest body of a creation in bytes: an image in Base64 beside a payload that is written as escapes. */
export const VIDEO_BODY_MAX_BYTES = 67_108_864

/** Members in which an empty string counts as absent. */
export const VIDEO_EMPTY_IS_ABSENT = ['prompt', 'meta_data'] as const

/** No rule here: validateTextToVideo has it, because it depends on the model or its issue must not show the value. */
const checked = Type.Optional(Type.Unsafe<unknown>({}))

const VALIDATED: Record<string, TSchema> = {
  // It has no type, so that any value reaches the rules, and `items`, so that the items have a place in the order.
  images: Type.Optional(Type.Unsafe<unknown>({ items: {} })),
  duration: checked,
  resolution: checked,
  aspect_ratio: checked,
  payload: checked,
}

const withoutValidated = (body: TObject): TObject =>
  Type.Object(
    Object.fromEntries(
      Object.entries(body.properties).map(([name, rule]) => [name, VALIDATED[name] ?? rule]),
    ),
  )

/**
 * The part of a body that `makeValidator` checks; `validateTextToVideo` and `validateExtend` check the rest. Together
 * they take exactly what the documented schemas (`video-document.ts`) say.
 */
export const TextToVideoInput = withoutValidated(TextToVideoBody)
export const ExtendInput = withoutValidated(ExtendBody)
