import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { EXTEND_MODELS, VIDEO_MODELS } from '../../../src/tasks/domain/video/video-model.ts'
import type {
  ExtendModelName,
  Resolution,
  VideoLengths,
  VideoModelName,
} from '../../../src/tasks/domain/video/video-model.ts'
import { extendCredits, textToVideoCredits } from '../../../src/tasks/domain/video/video-price.ts'

/** The published table once more, in its own notation: 1 s · 2 s · each further second, or one price for each length. */
const PRICES: Record<VideoModelName, { seconds: string; rows: string }> = {
  'videoq3-pro': {
    seconds: '1-16',
    rows: '540p 9·18·9 @5, 720p 20·40·20 @10, 1080p 24·48·24 @12, 2K 40·80·40 @20',
  },
  'videoq2-pro-fast': { seconds: '1-10', rows: '720p 8·10·2, 1080p 16·20·4' },
  'videoq3-turbo': { seconds: '1-16', rows: '540p 7·14·7 @4, 720p 11·22·11 @6, 1080p 13·26·13 @7' },
  videoq2: { seconds: '1-10', rows: '540p 10·12·2, 720p 15·20·5, 1080p 20·30·10' },
  'videoq2-pro': { seconds: '1-8', rows: '540p 8·10·5, 720p 15·25·10, 1080p 55·70·15' },
  'videoq2-turbo': { seconds: '1-8', rows: '540p 6·8·2, 720p 8·10·10, 1080p 35·45·10' },
  videoq1: { seconds: '5-5', rows: '1080p 5=80' },
  'videoq1-classic': { seconds: '5-5', rows: '1080p 5=80' },
  'video2.0': { seconds: '4-8', rows: '360p 4=20, 720p 4=40 8=100, 1080p 4=100' },
}

const EXTEND_PRICES: Record<ExtendModelName, string> = {
  'videoq2-pro': '540p 15·20·5, 720p 30·40·10, 1080p 60·75·15',
  'videoq2-turbo': '540p 8·11·3, 720p 15·20·5, 1080p 40·50·10',
}

interface Case {
  resolution: Resolution
  seconds: number
  price: number
  /** Off-peak. */
  reduced: number
}

/** The cases of a row of the table, counted up second by second. */
const listCases = (row: string, from: number, to: number): Case[] => {
  const [resolution, ...parts] = row.trim().split(' ') as [Resolution, ...string[]]
  const rate = parts.find((part) => part.startsWith('@'))?.slice(1)
  const cases: Case[] = []
  for (const part of parts.filter((text) => !text.startsWith('@')))
    if (part.includes('=')) {
      const [seconds = 0, price = 0] = part.split('=').map(Number)
      cases.push({ resolution, seconds, price, reduced: half(price) })
    } else {
      const [first = 0, second = 0, step = 0] = part.split('·').map(Number)
      let price = first
      for (let seconds = from; seconds <= to; seconds++) {
        if (seconds === 2) price = second
        if (seconds > 2) price += step
        const reduced = rate === undefined ? half(price) : seconds * Number(rate)
        cases.push({ resolution, seconds, price, reduced })
      }
    }
  return cases
}

const half = (price: number): number => (price % 2 === 0 ? price / 2 : (price + 1) / 2)

const casesOf = (rows: string, seconds: string): Case[] => {
  const [from = 0, to = 0] = seconds.split('-').map(Number)
  return rows.split(',').flatMap((row) => listCases(row, from, to))
}

const base = { off_peak: false, is_rec: false, audio: false }

describe('the price of a text-to-video task', () => {
  for (const [name, { seconds, rows }] of Object.entries(PRICES)) {
    const model = name as VideoModelName
    const cases = casesOf(rows, seconds)

    const surcharge = model.startsWith('videoq3') ? 0 : 15
    const OPTIONS: [title: string, options: object, more: number, isReduced?: true][] = [
      ['is the published one at each length and resolution', {}, 0],
      ['is the published one off-peak', { off_peak: true }, 0, true],
      ['grows by 10 with a recommended prompt', { is_rec: true }, 10],
      ['grows by 10 with one off-peak, too', { is_rec: true, off_peak: true }, 10, true],
      [`grows by ${surcharge} with audio`, { audio: true }, surcharge],
      ['grows by both', { audio: true, is_rec: true }, surcharge + 10],
    ]
    for (const [title, options, more, isReduced] of OPTIONS)
      test(`of ${model} ${title}`, () => {
        for (const { resolution, seconds: duration, price, reduced } of cases) {
          const credits = textToVideoCredits({ ...base, model, resolution, duration, ...options })
          assert.equal(credits, (isReduced ? reduced : price) + more, `${resolution} ${duration} s`)
        }
      })

    test(`of ${model} is known for exactly the lengths and resolutions of its row`, () => {
      assert.deepEqual(sold(VIDEO_MODELS[model]), new Set(cases.map(key)))
    })
  }

  test('is that of the worked examples', () => {
    const examples: [VideoModelName, Resolution, number, object, number][] = [
      ['videoq3-pro', '720p', 5, { audio: true }, 100],
      ['videoq3-pro', '720p', 5, { audio: true, off_peak: true }, 50],
      ['videoq3-pro', '720p', 5, { audio: true, off_peak: true, is_rec: true }, 60],
      ['videoq3-pro', '540p', 5, { off_peak: true }, 25],
      ['videoq2-pro', '540p', 5, {}, 25],
      ['videoq2-pro', '720p', 8, {}, 85],
      ['videoq2-pro', '720p', 8, { off_peak: true }, 43],
      ['videoq2-turbo', '720p', 5, {}, 40],
      ['videoq2-pro-fast', '1080p', 10, {}, 52],
      ['videoq3-turbo', '720p', 5, {}, 55],
      ['videoq3-turbo', '540p', 5, { off_peak: true }, 20],
      ['videoq2', '1080p', 10, {}, 110],
      ['videoq2', '720p', 5, { off_peak: true }, 18],
    ]
    for (const [model, resolution, duration, options, credits] of examples)
      assert.equal(
        textToVideoCredits({ ...base, model, resolution, duration, ...options }),
        credits,
        `${model} ${resolution} ${duration} s ${JSON.stringify(options)}`,
      )
  })

  test('throws for what no model renders', () => {
    const settings = { ...base, model: 'video2.0', resolution: '1080p', duration: 8 } as const
    assert.throws(() => textToVideoCredits(settings), /video2\.0 has no price for 8 s at 1080p/)
  })
})

describe('the price of an extension', () => {
  for (const [name, rows] of Object.entries(EXTEND_PRICES)) {
    const model = name as ExtendModelName
    test(`with ${model} is the published one at each length and resolution`, () => {
      const cases = casesOf(rows, '1-7')
      for (const { resolution, seconds: duration, price } of cases)
        assert.equal(extendCredits({ model, resolution, duration }), price)
      assert.deepEqual(sold(EXTEND_MODELS[model]), new Set(cases.map(key)))
    })
  }

  test('is that of the worked examples', () => {
    const examples: [ExtendModelName, Resolution, number][] = [
      ['videoq2-pro', '540p', 35],
      ['videoq2-turbo', '540p', 20],
    ]
    for (const [model, resolution, credits] of examples)
      assert.equal(extendCredits({ model, resolution, duration: 5 }), credits)
    assert.equal(extendCredits({ model: 'videoq2-pro', resolution: '1080p', duration: 7 }), 150)
  })
})

const key = ({ resolution, seconds }: { resolution: string; seconds: number }): string =>
  `${resolution} ${seconds}`

/** Lists what a row of the source's table offers. */
const sold = (row: VideoLengths): Set<string> =>
  new Set(
    row.offers.flatMap(({ resolution, seconds }) =>
      (seconds ?? row.seconds).map((length) => key({ resolution, seconds: length })),
    ),
  )
