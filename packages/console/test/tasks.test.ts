import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, describe, test } from 'node:test'

import { findNew, patchPages } from '../src/tasks/list-rows.ts'
import { makeLines, makeTimeline, secondsLeft } from '../src/tasks/timeline.ts'
import type { Life } from '../src/tasks/timeline.ts'
import type { TaskItem } from '../src/tasks/types.ts'
import { missing, onlyChanges, optionsFor, readFields, normalize } from '../src/try/form.ts'
import type { Field } from '../src/try/form.ts'
import { KINDS } from '../src/try/kinds.ts'
import { schemaOf } from '../src/try/schema.ts'
import type { Body, JsonSchema } from '../src/try/schema.ts'
import { toCurl, toPythonCode, toTypeScript } from '../src/try/snippets.ts'
import { makeKiln } from '../../client/src/index.ts'
import { readDocument } from '../../../test/support/contract.ts'

type Form = { schema: JsonSchema; fields: Field[] }

const forms = new Map<string, Form>()

before(async () => {
  const document = await readDocument()
  for (const { id, path } of KINDS) {
    const schema = schemaOf(document as never, path)
    if (schema) forms.set(id, { schema, fields: readFields(schema) })
  }
})

const formOf = (id: string): Form => forms.get(id) as Form
const fieldOf = (id: string, name: string): Field =>
  formOf(id).fields.find((field) => field.name === name) as Field
const optionsOf = (id: string, name: string, body: Body): readonly unknown[] =>
  optionsFor(formOf(id).schema, fieldOf(id, name), body)

describe('the form of a kind', () => {
  test('there is one for every creation, whose function the client has', () => {
    const kiln = makeKiln({ baseUrl: 'http://127.0.0.1' }) as object
    const ids = KINDS.map(({ id }) => id)
    assert.deepEqual([...forms.keys()], ids)
    for (const { call } of KINDS) assert.ok(call in kiln, call)
  })

  const CONTROLS: [id: string, name: string, control: object][] = [
    ['relight', 'image', { is: 'files', accept: 'image/*', count: 1, isList: false }],
    ['relight', 'prompt', { is: 'text', rows: 3, maxLength: 10_000 }],
    ['relight', 'light_transfer_strength', { is: 'range', min: 0, max: 100, step: 1 }],
    ['relight', 'change_background', { is: 'switch' }],
    ['upscale', 'scale_factor', { is: 'choice', options: ['2x', '4x', '8x', '16x'] }],
    ['upscale_precision', 'scale_factor', { is: 'range', min: 2, max: 16, step: 1 }],
    ['text2video', 'audio', { is: 'choice', options: [true, false] }],
    ['text2video', 'seed', { is: 'number', min: 0, max: 2_147_483_647 }],
    ['text2video', 'wm_position', { is: 'choice', options: [1, 2, 3, 4] }],
    ['start-end2video', 'images', { is: 'files', accept: 'image/*', count: 2, isList: true }],
    ['extend', 'video_url', { is: 'files', accept: 'video/*', count: 1, isList: false }],
  ]
  for (const [id, name, control] of CONTROLS)
    test(`${id} has ${name} as ${JSON.stringify(control)}`, () =>
      assert.deepEqual(fieldOf(id, name).control, control))

  test('an object is a group of fields under Advanced, which issues name by their pointer', () => {
    const { control, isRare } = fieldOf('relight', 'advanced_settings')
    assert.ok(control.is === 'group' && isRare)
    assert.ok(control.fields.some(({ pointer }) => pointer === '/advanced_settings/whites'))
  })

  test('lengths, resolutions and off-peak follow the model', () => {
    const of = (name: string, body: Body) => optionsOf('text2video', name, body)
    assert.deepEqual(of('duration', { model: 'videoq1' }), [5])
    assert.deepEqual(of('duration', { model: 'video2.0' }), [4, 8])
    assert.deepEqual(of('resolution', { model: 'video2.0', duration: 8 }), ['720p'])
    assert.deepEqual(of('resolution', {}), ['540p', '720p', '1080p'])
    assert.deepEqual(of('resolution', { images: ['x'] }), ['540p', '720p', '1080p', '2K'])
    assert.deepEqual(of('off_peak', { model: 'videoq2', audio: true }), [false])
    assert.equal(of('duration', {}).length, 16)
  })

  test('what another model has not is taken away, and nothing else', () => {
    const { schema, fields } = formOf('text2video')
    const kept = { model: 'videoq1', prompt: 'x', aspect_ratio: '1:1' }
    const body = { ...kept, duration: 9, resolution: '720p' }
    assert.deepEqual(normalize(schema, fields, body), kept)
  })

  test('two pictures that exclude each other leave all other choices', () => {
    const { schema, fields } = formOf('relight')
    const body = {
      image: 'https://a.example/x.png',
      transfer_light_from_reference_image: 'https://a.example/y.png',
      transfer_light_from_lightmap: 'https://a.example/z.png',
      style: 'brighter',
    }
    assert.deepEqual(normalize(schema, fields, body), body)
  })

  test('a body that was kept gives what differs from the defaults', () => {
    const kept = {
      image: 'https://a.example/x.png',
      style: 'standard',
      light_transfer_strength: 80,
      advanced_settings: { whites: 50, blacks: 60 },
      gone: 1,
    }
    assert.deepEqual(onlyChanges(formOf('relight').fields, kept), {
      image: 'https://a.example/x.png',
      light_transfer_strength: 80,
      advanced_settings: { blacks: 60 },
    })
  })

  test('what is required and not there is named, each place of a list', () => {
    const missingOf = (id: string, body: Body) =>
      missing(formOf(id).fields, body).map(({ name }) => name)
    assert.deepEqual(missingOf('relight', {}), ['image'])
    assert.deepEqual(missingOf('start-end2video', { images: ['a'] }), ['images'])
    assert.deepEqual(missingOf('start-end2video', { images: ['a', 'b'] }), [])
    assert.deepEqual(missingOf('text2video', {}), [])
  })
})

describe('a request as code', () => {
  const body = {
    image: "https://a.example/it's.png",
    prompt: 'line 1\n  "quoted": $HOME `id` \\ ünï 😀',
    fixed: true,
    off: false,
    advanced_settings: { whites: 60, list: [1, null] },
  }
  const [kind] = KINDS
  assert.ok(kind)
  const request = { origin: 'https://kiln.example.com', kind, body }

  test('a shell gives curl the very body', () => {
    const code = `curl() { for last; do :; done; printf %s "$last"; }\n${toCurl(request)}`
    assert.deepEqual(JSON.parse(execFileSync('sh', ['-c', code], { encoding: 'utf8' })), body)
  })

  test('TypeScript evaluates to the very body', async () => {
    const code = toTypeScript(request)
    const literal = /kiln\.relight\((.*)\)\nconst ended/s.exec(code)?.[1] ?? ''
    const module = `data:text/javascript,${encodeURIComponent(`export const body = ${literal}`)}`
    const read = (await import(module)) as { body: unknown }
    assert.deepEqual(read.body, body)
    assert.match(literal, /^  advanced_settings: \{$/m)
  })

  test('Python has its own words', () => {
    const code = toPythonCode(request)
    for (const line of ['"fixed": True,', '"off": False,', 'None,', String.raw`it's.png`])
      assert.ok(code.includes(line), line)
    assert.ok(code.includes(JSON.stringify(body.prompt)))
  })
})

const at = (seconds: number): string => new Date(1_800_000_000_000 + seconds * 1000).toISOString()

/** Made at 0, rendered from 1 to 3, again from 4 to 8. */
const LIFE = {
  state: 'done',
  created_at: at(0),
  ended_at: at(8),
  moves: [
    { event_id: 'a', sequence: 1, status: 'CREATED', state: 'waiting', at: at(0) },
    { event_id: 'b', sequence: 2, status: 'IN_PROGRESS', state: 'running', at: at(1) },
    { event_id: 'c', sequence: 3, status: 'COMPLETED', state: 'done', at: at(8) },
  ],
  attempts: [
    { number: 1, started_at: at(1), ended_at: at(3), outcome: 'failed', error: 'engine_failed' },
    { number: 2, started_at: at(4), ended_at: at(8), outcome: 'done' },
  ],
} satisfies Life

describe('the timeline of a task', () => {
  const kinds = (life: Life, now = at(8)): string[] =>
    makeTimeline(life, [], Date.parse(now)).bars.map(({ kind, seconds }) => `${kind} ${seconds}`)
  const widthOf = ({ bars }: Pick<ReturnType<typeof makeTimeline>, 'bars'>): number =>
    bars.reduce((sum, { width }) => sum + width, 0)

  test('waits and tries follow each other and fill it', () => {
    assert.deepEqual(kinds(LIFE), ['wait 1', 'failed 2', 'wait 1', 'done 4'])
    assert.equal(widthOf(makeTimeline(LIFE, [], 0)), 1)
  })

  test('what goes on lasts until now; a lost attempt until the next', () => {
    const [first] = LIFE.attempts
    assert.ok(first)
    const attempt = { number: 1, started_at: at(2), outcome: 'running' } as const
    const { ended_at: _, ...going } = { ...LIFE, state: 'running' as const, attempts: [attempt] }
    assert.deepEqual(kinds(going, at(12)), ['wait 2', 'running 10'])
    const lost = { number: 1, started_at: at(1), outcome: 'lost' } as const
    const once = { ...LIFE, attempts: [lost, ...LIFE.attempts.slice(1)] }
    assert.deepEqual(kinds(once), ['wait 1', 'lost 3', 'done 4'])
  })

  test('hours between two deliveries are folded, and squeeze nothing', () => {
    const failed = { started_at: at(9), error_class: 'timeout' as const }
    const { bars, dots, folds } = makeTimeline(LIFE, [failed, { started_at: at(7209) }], 0)
    assert.deepEqual([folds.length, folds[0]?.seconds], [1, 7200])
    assert.ok(widthOf({ bars }) > 0.7)
    assert.ok((dots[0]?.left ?? 0) < (dots[1]?.left ?? 0))
    assert.equal(dots[1]?.left, 1)
  })

  test('a task in words has its transitions, the attempts that failed and those after them', () => {
    assert.deepEqual(makeLines(LIFE), [
      { at: at(0), status: 'CREATED', after: 0 },
      { at: at(1), status: 'IN_PROGRESS', after: 1 },
      { at: at(3), number: 1, error: 'engine_failed', after: 2 },
      { at: at(4), number: 2, after: 1 },
      { at: at(8), status: 'COMPLETED', after: 4 },
    ])
    const cancelled: Life = { ...LIFE, state: 'cancelled' }
    assert.equal(makeLines(cancelled).at(-1)?.status, 'cancelled')
  })
})

test('the time left of a task is estimated by similar ones, and past that by its progress', () => {
  const of = (family: 'image' | 'video', progress: number, estimate?: number) =>
    secondsLeft({ family, progress, ...(estimate && { estimated_seconds: estimate }) }, 8)
  assert.equal(of('video', 16, 20), 12)
  assert.equal(of('video', 16, 5), 42)
  assert.equal(of('video', 16), 42)
  assert.equal(of('video', 0, 5), undefined)
  assert.equal(of('image', 0, 8.5), 0.5)
  assert.equal(of('image', 0), undefined)
})

describe('the rows of a list', () => {
  const task = (task_id: string, made: number, more: Partial<TaskItem> = {}): TaskItem => {
    const common = { kind: 'relight', state: 'queued', rev: 1, progress: 0 } as TaskItem
    return { ...common, task_id, created_at: at(made), ...more }
  }
  const pages = { pages: [{ tasks: [task('b', 2), task('a', 1)] }], pageParams: [''] }

  test('a newer state takes the place of an older one, and progress never falls', () => {
    const changed = [
      task('a', 1, { rev: 3, state: 'running', progress: 40 }),
      task('b', 2, { rev: 0, state: 'done' }),
    ]
    const once = patchPages(pages, changed)
    const states = once.pages[0]?.tasks.map(({ state }) => state)
    assert.deepEqual(states, ['queued', 'running'])
    const twice = patchPages(once, [task('a', 1, { rev: 4, state: 'running', progress: 30 })])
    assert.equal(twice.pages[0]?.tasks[1]?.progress, 40)
  })

  test('new is what stands above the first row and passes the filter', () => {
    const changed = [task('c', 3), task('z', 0), task('d', 4, { kind: 'upscale' }), task('b', 2)]
    assert.deepEqual(findNew(pages, {}, changed), ['c', 'd'])
    assert.deepEqual(findNew(pages, { kind: 'upscale,extend' }, changed), ['d'])
    assert.deepEqual(findNew(pages, { state: 'done' }, changed), [])
    assert.deepEqual(findNew(pages, { q: 'x' }, changed), [])
    assert.deepEqual(findNew({ ...pages, pageParams: ['later'] }, {}, changed), [])
  })
})
