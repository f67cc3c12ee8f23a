import { EXTEND_MODELS, VIDEO_MODELS } from '../../src/domain/video-task/video-model.ts'
import type {
  VideoLengths,
  VideoModel,
  VideoOffer,
} from '../../src/domain/video-task/video-model.ts'
import { secondsInWords } from '../../src/domain/video-task/video-words.ts'
import { makePage, makeTable } from './markdown.ts'

/** The page of what each video model renders and costs. */
export const makePricesPage = (): string =>
  makePage('Video models and prices', '`src/domain/video-task/video-model.ts`', [
    INTRO,
    makePriceTable(),
    ENGINE,
  ])

const INTRO = `Prices are credits for the first second · the second one · each further one; the default resolution is bold. Half of a price is
rounded up. A recommended prompt (\`is_rec\`) costs 10 more, and sound 15 more on models before q3. Music, voice, style and
watermark are free. A task that fails or is cancelled gives its whole price back.`

const ENGINE = `The local engine is not generative. It gives every model the same picture: layers drawn from the seed and the colour words of the
prompt, or the start image, moved as a camera would. In the place of sound it plays tones. The model decides lengths, sizes and
prices.`

const makePriceTable = (): string =>
  makeTable(
    ['model', 'seconds (default)', 'ratios', 'resolution: credits', 'off-peak'],
    [
      ...Object.entries(VIDEO_MODELS).map(([name, row]: [string, VideoModel]) => [
        `\`${name}\``,
        ...lengthsAndPrices(row, row.ratios.join(' ')),
        row.offers.some((offer) => offer.offPeakRate)
          ? `${row.offers.map((offer) => offer.offPeakRate).join(', ')} a second`
          : 'half',
      ]),
      ...Object.entries(EXTEND_MODELS).map(([name, row]: [string, VideoLengths]) => [
        `extend \`${name}\``,
        ...lengthsAndPrices(row, 'the source’s'),
        '–',
      ]),
    ],
  )

const lengthsAndPrices = (row: VideoLengths, ratios: string): string[] => [
  `${secondsInWords(row.seconds)} (${row.defaultSeconds})`,
  ratios,
  row.offers.map(priceOf).join('; '),
]

const priceOf = ({ resolution, price, seconds, needsStartImage, isDefault }: VideoOffer): string =>
  [
    isDefault ? `**${resolution}**` : resolution,
    ...(needsStartImage ? ['with a start image'] : []),
    ...(seconds ? [`at ${secondsInWords(seconds)} s`] : []),
    'task' in price
      ? `${price.task} a task`
      : `${price.first} · ${price.second} · ${price.further}`,
  ].join(' ')
