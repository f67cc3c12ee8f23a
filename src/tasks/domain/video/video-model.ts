/**
 * Video models: what each renders and what it costs, said here only. Schemas, prices, validation, OpenAPI and the page
 * of prices are made from the two tables below.
 */

export const RESOLUTIONS = ['360p', '540p', '720p', '1080p', '2K'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

export const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4'] as const
export type AspectRatio = (typeof ASPECT_RATIOS)[number]

/** Credits for 1 s, for 2 s and for each second after those. */
export interface PriceBySeconds {
  first: number
  second: number
  further: number
}

/** Credits for a task, whatever its length. */
export interface PriceByTask {
  task: number
}

/** A resolution that a model renders, at the lengths it does so, for a price. */
export interface VideoOffer {
  resolution: Resolution
  price: PriceBySeconds | PriceByTask
  /** Lengths in seconds that this offer is for; absent: every length of the model. */
  seconds?: readonly number[]
  /** Off-peak credits a second; absent: half the price, rounded up. */
  offPeakRate?: number
  /** Only for a request with a start image. */
  needsStartImage?: true
  /** Taken, at its lengths, when the request names no resolution. */
  isDefault?: true
}

/** Members common to the models of both tables. */
export interface VideoLengths {
  /** Lengths in whole seconds, ascending. */
  seconds: readonly number[]
  defaultSeconds: number
  offers: readonly VideoOffer[]
}

/** Which settings have an effect, and what sound costs, goes by the generation of a model. */
export type VideoGeneration = 'q3' | 'q2' | 'q1' | '2.0'

export interface VideoModel extends VideoLengths {
  generation: VideoGeneration
  ratios: readonly AspectRatio[]
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const bySeconds = (first: number, second: number, further: number): PriceBySeconds => ({
  first,
  second,
  further,
})

const isDefault = { isDefault: true } as const
const THREE_RATIOS = ASPECT_RATIOS.slice(0, 3)

const Q3 = {
  generation: 'q3',
  seconds: range(1, 16),
  defaultSeconds: 5,
  ratios: ASPECT_RATIOS,
} as const
const Q2 = { generation: 'q2', defaultSeconds: 5, ratios: ASPECT_RATIOS } as const
const Q1 = {
  generation: 'q1',
  seconds: [5],
  defaultSeconds: 5,
  ratios: THREE_RATIOS,
  offers: [{ resolution: '1080p', price: { task: 80 }, ...isDefault }],
} as const

/** Rows of POST /text2video and POST /img2video, in the order of the documentation. */
export const VIDEO_MODELS = {
  'videoq3-pro': {
    ...Q3,
    offers: [
      // Two lists of 540p, 720p and 1080p are published; these are of the newer one.
      { resolution: '540p', price: bySeconds(9, 18, 9), offPeakRate: 5 },
      { resolution: '720p', price: bySeconds(20, 40, 20), offPeakRate: 10, ...isDefault },
      { resolution: '1080p', price: bySeconds(24, 48, 24), offPeakRate: 12 },
      // Published in dollars only: 0.20 a second, at 0.005 a credit.
      { resolution: '2K', price: bySeconds(40, 80, 40), offPeakRate: 20, needsStartImage: true },
    ],
  },
  'videoq2-pro-fast': {
    ...Q2,
    seconds: range(1, 10),
    offers: [
      { resolution: '720p', price: bySeconds(8, 10, 2), ...isDefault },
      { resolution: '1080p', price: bySeconds(16, 20, 4) },
    ],
  },
  'videoq3-turbo': {
    ...Q3,
    offers: [
      { resolution: '540p', price: bySeconds(7, 14, 7), offPeakRate: 4 },
      { resolution: '720p', price: bySeconds(11, 22, 11), offPeakRate: 6, ...isDefault },
      { resolution: '1080p', price: bySeconds(13, 26, 13), offPeakRate: 7 },
    ],
  },
  videoq2: {
    ...Q2,
    seconds: range(1, 10),
    offers: [
      { resolution: '540p', price: bySeconds(10, 12, 2) },
      { resolution: '720p', price: bySeconds(15, 20, 5), ...isDefault },
      { resolution: '1080p', price: bySeconds(20, 30, 10) },
    ],
  },
  'videoq2-pro': {
    ...Q2,
    seconds: range(1, 8),
    offers: [
      { resolution: '540p', price: bySeconds(8, 10, 5) },
      { resolution: '720p', price: bySeconds(15, 25, 10), ...isDefault },
      { resolution: '1080p', price: bySeconds(55, 70, 15) },
    ],
  },
  'videoq2-turbo': {
    ...Q2,
    seconds: range(1, 8),
    offers: [
      { resolution: '540p', price: bySeconds(6, 8, 2) },
      { resolution: '720p', price: bySeconds(8, 10, 10), ...isDefault },
      { resolution: '1080p', price: bySeconds(35, 45, 10) },
    ],
  },
  videoq1: Q1,
  'videoq1-classic': Q1,
  'video2.0': {
    generation: '2.0',
    seconds: [4, 8],
    defaultSeconds: 4,
    ratios: THREE_RATIOS,
    offers: [
      { resolution: '360p', price: { task: 20 }, seconds: [4], ...isDefault },
      { resolution: '720p', price: { task: 40 }, seconds: [4] },
      { resolution: '1080p', price: { task: 100 }, seconds: [4] },
      { resolution: '720p', price: { task: 100 }, seconds: [8], ...isDefault },
    ],
  },
} as const satisfies Record<string, VideoModel>

/** Charged for a recommended prompt, in full off-peak too: the interface names 10 without an exception. */
export const RECOMMENDED_PROMPT_CREDITS = 10

/** Charged for sound made together with the picture, except on q3, whose price includes it. */
export const AUDIO_CREDITS = 15

export type VideoModelName = keyof typeof VIDEO_MODELS
export const VIDEO_MODEL_NAMES = Object.keys(VIDEO_MODELS) as VideoModelName[]
export const DEFAULT_VIDEO_MODEL: VideoModelName = 'videoq3-pro'

/** Rows of POST /extend. The ratio is the source's; there is no off-peak form. */
export const EXTEND_MODELS = {
  'videoq2-pro': {
    seconds: range(1, 7),
    defaultSeconds: 5,
    offers: [
      // 540p stands at half of the first second and the step of 720p, as it about does in the rows above.
      { resolution: '540p', price: bySeconds(15, 20, 5) },
      { resolution: '720p', price: bySeconds(30, 40, 10), ...isDefault },
      { resolution: '1080p', price: bySeconds(60, 75, 15) },
    ],
  },
  'videoq2-turbo': {
    seconds: range(1, 7),
    defaultSeconds: 5,
    offers: [
      { resolution: '540p', price: bySeconds(8, 11, 3) },
      { resolution: '720p', price: bySeconds(15, 20, 5), ...isDefault },
      { resolution: '1080p', price: bySeconds(40, 50, 10) },
    ],
  },
} as const satisfies Record<string, VideoLengths>

export type ExtendModelName = keyof typeof EXTEND_MODELS
export const EXTEND_MODEL_NAMES = Object.keys(EXTEND_MODELS) as ExtendModelName[]

/** The row of a text-to-video model, or undefined for a name that is none. */
export const findVideoModel = (name: unknown): VideoModel | undefined =>
  isKey(VIDEO_MODELS, name) ? VIDEO_MODELS[name] : undefined

/** The row of an extend model, or undefined for a name that is none. */
export const findExtendModel = (name: unknown): VideoLengths | undefined =>
  isKey(EXTEND_MODELS, name) ? EXTEND_MODELS[name] : undefined

const isKey = <T extends object>(table: T, name: unknown): name is keyof T =>
  typeof name === 'string' && Object.hasOwn(table, name)

/** Lists what a model renders at a length. */
export const listOffers = (row: VideoLengths, seconds: number): readonly VideoOffer[] =>
  row.offers.filter((offer) => offer.seconds?.includes(seconds) ?? row.seconds.includes(seconds))

/** The offer of a length and a resolution; without a resolution the default one of that length. */
export const findOffer = (
  row: VideoLengths,
  seconds: number,
  resolution?: unknown,
): VideoOffer | undefined =>
  listOffers(row, seconds).find((offer) =>
    resolution === undefined ? offer.isDefault : offer.resolution === resolution,
  )
