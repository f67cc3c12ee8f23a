import { Type, type TObject } from 'typebox'

import { ExtendBody, TextToVideoBody, VideoImage } from './video-body.ts'
import type { ExtendSource } from './video-validation.ts'
import { DEFAULT_VIDEO_MODEL, VIDEO_MODELS, type VideoModel } from './video-model.ts'
import { listGroups } from './video-words.ts'

type Json = Record<string, unknown>

/**
 * The text-to-video body with every rule that a schema can say, for OpenAPI: what no model renders is excluded, model by
 * model. It takes what input schema and rules take together. A rule lets `null` pass, which counts as absent.
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
      not: { anyOf: Object.entries(VIDEO_MODELS).flatMap(([name, row]) => exclude(name, row)) },
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
  Type.Array(VideoImage, {
    minItems: frames,
    maxItems: frames,
    description:
      frames === 1
        ? 'The start image: frame 1 of the video, whose ratio the video keeps. From 1:4 to 4:1.'
        : 'The first and the last frame; their ratios differ by a quarter at most.',
  })

/** The bodies that name a model and break one of its rules. */
const exclude = (name: string, row: VideoModel): Json[] => {
  const model = { enum: name === DEFAULT_VIDEO_MODEL ? [name, null] : [name] }
  const required = name === DEFAULT_VIDEO_MODEL ? [] : ['model']
  return [
    { duration: noneOf(row.seconds) },
    { resolution: noneOf(row.offers.map((offer) => offer.resolution)) },
    { aspect_ratio: noneOf(row.ratios) },
    ...lengthExclusions(row),
    ...startImageExclusions(row),
    ...offPeakExclusions(row),
  ].map((members: Record<string, Rule>) => ({
    required: [...required, ...Object.keys(members).filter((name) => !members[name]?.orAbsent)],
    properties: { model, ...mapValues(members, ({ rule }) => rule) },
  }))
}

interface Rule {
  rule: Json
  /** It also holds when the member is absent. */
  orAbsent?: boolean
}

/** Lists the rules by length where it decides the resolutions. Rules of the default length hold without one, too. */
const lengthExclusions = (row: VideoModel): Record<string, Rule>[] =>
  listGroups(row).flatMap(({ seconds, offers }) => {
    if (!seconds) return []
    const isDefault = seconds.includes(row.defaultSeconds)
    const duration = isDefault
      ? { rule: { enum: [...seconds, null] }, orAbsent: true }
      : { rule: { enum: seconds } }
    return [{ duration, resolution: noneOf(offers.map((offer) => offer.resolution)) }]
  })

const startImageExclusions = (row: VideoModel): Record<string, Rule>[] =>
  row.offers
    .filter((offer) => offer.needsStartImage)
    .map(({ resolution }) => ({ resolution: { rule: { const: resolution } }, images: NO_IMAGES }))

const NO_IMAGES = { rule: { anyOf: [{ type: 'null' }, { maxItems: 0 }] }, orAbsent: true }

const offPeakExclusions = (row: VideoModel): Record<string, Rule>[] =>
  row.generation === 'q3' ? [] : [{ off_peak: IS_TRUE, audio: IS_TRUE }]

const IS_TRUE = { rule: { const: true } }

const noneOf = (values: readonly unknown[]): Rule => ({
  rule: { not: { enum: [...new Set(values), null] } },
})

const mapValues = <From, To>(
  object: Record<string, From>,
  map: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))
