import { TEXT, VIDEO_API } from '../../support/client.ts'
import {
  base64Of,
  error,
  makeHollowPng,
  notAllowed,
  rowOf,
  typed,
  UNAUTHORIZED,
  UNKNOWN,
} from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'
import { REJECTED_IN_PRODUCTION, REJECTED_URLS, shownAs } from './bad-input-image.ts'

const EXTEND = `${VIDEO_API}/extend`
const ADDRESS = 'https://videos.example.com/a.mp4'

/** The reason word of a member that breaks a rule, beside its code. */
const invalid = error(400, 'validation_failed', { reason: 'FieldInvalid' })
const lacking = { ...invalid, reason: 'FieldLacking' }
const count = {
  ...invalid,
  reason: 'FieldItemCountOutOfRange',
  field: '/images must be a list of 1',
}
const rejectedUrl = error(400, 'url_refused', { reason: 'FieldInvalid' })
const badImage = error(400, 'image_invalid', { reason: 'ImageFormatInvalid' })
const badSize = error(400, 'pixel_limit', { reason: 'ImageSizeInvalid' })
const noTask = error(404, 'task_not_found', { reason: 'TaskNotFound' })

type Expected = Pick<Row, 'status' | 'error' | 'reason' | 'field'>

/** Bodies of text2video, each wrong in the member named first, or in the first of its members. */
const bodies = (row: number, given: object[], expected: Expected = invalid): Row[] =>
  given.map((body) => ({
    row,
    what: `text2video ${shownAs(body)}`,
    path: TEXT,
    body,
    field: `/${Object.keys(body)[0]} must be`,
    ...expected,
  }))

const SOURCE = { video_creation_id: UNKNOWN, video_url: ADDRESS }

const extensions = (row: number, given: object[], expected: Expected = invalid): Row[] =>
  given.map((body) => ({
    row,
    what: `extend ${shownAs(body)}`,
    path: EXTEND,
    body: { model: 'videoq2-pro', ...SOURCE, ...body },
    field: `/${Object.keys(body)[0]} must be`,
    ...expected,
  }))

/** Every member that takes an address, with the path of its body. */
const URL_MEMBERS: [row: number, path: string, field: string, body: (url: string) => object][] = [
  [59, TEXT, '/images/0', (url) => ({ images: [url] })],
  [59, TEXT, '/wm_url', (url) => ({ wm_url: url })],
  [59, TEXT, '/wm_url', (url) => ({ watermark: true, wm_url: url })],
  [59, EXTEND, '/images/0', (url) => ({ model: 'videoq2-pro', ...SOURCE, images: [url] })],
  [59, EXTEND, '/video_url', (url) => ({ model: 'videoq2-pro', ...SOURCE, video_url: url })],
  [60, TEXT, '/callback_url', (url) => ({ callback_url: url })],
  [60, EXTEND, '/callback_url', (url) => ({ model: 'videoq2-pro', ...SOURCE, callback_url: url })],
]

const addresses = (urls: readonly string[], more: Partial<Row> = {}): Row[] =>
  URL_MEMBERS.flatMap(([row, path, field, bodyOf]) =>
    urls.map((url) => ({
      row,
      what: `${path.slice(VIDEO_API.length)} ${field} ${shownAs(url)}`,
      path,
      body: bodyOf(url),
      ...rejectedUrl,
      field,
      ...more,
    })),
  )

const queries = (row: number, given: string[], expected: Expected = invalid): Row[] =>
  given.map((query) => ({
    row,
    what: `?${query.slice(0, 60)}`,
    method: 'GET',
    path: `${VIDEO_API}/tasks?${query}`,
    field: `?${query.split(/[=/]/, 1).join('')}`,
    ...expected,
  }))

const png = (width: number, height: number): string =>
  makeHollowPng(width, height).toString('base64')

const reads = (row: number, path: (world: World) => string, what: string): Row[] =>
  (
    [
      ['GET', '/creations'],
      ['POST', '/cancel'],
    ] as const
  ).map(([method, suffix]) => ({
    row,
    what: `${method} of ${what}`,
    method,
    path: (world: World) => `${VIDEO_API}/tasks/${path(world)}${suffix}`,
    ...(method === 'POST' && { body: {} }),
    ...noTask,
  }))

const ofGet = (path: string) => ({ method: 'GET', path: VIDEO_API + path })
const ofExtend = (body: object) => ({ path: EXTEND, body: { model: 'videoq2-pro', ...body } })
type Id = 'ownTask' | 'ownVideo' | 'othersVideo' | 'failedVideo'
const ofExtendOf = (id: Id) => ({
  path: EXTEND,
  body: (world: World) => ({ model: 'videoq2-pro', video_creation_id: world[id] }),
})
const cancelOf = (id: Id, body?: object) => ({
  path: (world: World) => `${VIDEO_API}/tasks/${world[id]}/cancel`,
  ...(body && { body }),
})
const hasEnded = (state: string) =>
  error(400, 'cannot_cancel', {
    reason: 'BadRequest',
    field: `task state is ${state}, can not cancel`,
  })

/** Rows about video tasks. */
export const VIDEO_ROWS: Row[] = [
  ...['Bearer x.y.z', 'Bearer ', 'Basic eA=='].map((authorization) => ({
    row: 26,
    what: `a bad token on a video route: ${authorization}`,
    path: TEXT,
    headers: { authorization },
    body: {},
    ...UNAUTHORIZED,
    reason: 'Unauthorized',
  })),
  rowOf(26, 'a bad API key on a video route', ofGet('/credits'), {
    credential: false,
    headers: { 'x-api-key': 'kiln_key_x' },
    ...error(401, 'unauthorized', { reason: 'Unauthorized' }),
  }),
  ...bodies(52, [{ prompt: 'x'.repeat(2001) }, { prompt: '😀'.repeat(2001) }, { prompt: 5 }]),
  ...bodies(53, [{ payload: 'x'.repeat(1_048_577) }, { payload: 5 }, { payload: {} }]),
  ...bodies(
    54,
    ['videoq9', 'Videoq1', 'VIDEOQ3-PRO', '', 5].map((model) => ({ model })),
  ),
  ...bodies(55, [
    ...[0, 17, '5', 5.5, 1e10, -1, true, [5]].map((duration) => ({ duration })),
    { duration: 9, model: 'videoq2-pro' },
    { duration: 11, model: 'videoq2-pro-fast' },
    { duration: 4, model: 'videoq1' },
    { duration: 5, model: 'video2.0' },
  ]),
  ...bodies(56, [
    { resolution: '4K' },
    { resolution: '720P' },
    { resolution: '' },
    { resolution: 720 },
    { resolution: '360p', model: 'videoq3-pro' },
    { resolution: '2K', model: 'videoq1' },
    { resolution: '2K' },
    { resolution: '360p', model: 'video2.0', duration: 8 },
    { resolution: '540p', model: 'video2.0' },
    { resolution: '540p', model: 'videoq2-pro-fast' },
  ]),
  ...bodies(57, [
    ...['5:9', '16/9', '', '16:9 '].map((aspect_ratio) => ({ aspect_ratio })),
    { aspect_ratio: '4:3', model: 'videoq1' },
  ]),
  ...bodies(58, [{ images: [ADDRESS, ADDRESS] }], count),
  ...bodies(58, [{ images: 'x' }, { images: {} }, { images: true }]),
  ...bodies(58, [{ images: [5] }, { images: [''] }, { images: [null] }, { images: [[ADDRESS]] }], {
    ...invalid,
    field: '/images/0 must be',
  }).map((row) => (row.what.includes('null') ? { ...row, reason: 'FieldLacking' } : row)),
  ...[2, 3, 40].map((length) => ({
    row: 58,
    what: `${length} inline images`,
    path: TEXT,
    body: ({ picture }: World) => ({ images: Array.from({ length }, () => picture) }),
    ...count,
  })),
  {
    row: 58,
    what: 'inline images of which the first is none',
    path: TEXT,
    body: ({ picture }: World) => ({ images: ['QUJD!', picture] }),
    ...invalid,
    reason: 'FieldItemCountOutOfRange',
  },
  ...bodies(
    58,
    [{ images: ['QUJD!'] }, { images: [base64Of('no image')] }, { images: ['data:,x'] }],
    { ...badImage, field: '/images/0' },
  ),
  ...bodies(58, [{ images: [png(50_000, 50_000)] }], { ...badSize, field: '/images/0' }),
  ...bodies(58, [{ images: [png(401, 100)] }, { images: [png(100, 401)] }], {
    ...badSize,
    field: '/images/0 must have an aspect ratio from 1:4 to 4:1',
  }),
  ...addresses(REJECTED_URLS),
  ...addresses(['x', '//videos.example.com/']).filter(({ field }) => field !== '/images/0'),
  ...addresses(REJECTED_IN_PRODUCTION, { production: true }),
  ...bodies(60, [{ callback_url: '' }, { callback_url: 5 }, { wm_url: '' }]),
  ...bodies(
    61,
    [0, 5, 'top_left', 1.5].map((wm_position) => ({ wm_position })),
  ),
  ...bodies(
    62,
    [2147483648, 1.5, '1', -1].map((seed) => ({ seed })),
  ),
  ...bodies(
    63,
    ['{', 'x', '{"a":1}x', `"${'x'.repeat(65_535)}"`, 5].map((meta_data) => ({ meta_data })),
  ),
  ...bodies(64, [
    { audio_type: 'music' },
    { style: 'Anime' },
    { movement_amplitude: 'huge' },
    { audio: 'yes' },
    { bgm: 1 },
    { is_rec: 'true' },
    { watermark: 'false' },
    { off_peak: 0 },
    { voice_id: 'x'.repeat(257) },
    { enhance: 'x' },
    { priority: 1.5 },
  ]),
  ...bodies(64, [{ off_peak: true, audio: true, model: 'videoq2-pro' }], {
    ...error(400, 'incompatible_fields'),
    reason: 'FieldUnwanted',
  }),
  ...extensions(65, [
    { model: 'videoq3-pro' },
    { model: '' },
    ...[0, 8, '5', 2.5].map((duration) => ({ duration })),
    { resolution: '360p' },
    { resolution: '2K' },
    { prompt: 'x'.repeat(2001) },
    { video_creation_id: 5 },
    { video_creation_id: '' },
    { video_url: '' },
  ]),
  ...extensions(65, [{ model: undefined }, { model: null }], lacking),
  ...extensions(65, [{ images: [ADDRESS, ADDRESS] }], count),
  ...extensions(66, [{ video_creation_id: null }, { video_url: null }], lacking),
  rowOf(66, 'extend with no source', ofExtend({}), lacking),
  ...[
    rowOf(66, 'extend (any) with no source', ofExtend({}), {
      ...lacking,
      field: '/video_creation_id must be given',
    }),
    ...[UNKNOWN, 'abc', "'", 'x'.repeat(256)].map((id) =>
      rowOf(
        67,
        `extend (any) by ${id.slice(0, 40)} alone`,
        ofExtend({ video_creation_id: id }),
        noTask,
      ),
    ),
    rowOf(67, "extend (any) by another owner's id alone", ofExtendOf('othersVideo'), noTask),
    rowOf(67, 'extend (any) by the id of an image task alone', ofExtendOf('ownTask'), noTask),
    rowOf(67, 'extend (any) by a task without a video alone', ofExtendOf('failedVideo'), {
      ...invalid,
      field: '/video_creation_id must name a task in success',
    }),
    rowOf(
      68,
      'too few credits',
      { path: TEXT, body: ({ picture }) => ({ images: [picture], payload: 'x' }) },
      { status: 402, error: 'insufficient_credits', reason: 'CreditInsufficient' },
    ),
  ].map((row) => ({ ...row, limited: true as const })),
  rowOf(68, 'cancel of a finished task', cancelOf('ownVideo', {}), hasEnded('success')),
  rowOf(68, 'cancel of a failed task', cancelOf('failedVideo'), hasEnded('failed')),
  rowOf(68, 'cancel with the id of another task', cancelOf('ownVideo', { id: UNKNOWN }), {
    ...invalid,
    field: '/id must be the id in the path',
  }),
  ...[UNKNOWN, 'abc', '%25', 'x'.repeat(300)].flatMap((id) =>
    reads(51, () => id, `the unknown video task ${id.slice(0, 40)}`),
  ),
  ...reads(51, ({ ownTask }) => ownTask, 'an image task as a video task'),
  ...reads(28, ({ othersVideo }) => othersVideo, "another owner's video task"),
  ...reads(28, ({ ownVideo }) => ownVideo, "an owner's video task without a credential").map(
    (row) => ({ ...row, credential: false as const }),
  ),
  ...queries(80, [
    ...['0', '101', '1.5', 'x', '', '1e1'].map((size) => `pager.pagesz=${size}`),
    'pager.pagesz=5&pager.pagesz=5',
    ...['-1', 'x', '1.5'].map((page) => `pager.page=${page}`),
    'pager.page=1001',
    'pager.page=101&pager.pagesz=100',
    ...['x', 'IA', Buffer.from(`1 ${UNKNOWN} x`).toString('base64url'), 'x'.repeat(1025)].map(
      (token) => `pager.page_token=${token}`,
    ),
    ...['yesterday', '2026-02-30T00:00:00Z', '1767225600', ''].map((at) => `created_at.from=${at}`),
    'created_at.to=2026-01-01',
  ]),
  ...queries(80, [
    'states=done',
    'states=success,x',
    'states=',
    'model_versions=q9',
    'resolutions=4K',
  ]),
  ...queries(80, ['task_ids='], { ...invalid, field: '?task_ids/0' }),
  rowOf(80, 'a list without credential and task_ids', ofGet('/tasks'), {
    ...lacking,
    credential: false,
    field: '?task_ids must be given',
  }),
  ...[
    rowOf(13, 'PATCH of a video route', { method: 'PATCH', path: TEXT }, notAllowed(/^POST$/)),
    rowOf(15, '%00 in a path of a video route', ofGet('/tasks/%00/creations'), {
      status: 400,
      error: 'path_invalid',
    }),
    rowOf(
      1,
      'text/plain at a video route',
      { path: TEXT, ...typed('text/plain', 'x') },
      { status: 415, error: 'unsupported_media_type' },
    ),
    rowOf(
      4,
      'a body of a video route that is no JSON',
      { path: TEXT, ...typed('application/json', '{') },
      { status: 400, error: 'json_invalid' },
    ),
    rowOf(
      10,
      'a request to a video route without a Host',
      { raw: `GET ${VIDEO_API}/credits HTTP/1.1\r\nConnection: close\r\n\r\n` },
      { status: 400, error: 'bad_request' },
    ),
  ].map((row) => ({ ...row, reason: 'BadRequest' })),
  rowOf(14, 'an unknown path below the video routes', ofGet('/nowhere'), {
    status: 404,
    error: 'not_found',
    reason: 'NotFound',
  }),
]
