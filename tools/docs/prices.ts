import { EXTEND_MODELS, VIDEO_MODELS } from '../../src/tasks/domain/video/video-model.ts'
import type {
  VideoLengths,
  VideoModel,
  VideoOffer,
} from '../../src/tasks/domain/video/video-model.ts'
import { secondsInWords } from '../../src/tasks/domain/video/video-words.ts'
import { makeList, wrap } from './markdown.ts'

/** The section of what each video model renders and costs. */
export const makePriceParts = (): string[] => [
  '## Video models and prices',
  wrap(INTRO),
  makeList(listModels()),
  wrap(ENGINE),
]

const INTRO = `Prices are credits for the first second · the second one · each further one; the default resolution is bold, ratios are 16:9 9:16 1:1 4:3 3:4. Half of a price is
rounded up. A recommended prompt (\`is_rec\`) costs 10 more, and sound 15 more on models before q3. Music, voice, style and
watermark are free. A task that fails or is cancelled gives its whole price back.`

const ENGINE = `The local engine is not generative. It gives every model the same picture: layers drawn from the seed and the colour words of the
prompt, or the start image, moved as a camera would. In the place of sound it plays tones. The model decides lengths, sizes and
prices.`

const listModels = (): string[] => [
  ...Object.entries(VIDEO_MODELS).map(([name, row]: [string, VideoModel]) => {
    const rates = row.offers.map((offer) => offer.offPeakRate)
    const offPeak = rates.some(Boolean) ? `${rates.join(', ')} a second` : 'half'
    const ratios = row.ratios.length < 5 ? `; ratios ${row.ratios.join(' ')}` : ''
    return `\`${name}\`, ${describe(row)}${ratios}; off-peak ${offPeak}`
  }),
  ...Object.entries(EXTEND_MODELS).map(
    ([name, row]: [string, VideoLengths]) => `extend \`${name}\`, ${describe(row)}`,
  ),
]

const describe = ({ seconds, defaultSeconds, offers }: VideoLengths): string =>
  `${secondsInWords(seconds)} s (${defaultSeconds}): ${offers.map(priceOf).join('; ')}`

const priceOf = ({ resolution, price, seconds, needsStartImage, isDefault }: VideoOffer): string =>
  [
    isDefault ? `**${resolution}**` : resolution,
    ...(needsStartImage ? ['with a start image'] : []),
    ...(seconds ? [`at ${secondsInWords(seconds)} s`] : []),
    'task' in price
      ? `${price.task} a task`
      : `${price.first} · ${price.second} · ${price.further}`,
  ].join(' ')
