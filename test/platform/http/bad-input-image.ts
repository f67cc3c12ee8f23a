import { IMAGE_URL, UPSCALE } from '../../support/client.ts'
import {
  base64Of,
  error,
  FLEXIBLE,
  INVALID,
  makeHollowPng,
  NO_TASK,
  ofGet,
  PRECISION,
  RELIGHT,
  rowOf,
  UNKNOWN,
} from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'

const failed = (field: string) => ({ ...INVALID, field: `${field} must be` })
const rejectedUrl = (field: string) => error(400, 'url_refused', { field })
const tooLarge = error(400, 'pixel_limit', { field: '/image must be small enough' })
const badImage = error(400, 'image_invalid', { field: '/image' })

/** A body with a good image, so that nothing but the member in question is wrong. */
const withPicture =
  (more: object) =>
  ({ picture }: World): object => ({ image: picture, ...more })

export const shownAs = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 70 ? `${text.slice(0, 70)}… (${text.length})` : text
}

const images = (row: number, values: unknown[], expected: ReturnType<typeof error>) =>
  values.map((image) => ({ row, what: `image ${shownAs(image)}`, body: { image }, ...expected }))

/** Settings of one path, each wrong in one member. */
const settings = (row: number, path: string, cases: [string, unknown][]): Row[] =>
  cases.map(([name, value]) => ({
    row,
    what: `${name} ${shownAs(value)}`,
    path,
    body: withPicture({ [name]: value }),
    ...failed(`/${name}`),
  }))

const png = (...size: Parameters<typeof makeHollowPng>): string =>
  makeHollowPng(...size).toString('base64')

const JPEG_HEAD = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').toString('base64')

/** URLs of an image or a webhook that the request rejects: scheme, port, user, name or literal address. */
export const REJECTED_URLS = [
  'file:///etc/passwd',
  'ftp://images.example.com/a.png',
  'gopher://images.example.com/',
  'blob:https://images.example.com/x',
  'javascript:alert(1)',
  'http://images.example.com/a.png',
  'https://user:word@images.example.com/a.png',
  'https://images.example.com:22/a.png',
  'https://images.example.com:6379/',
  'https://intranet/a.png',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://10.0.0.1/a.png',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://192.168.1.1.:443/',
  'https:10.0.0.1/a.png',
  'https://images.example.com\\@10.0.0.1/',
  'https://images.example.com/\ta.png',
  'https://256.1.1.1/',
  `https://images.example.com/${'a'.repeat(8192)}`,
]

/** URLs that an api rejects that may not reach this machine. */
export const REJECTED_IN_PRODUCTION = [
  'http://127.0.0.1/a.png',
  'https://127.0.0.1/a.png',
  'https://localhost/a.png',
  'https://[::1]/a.png',
  'https://2130706433/',
  'https://0x7f.1/',
  'http://images.example.com/a.png',
]

/** Rows about image tasks. */
export const IMAGE_ROWS: Row[] = [
  { row: 35, what: 'image absent', body: {}, ...failed('/image') },
  ...images(35, ['', null, 5, true, ['https://images.example.com/a.png'], {}], failed('/image')),
  ...images(36, ['QUJD!', 'QUJDR', '===='], badImage),
  ...images(
    37,
    [
      base64Of('just some text, long enough to be an image'),
      base64Of('<!doctype html><html><body>hello</body></html>'),
      base64Of('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      base64Of('%PDF-1.7\n1 0 obj\n<<>>\nendobj'),
      'data:image/png;base64,',
    ],
    badImage,
  ),
  ...images(38, [JPEG_HEAD, base64Of('\x89PNG')], badImage),
  ...images(39, [png(50_000, 50_000)], error(400, 'pixel_limit', { field: '/image' })),
  ...(
    [
      [UPSCALE, { image: png(2600, 2500) }],
      [UPSCALE, { image: png(400, 400), scale_factor: '16x' }],
      [PRECISION, { image: png(630, 10), scale_factor: 16 }],
    ] as const
  ).map(([path, body]) => rowOf(40, `${path} to too many pixels`, { path, body }, tooLarge)),
  ...images(
    42,
    [
      `data:text/html;base64,${base64Of('<!doctype html><p>hello</p>')}`,
      'data:image/png,raw',
      'data:image/png;base64',
    ],
    badImage,
  ),
  ...images(43, REJECTED_URLS, rejectedUrl('/image')),
  ...images(43, REJECTED_IN_PRODUCTION, rejectedUrl('/image')).map((row) => ({
    ...row,
    production: true as const,
  })),
  ...['x', '//images.example.com/', ...REJECTED_URLS].map((webhook_url) => ({
    row: 45,
    what: `webhook_url ${shownAs(webhook_url)}`,
    body: withPicture({ webhook_url }),
    ...rejectedUrl('/webhook_url'),
  })),
  ...settings(45, UPSCALE, [
    ['webhook_url', ''],
    ['webhook_url', 5],
  ]),
  ...settings(46, UPSCALE, [
    ['creativity', -11],
    ['creativity', 10.001],
    ['creativity', '5'],
    ['creativity', true],
    ['hdr', 11],
    ['resemblance', -10.5],
    ['fractality', []],
  ]),
  ...settings(46, FLEXIBLE, [
    ['sharpen', 101],
    ['sharpen', -1],
    ['smart_grain', -0.1],
    ['optimized_for', 'enhance'],
  ]),
  ...settings(47, RELIGHT, [
    ['light_transfer_strength', -1],
    ['light_transfer_strength', 101],
    ['change_background', 'true'],
    ['style', 'Standard'],
    ['style', ''],
    ['prompt', 'x'.repeat(10_001)],
    ['prompt', 5],
    ['advanced_settings', []],
    ['advanced_settings', 'x'],
    ['transfer_light_from_lightmap', ''],
  ]),
  ...settings(48, UPSCALE, [
    ['scale_factor', '3x'],
    ['scale_factor', 2],
    ['scale_factor', '2X'],
    ['engine', 'imgvendor'],
    ['optimized_for', 'cats'],
  ]),
  ...settings(48, PRECISION, [
    ['scale_factor', '2x'],
    ['scale_factor', 2.5],
    ['scale_factor', 1],
    ['scale_factor', 17],
    ['flavor', 'sweet'],
    ['ultra_detail', 100.5],
  ]),
  {
    row: 49,
    what: 'lightmap and reference image together',
    path: RELIGHT,
    body: ({ picture }) => ({
      image: picture,
      transfer_light_from_lightmap: picture,
      transfer_light_from_reference_image: IMAGE_URL,
    }),
    ...error(400, 'incompatible_fields'),
    field: '/transfer_light_from_reference_image must be absent',
  },
  ...['(word:1.5)', '(word:0.9)', '(word:x)'].map((prompt) => ({
    row: 50,
    what: `prompt ${prompt}`,
    path: RELIGHT,
    body: withPicture({ prompt }),
    ...INVALID,
    field: '/prompt must weight a phrase',
  })),
  {
    row: 51,
    what: 'whites "x"',
    path: RELIGHT,
    body: withPicture({ advanced_settings: { whites: 'x' } }),
    ...failed('/advanced_settings/whites'),
  },
  ...[UNKNOWN, 'abc', "'", '%25', 'x'.repeat(300)].map((id) =>
    rowOf(51, `status of ${id.slice(0, 40)}`, ofGet(`${UPSCALE}/${id}`), NO_TASK),
  ),
  rowOf(
    51,
    "status of another family's task",
    ofGet(({ ownTask }) => `${RELIGHT}/${ownTask}`),
    NO_TASK,
  ),
  ...(
    [
      ['page', ['0', '-1', 'abc', '1.5', '1e9', '1e1', 'true', '', '%00', '0x10']],
      ['per_page', ['0', '101', '5.5', 'all']],
    ] as const
  ).flatMap(([name, values]) =>
    values.map((value) =>
      rowOf(80, `?${name}=${value}`, ofGet(`${UPSCALE}?${name}=${value}`), failed(`?${name}`)),
    ),
  ),
  rowOf(80, '?page given twice', ofGet(`${UPSCALE}?page=1&page=2`), failed('?page')),
]
