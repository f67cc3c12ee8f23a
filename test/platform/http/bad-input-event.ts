import {
  error,
  INVALID,
  NO_TASK,
  notAllowed,
  ofGet,
  rowOf,
  typed,
  UNAUTHORIZED,
  UNKNOWN,
} from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'

const ROTATE = '/webhook-secret/rotate'
const SINCE = '/events/redeliver'

const noEvent = error(404, 'event_not_found')

/** The two routes of one event. */
const ofEvent = (
  row: number,
  what: string,
  ids: (world: World) => [task: string, event: string],
  expected: typeof NO_TASK,
): Row[] =>
  (
    [
      ['GET', 'attempts'],
      ['POST', 'redeliver'],
    ] as const
  ).map(([method, last]) => {
    const path = (world: World) => `/tasks/${ids(world).join('/events/')}/${last}`
    return rowOf(row, `${last} of ${what}`, { method, path }, expected)
  })

/** All routes below a task. */
const ofTask = (row: number, what: string, task: (world: World) => string): Row[] => [
  rowOf(
    row,
    `events of ${what}`,
    ofGet((world) => `/tasks/${task(world)}/events`),
    NO_TASK,
  ),
  ...ofEvent(row, what, (world) => [task(world), world.othersEvent], NO_TASK),
]

const METHODS: [method: string, path: string, allow: RegExp][] = [
  ['POST', `/tasks/${UNKNOWN}/events`, /^GET, HEAD$/],
  ['DELETE', `/tasks/${UNKNOWN}/events`, /^GET, HEAD$/],
  ['POST', `/tasks/${UNKNOWN}/events/${UNKNOWN}/attempts`, /^GET, HEAD$/],
  ['GET', `/tasks/${UNKNOWN}/events/${UNKNOWN}/redeliver`, /^POST$/],
  ['GET', SINCE, /^POST$/],
  ['PUT', SINCE, /^POST$/],
  ['POST', '/webhook-secret', /^GET, HEAD$/],
  ['DELETE', '/webhook-secret', /^GET, HEAD$/],
  ['GET', ROTATE, /^POST$/],
  ['PATCH', ROTATE, /^POST$/],
]

const NO_TIMES: unknown[] = [
  5,
  '',
  'x',
  true,
  null,
  ['2026-01-01T00:00:00Z'],
  {},
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00+24:00',
  '99999-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
]

const json = (body: string) => typed('application/json', body)
const noKey = { headers: { 'idempotency-key': '"abc' } }

const bodies = (path: string): Row[] =>
  [
    ...['[]', '"x"', '5', 'null'].map((body) =>
      rowOf(6, body, json(body), error(400, 'json_invalid')),
    ),
    rowOf(1, 'text', typed('text/plain', '{}'), error(415, 'unsupported_media_type')),
    rowOf(
      9,
      'more than 1 MiB',
      json(`{"a": "${'x'.repeat(2 ** 20)}"}`),
      error(413, 'body_too_large'),
    ),
    rowOf(30, 'a key in half a quote', noKey, error(400, 'idempotency_key_invalid')),
  ].map((row) => ({ ...row, path, what: `${path} with ${row.what}` }))

const BAD_QUERIES: Record<string, string[]> = {
  '/tasks': [
    'kind=image',
    'kind=',
    'state=CREATED',
    'state=running,',
    `q=${'x'.repeat(201)}`,
    'q=%00',
    'from=yesterday',
    'to=2026-02-30T00:00:00Z',
    'limit=0',
    'limit=101',
    'limit=1&limit=2',
    'after=x',
    `after=${Buffer.from('1 2').toString('base64url')}`,
  ],
  '/events': ['state=lost', 'after=x', 'limit=x'],
}

const badToken = { headers: { authorization: 'Bearer x' } }
const nobody = { credential: false as const }
const eventsOfOwn = ofGet(({ ownTask }) => `/tasks/${ownTask}/events`)
const redeliverOwn = ({ ownTask, ownEvent }: World) =>
  `/tasks/${ownTask}/events/${ownEvent}/redeliver`

/** Rows about events, their redelivery, and the secrets that sign. */
export const EVENT_ROWS: Row[] = [
  ...ofEvent(
    33,
    "another owner's event under one's own task",
    ({ ownTask, othersEvent }) => [ownTask, othersEvent],
    noEvent,
  ),
  ...ofEvent(
    33,
    'an event of another task of its owner',
    ({ ownVideo, ownEvent }) => [ownVideo, ownEvent],
    noEvent,
  ),
  ...[UNKNOWN, 'abc', '2', `${UNKNOWN}0`].flatMap((event) =>
    ofEvent(33, `event ${event}`, ({ ownTask }) => [ownTask, event], noEvent),
  ),
  ...ofTask(28, "another owner's task", ({ othersTask }) => othersTask),
  ...ofTask(28, "another owner's video task", ({ othersVideo }) => othersVideo),
  ...[UNKNOWN, 'abc', '1'].flatMap((task) => ofTask(51, `task ${task}`, () => task)),
  rowOf(
    28,
    "events of an image task without its owner's credential",
    { ...eventsOfOwn, ...nobody },
    NO_TASK,
  ),
  rowOf(15, '%ff in the path of events', ofGet('/tasks/%ff/events'), error(400, 'path_invalid')),
  rowOf(
    33,
    'redeliver of an event whose task names no address',
    { path: redeliverOwn },
    error(409, 'not_deliverable'),
  ),
  ...[-1, 604_801, 1.5, '1', true, [], {}, 1e300].map((value) => ({
    row: 34,
    what: `overlap_seconds ${JSON.stringify(value)}`,
    path: ROTATE,
    body: { overlap_seconds: value },
    field: '/overlap_seconds must be',
    ...INVALID,
  })),
  ...[{}, ...NO_TIMES.map((since) => ({ since }))].map((body) => ({
    row: 34,
    what: `redeliver since ${JSON.stringify(body)}`,
    path: SINCE,
    body,
    field: 'since' in body ? '/since must be' : '/all must be',
    ...INVALID,
  })),
  rowOf(3, `${SINCE} without a body`, { path: SINCE }, error(400, 'body_required')),
  ...[ROTATE, SINCE, `/tasks/${UNKNOWN}/events/${UNKNOWN}/redeliver`].flatMap(bodies),
  ...METHODS.map(([method, path, allow]) =>
    rowOf(13, `${method} ${path.replaceAll(UNKNOWN, '…')}`, { method, path }, notAllowed(allow)),
  ),
  ...[ofGet('/webhook-secret'), { path: ROTATE }, { path: SINCE }].flatMap((sent) => [
    rowOf(18, `${String(sent.path)} without a credential`, { ...sent, ...nobody }, UNAUTHORIZED),
    rowOf(19, `${String(sent.path)} with a bad token`, { ...sent, ...badToken }, UNAUTHORIZED),
  ]),
  rowOf(26, 'events with a bad token', { ...eventsOfOwn, ...badToken }, UNAUTHORIZED),
  ...ofEvent(
    26,
    'an event with a bad token',
    ({ ownTask, ownEvent }) => [ownTask, ownEvent],
    UNAUTHORIZED,
  ).map((row) => ({ ...row, ...badToken })),
  rowOf(
    14,
    'the path of an event',
    ofGet(`/tasks/${UNKNOWN}/events/${UNKNOWN}`),
    error(404, 'not_found'),
  ),
  ...['/tasks', '/tasks/summary', '/usage', '/events', '/admin/tasks'].map((path) =>
    rowOf(18, `${path} without a credential`, { ...ofGet(path), ...nobody }, UNAUTHORIZED),
  ),
  ...[UNKNOWN, 'abc'].map((id) => rowOf(51, `the task ${id}`, ofGet(`/tasks/${id}`), NO_TASK)),
  rowOf(
    28,
    "another owner's task of any kind",
    ofGet(({ othersTask }) => `/tasks/${othersTask}`),
    NO_TASK,
  ),
  rowOf(
    28,
    'the tasks of all owners, asked for by no admin',
    ofGet('/admin/tasks'),
    error(403, 'forbidden'),
  ),
  ...Object.entries(BAD_QUERIES).flatMap(([path, queries]) =>
    queries.map((query) => ({
      row: 34,
      what: `${path}?${query}`,
      ...ofGet(`${path}?${query}`),
      field: `?${query.split('=', 1).join('')}`,
      ...INVALID,
    })),
  ),
]
