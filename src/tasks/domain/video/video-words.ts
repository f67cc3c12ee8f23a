import type { VideoLengths, VideoOffer } from './video-model.ts'

/** Lengths in words: "1 to 16", "4 or 8", "5". */
export const secondsInWords = (seconds: readonly number[]): string =>
  isRange(seconds) ? `${seconds[0]} to ${seconds.at(-1)}` : inWords(seconds.map(String))

/** Describes what a length must be: "a whole number from 1 to 16", "4 or 8", "5". */
export const expectedSeconds = (seconds: readonly number[]): string =>
  isRange(seconds) ? `a whole number from ${secondsInWords(seconds)}` : secondsInWords(seconds)

const isRange = (seconds: readonly number[]): boolean =>
  seconds.length > 2 && seconds.every((value, index) => value === (seconds[0] ?? 0) + index)

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** One of some values: "one of 16:9, 9:16", or the only one. */
export const oneOf = (values: readonly string[]): string =>
  values.length === 1 ? values.join('') : `one of ${values.join(', ')}`

/** Resolutions of offers, each once, with their condition: "540p", "2K (only with a start image)". */
export const resolutionsInWords = (offers: readonly VideoOffer[]): string[] => [
  ...new Set(offers.map(offerInWords)),
]

const offerInWords = ({ resolution, needsStartImage }: VideoOffer): string =>
  needsStartImage ? `${resolution} (only with a start image)` : resolution

/** The values of each model in a sentence, with the default in brackets: "videoq1 5 (5)". */
export const describeSeconds = (models: Readonly<Record<string, VideoLengths>>): string =>
  Object.entries(models)
    .map(([name, row]) => `${name} ${secondsInWords(row.seconds)} (${row.defaultSeconds})`)
    .join('; ')

/** The resolutions of each model at each of its lengths, with the default in brackets. */
export const describeResolutions = (models: Readonly<Record<string, VideoLengths>>): string =>
  Object.entries(models)
    .map(([name, row]) => `${name} ${groupsInWords(row)}`)
    .join('; ')

const groupsInWords = (row: VideoLengths): string =>
  listGroups(row)
    .map(({ seconds, offers }) => {
      const at = seconds ? ` at ${secondsInWords(seconds)} s` : ''
      const chosen = offers.find((offer) => offer.isDefault)
      return `${resolutionsInWords(offers).join(', ')}${at}${chosen ? ` (${chosen.resolution})` : ''}`
    })
    .join(', ')

/** The offers of a model by the lengths they are for; undefined: all lengths of the model. */
export const listGroups = (
  row: VideoLengths,
): { seconds: readonly number[] | undefined; offers: VideoOffer[] }[] => {
  const groups = new Map<string | undefined, VideoOffer[]>()
  for (const offer of row.offers) {
    const key = offer.seconds?.join()
    groups.set(key, [...(groups.get(key) ?? []), offer])
  }
  return [...groups.values()].map((offers) => ({ seconds: offers[0]?.seconds, offers }))
}
