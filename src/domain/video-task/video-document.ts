import { Type } from 'typebox'
import type { TObject } from 'typebox'

import { ExtendBody, TextToVideoBody } from './video-body.ts'
import type { ExtendSource } from './video-judge.ts'
import { DEFAULT_VIDEO_MODEL, VIDEO_MODELS } from './video-model.ts'
import type { VideoModel } from './video-model.ts'
import { listGroups } from './video-words.ts'

type Json = Record<string, unknown>

/**
 * The text-to-video body with every rule that a schema can say, for OpenAPI: one branch for each model. It takes what
 * input schema and judge take together. A branch lets `null` pass, which counts as absent.
 * @param frames images that POST /img2video and POST /start-end2video need
 */
export const makeTextToVideoDocument = (frames?: 1 | 2): TObject =>
  Type.Object(
    frames === 2 ? { ...TextToVideoBody.properties, images: TWO } : TextToVideoBody.properties,
    {
      oneOf: Object.entries(VIDEO_MODELS).map(([name, row]) => makeBranch(name, row)),
      ...(frames && { allOf: [hasImages(frames)] }),
    },
  )

/** The extend body with the rule about its source, for OpenAPI. */
export const makeExtendDocument = (source: ExtendSource): TObject =>
  Type.Object(ExtendBody.properties, {
    [source === 'both' ? 'allOf' : 'anyOf']: [
      present('video_creation_id', { type: 'string' }),
      present('video_url', { type: 'string' }),
    ],
  })

const TWO = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), {
    maxItems: 2,
    description: 'The first and the last frame; their ratios differ by a quarter at most.',
  }),
)

const makeBranch = (name: string, row: VideoModel): Json => ({
  title: name,
  properties: {
    model: { enum: name === DEFAULT_VIDEO_MODEL ? [name, null] : [name] },
    duration: oneOf(row.seconds),
    resolution: oneOf(row.offers.map((offer) => offer.resolution)),
    aspect_ratio: oneOf(row.ratios),
  },
  ...(name === DEFAULT_VIDEO_MODEL ? undefined : { required: ['model'] }),
  ...allOf([...lengthRules(row), ...startImageRules(row), ...offPeakRules(row)]),
})

const allOf = (rules: Json[]): Json => (rules.length === 0 ? {} : { allOf: rules })

/** Where resolutions go by the length: those of each length, the default one also without a length. */
const lengthRules = (row: VideoModel): Json[] =>
  listGroups(row).flatMap(({ seconds, offers }) => {
    if (!seconds) return []
    const isDefault = seconds.includes(row.defaultSeconds)
    const resolution = oneOf(offers.map((offer) => offer.resolution))
    const atLength = isDefault
      ? { properties: { duration: oneOf(seconds) } }
      : present('duration', { enum: seconds })
    return [implies(atLength, { properties: { resolution } })]
  })

const startImageRules = (row: VideoModel): Json[] =>
  row.offers
    .filter((offer) => offer.needsStartImage)
    .map((offer) => implies(present('resolution', { const: offer.resolution }), hasImages(1)))

const offPeakRules = (row: VideoModel): Json[] =>
  row.generation === 'q3'
    ? []
    : [{ not: allOf([present('off_peak', { const: true }), present('audio', { const: true })]) }]

const present = (name: string, rule: Json): Json => ({
  required: [name],
  properties: { [name]: rule },
})

const hasImages = (minItems: number): Json =>
  present('images', { type: 'array', minItems, items: {} })

/** `if` and `then` in the words that every generator of examples understands. */
const implies = (condition: Json, rule: Json): Json => ({ anyOf: [{ not: condition }, rule] })

const oneOf = (values: readonly unknown[]): Json => ({ enum: [...new Set(values), null] })
