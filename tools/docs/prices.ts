import { EXTEND_MODELS, VIDEO_MODELS } from '../../src/domain/video-task/video-model.ts'
import type {
  VideoLengths,
  VideoModel,
  VideoOffer,
} from '../../src/domain/video-task/video-model.ts'
import { secondsInWords } from '../../src/domain/video-task/video-words.ts'
import { makeTable } from './markers.ts'

/** The table of what each video model renders and costs. */
export const makePriceTable = (): string =>
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
