import { notAllowed, rowOf } from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'

const UNKNOWN = '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'
const ROTATE = '/webhook-secret/rotate'
const SINCE = '/events/redeliver'

const invalid = { status: 400, error: 'validation_failed' }
const noTask = { status: 404, error: 'task_not_found' }
const noEvent = { status: 404, error: 'event_not_found' }
const unauthorized = {
  status: 401,
  error: 'unauthorized',
  header: ['www-authenticate', /^Bearer$/] as [string, RegExp],
}

/** The two routes of one event. */
const ofEvent = (
  row: number,
  what: string,
  ids: (world: World) => { task: string; event: string },
  expected: Pick<Row, 'status' | 'error'>,
): Row[] =>
  [
    { method: 'GET', last: 'attempts' },
    { method: 'POST', last: 'redeliver' },
  ].map(({ method, last }) => ({
    row,
    what: `${last} of ${what}`,
    method,
    path: (world) => {
      const { task, event } = ids(world)
      return `/tasks/${task}/events/${event}/${last}`
    },
    ...expected,
  }))

/** All routes below a task. */
const ofTask = (row: number, what: string, task: (world: World) => string): Row[] => [
  {
    row,
    what: `events of ${what}`,
    method: 'GET',
    path: (world) => `/tasks/${task(world)}/events`,
    ...noTask,
  },
  ...ofEvent(row, what, (world) => ({ task: task(world), event: world.othersEvent }), noTask),
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

const NO_KEY = { headers: { 'idempotency-key': '"abc' } }
const typed = (type: string, body: string) => ({ headers: { 'content-type': type }, body })
const json = (body: string) => typed('application/json', body)
const tooLarge = json(`{"a": "${'x'.repeat(2 ** 20)}"}`)

const bodies = (path: string): Row[] =>
  [
    ...['[]', '"x"', '5', 'null'].map((body) =>
      rowOf(6, body, json(body), { status: 400, error: 'json_invalid' }),
    ),
    rowOf(1, 'text', typed('text/plain', '{}'), { status: 415, error: 'unsupported_media_type' }),
    rowOf(9, 'more than 1 MiB', tooLarge, { status: 413, error: 'body_too_large' }),
    rowOf(30, 'a key in half a quote', NO_KEY, { status: 400, error: 'idempotency_key_invalid' }),
  ].map((row) => ({ ...row, path, what: `${path} with ${row.what}` }))

const BAD_QUERIES: [path: string, query: string][] = [
  ['/tasks', 'kind=image'],
  ['/tasks', 'kind='],
  ['/tasks', 'state=CREATED'],
  ['/tasks', 'state=running,'],
  ['/tasks', 'from=yesterday'],
  ['/tasks', 'to=2026-02-30T00:00:00Z'],
  ['/tasks', `q=${'x'.repeat(201)}`],
  ['/tasks', 'q=%00'],
  ['/tasks', 'after=x'],
  ['/tasks', `after=${Buffer.from('1 2').toString('base64url')}`],
  ['/tasks', 'limit=0'],
  ['/tasks', 'limit=101'],
  ['/tasks', 'limit=1&limit=2'],
  ['/events', 'state=lost'],
  ['/events', 'after=x'],
  ['/events', 'limit=x'],
]

const BAD_TOKEN = { authorization: 'Bearer x' }

const nobody = { ...unauthorized, credential: false as const }
const ofGet = (path: string) => ({ method: 'GET', path })
const OWN_EVENTS = {
  method: 'GET',
  path: ({ ownTask }: World) => `/tasks/${ownTask}/events`,
}

/** Rows about events, their redelivery, and the secrets that sign. */
export const EVENT_ROWS: Row[] = [
  ...ofEvent(
    33,
    "another owner's event under one's own task",
    ({ ownTask, othersEvent }) => ({ task: ownTask, event: othersEvent }),
    noEvent,
  ),
  ...ofEvent(
    33,
    'an event of another task of its owner',
    ({ ownVideo, ownEvent }) => ({ task: ownVideo, event: ownEvent }),
    noEvent,
  ),
  ...[UNKNOWN, 'abc', '2', `${UNKNOWN}0`].flatMap((event) =>
    ofEvent(33, `event ${event}`, ({ ownTask }) => ({ task: ownTask, event }), noEvent),
  ),
  ...ofTask(28, "another owner's task", ({ othersTask }) => othersTask),
  ...ofTask(28, "another owner's video task", ({ othersVideo }) => othersVideo),
  ...[UNKNOWN, 'abc', '1'].flatMap((task) => ofTask(51, `task ${task}`, () => task)),
  rowOf(28, "events of an image task without its owner's credential", OWN_EVENTS, {
    credential: false,
    ...noTask,
  }),
  rowOf(15, '%ff in the path of events', ofGet('/tasks/%ff/events'), {
    status: 400,
    error: 'path_invalid',
  }),
  rowOf(
    33,
    'redeliver of an event whose task names no address',
    { path: ({ ownTask, ownEvent }) => `/tasks/${ownTask}/events/${ownEvent}/redeliver` },
    { status: 409, error: 'not_deliverable' },
  ),
  ...[-1, 604_801, 1.5, '1', true, [], {}, 1e300].map((value) => ({
    row: 34,
    what: `overlap_seconds ${JSON.stringify(value)}`,
    path: ROTATE,
    body: { overlap_seconds: value },
    field: '/overlap_seconds must be',
    ...invalid,
  })),
  ...[{}, ...NO_TIMES.map((since) => ({ since }))].map((body) => ({
    row: 34,
    what: `redeliver since ${JSON.stringify(body)}`,
    path: SINCE,
    body,
    field: '/since must be',
    ...invalid,
  })),
  rowOf(3, `${SINCE} without a body`, { path: SINCE }, { status: 400, error: 'body_required' }),
  ...[ROTATE, SINCE, `/tasks/${UNKNOWN}/events/${UNKNOWN}/redeliver`].flatMap(bodies),
  ...METHODS.map(([method, path, allow]) => ({
    row: 13,
    what: `${method} ${path.replaceAll(UNKNOWN, '…')}`,
    method,
    path,
    ...notAllowed(allow),
  })),
  ...[ofGet('/webhook-secret'), { path: ROTATE }, { path: SINCE }].flatMap((request) => [
    rowOf(18, `${request.path} without a credential`, request, nobody),
    rowOf(19, `${request.path} with a bad token`, { ...request, headers: BAD_TOKEN }, unauthorized),
  ]),
  rowOf(26, 'events with a bad token', { ...OWN_EVENTS, headers: BAD_TOKEN }, unauthorized),
  ...ofEvent(
    26,
    'an event with a bad token',
    ({ ownTask, ownEvent }) => ({ task: ownTask, event: ownEvent }),
    unauthorized,
  ).map((row) => ({ ...row, headers: BAD_TOKEN })),
  rowOf(14, 'the path of an event', ofGet(`/tasks/${UNKNOWN}/events/${UNKNOWN}`), {
    status: 404,
    error: 'not_found',
  }),
  ...['/tasks', '/tasks/summary', '/events', '/admin/tasks'].map((path) =>
    rowOf(18, `${path} without a credential`, ofGet(path), nobody),
  ),
  ...[UNKNOWN, 'abc'].map((task) => rowOf(51, `the task ${task}`, ofGet(`/tasks/${task}`), noTask)),
  rowOf(
    28,
    "another owner's task of any kind",
    { method: 'GET', path: ({ othersTask }) => `/tasks/${othersTask}` },
    noTask,
  ),
  rowOf(28, 'the tasks of all owners, asked for by no admin', ofGet('/admin/tasks'), {
    status: 403,
    error: 'forbidden',
  }),
  ...BAD_QUERIES.map(([path, query]) => ({
    row: 34,
    what: `${path}?${query}`,
    method: 'GET',
    path: `${path}?${query}`,
    field: `?${query.split('=', 1).join('')}`,
    ...invalid,
  })),
]
