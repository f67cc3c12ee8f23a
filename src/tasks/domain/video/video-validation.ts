import { shown } from '../../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { PAYLOAD_MAX } from './video-body.ts'
import {
  ASPECT_RATIOS,
  DEFAULT_VIDEO_MODEL,
  EXTEND_MODELS,
  RESOLUTIONS,
  VIDEO_MODELS,
  findExtendModel,
  findVideoModel,
  listOffers,
} from './video-model.ts'
import type { VideoLengths, VideoModel, VideoOffer } from './video-model.ts'
import { expectedSeconds, oneOf, resolutionsInWords } from './video-words.ts'

/** A body after the check by its input schema. Where that check found an issue, the body may hold anything. */
type Given = Readonly<Record<string, unknown>>

/** Which sources an extension must be given (VIDEO_EXTEND_SOURCE). */
export type ExtendSource = 'both' | 'any'

/**
 * The rules of a text-to-video body that its input schema does not have, in the order of the documentation.
 * @param frames images that POST /img2video and POST /start-end2video need
 */
export const validateTextToVideo = (body: Given, frames?: 1 | 2): Issue[] => {
  const name = body['model'] ?? DEFAULT_VIDEO_MODEL
  const row = findVideoModel(name)
  const model = makeRules(name, row, VIDEO_MODELS)
  return [
    ...(frames ? validateFrames(body['images'], frames) : validateImages(body['images'])),
    ...validateDuration(model, body),
    ...validateResolution(model, body),
    ...validateRatio(model, row, body['aspect_ratio']),
    ...validateOffPeak(model, row, body),
    ...validateMetaData(body['meta_data']),
    ...validatePayload(body['payload']),
  ]
}

/** The rules of an extend body that its input schema does not have, in the order of the documentation. */
export const validateExtend = (body: Given, source: ExtendSource): Issue[] => {
  const model = makeRules(body['model'], findExtendModel(body['model']), EXTEND_MODELS)
  return [
    ...validateSource(body, source),
    ...validateDuration(model, body),
    ...validateResolution(model, body),
    ...validateImages(body['images']),
    ...validatePayload(body['payload']),
  ]
}

/** Rules for the model of a request: its row, or everything that any row allows when there is no such model. */
interface ModelRules extends VideoLengths {
  /** " with videoq1", or nothing. */
  suffix: string
}

const makeRules = (
  name: unknown,
  row: VideoLengths | undefined,
  models: Readonly<Record<string, VideoLengths>>,
): ModelRules => (row ? { ...row, suffix: ` with ${String(name)}` } : anyRow(Object.values(models)))

const anyRow = (rows: readonly VideoLengths[]): ModelRules => {
  const seconds = new Set(rows.flatMap((row) => row.seconds))
  const offered = new Set(rows.flatMap((row) => row.offers.map((offer) => offer.resolution)))
  const offers = RESOLUTIONS.filter((resolution) => offered.has(resolution))
  return {
    suffix: '',
    seconds: [...seconds].toSorted((a, b) => a - b),
    defaultSeconds: Number.NaN,
    // Only the resolution is looked at, never its price.
    offers: offers.map((resolution) => ({ resolution, price: { task: 0 } })),
  }
}

const validateDuration = (model: ModelRules, { duration }: Given): Issue[] =>
  duration === undefined || model.seconds.includes(duration as number)
    ? []
    : [invalid('/duration', expectedSeconds(model.seconds) + model.suffix, shown(duration))]

const validateResolution = (model: ModelRules, body: Given): Issue[] => {
  const given = body['resolution']
  if (given === undefined) return []
  const { offers, suffix } = offersFor(model, body['duration'] ?? model.defaultSeconds)
  const offer = offers.find(({ resolution }) => resolution === given)
  if (offer && (!offer.needsStartImage || hasImage(body))) return []
  return [invalid('/resolution', oneOf(resolutionsInWords(offers)) + suffix, shown(given))]
}

/** The offers at a length; at a length that is none of the model's, all of them. */
const offersFor = (
  model: ModelRules,
  duration: unknown,
): { offers: readonly VideoOffer[]; suffix: string } => {
  const { suffix } = model
  if (!model.seconds.includes(duration as number)) return { offers: model.offers, suffix }
  const offers = listOffers(model, duration as number)
  const varies = offers.length < model.offers.length
  return { offers, suffix: varies ? `${suffix} at ${String(duration)} s` : suffix }
}

/** True when something stands where a start image would. Another rule validates it. */
const hasImage = ({ images }: Given): boolean =>
  Array.isArray(images) ? images.length > 0 : images !== undefined

const validateRatio = (
  { suffix }: ModelRules,
  row: VideoModel | undefined,
  given: unknown,
): Issue[] => {
  const ratios: readonly unknown[] = row?.ratios ?? ASPECT_RATIOS
  return given === undefined || ratios.includes(given)
    ? []
    : [invalid('/aspect_ratio', oneOf(ratios.map(String)) + suffix, shown(given))]
}

const validateOffPeak = (
  { suffix }: ModelRules,
  row: VideoModel | undefined,
  body: Given,
): Issue[] =>
  body['off_peak'] === true && body['audio'] === true && row && row.generation !== 'q3'
    ? [
        makeIssue(
          '/off_peak',
          `must be false when /audio is true${suffix}, got true`,
          'incompatible_fields',
        ),
      ]
    : []

const validateFrames = (images: unknown, frames: 1 | 2): Issue[] => {
  const expected = frames === 1 ? 'a list of 1 image' : 'a list of 2 images'
  if (images === undefined) return [missing('/images', `must be ${expected}`)]
  return Array.isArray(images) && images.length < frames
    ? [invalid('/images', expected, String(images.length))]
    : validateImages(images, frames, expected)
}

/** Validates images. An issue must not show an image, so it says what kind of value came. */
const validateImages = (images: unknown, max = 1, expected = 'a list of 1 image'): Issue[] => {
  if (images === undefined) return []
  if (!Array.isArray(images)) return [invalid('/images', expected, kindOf(images))]
  if (images.length > max) return [invalid('/images', expected, String(images.length))]
  const form = 'an image in Base64, a data: URI or an https URL'
  return images.flatMap((image, at) =>
    typeof image === 'string' && image !== ''
      ? []
      : [invalid(`/images/${at}`, form, kindOf(image))],
  )
}

const validateMetaData = (given: unknown): Issue[] =>
  typeof given !== 'string' || isJson(given)
    ? []
    : [invalid('/meta_data', 'a JSON text', shown(given))]

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Validates the payload. An issue must not show it either: only its echo carries it. */
const validatePayload = (given: unknown): Issue[] => {
  if (given === undefined) return []
  const expected = `a string of at most ${PAYLOAD_MAX} characters`
  if (typeof given !== 'string') return [invalid('/payload', expected, kindOf(given))]
  const points = countCodePoints(given)
  return points > PAYLOAD_MAX ? [invalid('/payload', expected, `${points} characters`)] : []
}

/** Counts without an array of them, which would take 30 MB for a payload at its limit. */
const countCodePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

const validateSource = (body: Given, source: ExtendSource): Issue[] => {
  const absent = ['video_creation_id', 'video_url'].filter((name) => body[name] === undefined)
  if (source === 'both') return absent.map((name) => missing(`/${name}`, 'must be given'))
  return absent.length === 2
    ? [missing('/video_creation_id', 'must be given when /video_url is not')]
    : []
}

const missing = (field: string, expectation: string): Issue =>
  makeIssue(field, `${expectation}, but is absent`)

const invalid = (field: string, expected: string, got: string): Issue =>
  makeIssue(field, `must be ${expected}, got ${got}`)

const kindOf = (value: unknown): string => {
  if (value === '') return 'an empty one'
  if (Array.isArray(value)) return 'a list'
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
