import { Type } from 'typebox'
import type { TObject } from 'typebox'

import { ExtendBody, TextToVideoBody } from './video-body.ts'
import type { ExtendSource } from './video-judge.ts'
import { DEFAULT_VIDEO_MODEL, VIDEO_MODELS } from './video-model.ts'
import type { VideoModel } from './video-model.ts'
import { listGroups } from './video-words.ts'

type Json = Record<string, unknown>

/**
 * The text-to-video body with every rule that a schema can say, for OpenAPI: what no model renders is excluded, model by
 * model. It takes what input schema and judge take together. A rule lets `null` pass, which counts as absent.
 * @param frames images that POST /img2video and POST /start-end2video need
 */
export const makeTextToVideoDocument = (frames?: 1 | 2): TObject =>
  Type.Object(
    frames === undefined
      ? TextToVideoBody.properties
      : { ...TextToVideoBody.properties, images: makeFrames(frames) },
    {
      title: frames === undefined ? 'TextToVideoBody' : FRAME_TITLES[frames],
      // In this form generators of clients see the members alone.
      not: { anyOf: Object.entries(VIDEO_MODELS).map(([name, row]) => makeExclusion(name, row)) },
    },
  )

const FRAME_TITLES = { 1: 'ImageToVideoBody', 2: 'StartEndToVideoBody' }

/** The extend body with the rule about its source, for OpenAPI. */
export const makeExtendDocument = (source: ExtendSource): TObject =>
  Type.Object(ExtendBody.properties, {
    title: 'ExtendBody',
    ...(source === 'both'
      ? { required: ['model', 'video_creation_id', 'video_url'] }
      : { not: NO_SOURCE }),
  })

const NO_SOURCE = {
  properties: { video_creation_id: { type: 'null' }, video_url: { type: 'null' } },
}

const makeFrames = (frames: 1 | 2) =>
  Type.Array(Type.String({ minLength: 1, description: 'Base64, a data: URI or an https URL.' }), {
    minItems: frames,
    maxItems: frames,
    description:
      frames === 1
        ? 'The start image: frame 1 of the video, whose ratio the video keeps. From 1:4 to 4:1.'
        : 'The first and the last frame; their ratios differ by a quarter at most.',
  })

/** A body that names the model and breaks one of its rules. */
const makeExclusion = (name: string, row: VideoModel): Json => ({
  properties: { model: { enum: name === DEFAULT_VIDEO_MODEL ? [name, null] : [name] } },
  ...(name === DEFAULT_VIDEO_MODEL ? undefined : { required: ['model'] }),
  not: {
    properties: {
      duration: oneOf(row.seconds),
      resolution: oneOf(row.offers.map((offer) => offer.resolution)),
      aspect_ratio: oneOf(row.ratios),
    },
    ...allOf([...lengthRules(row), ...startImageRules(row), ...offPeakRules(row)]),
  },
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
