import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, describe, test } from 'node:test'

import { stateOf } from '../src/tasks/delivery-state.ts'
import { describeFilter, operationBody, toApiFilter } from '../src/tasks/filter.ts'
import { findNew, patchPages, type TaskFilter } from '../src/tasks/list-rows.ts'
import {
  aboutLeft,
  aboutTime,
  aboutWait,
  isForSlot,
  isOwnLimit,
  makeBars,
  makeLines,
  secondsLeft,
  secondsRendered,
  sumUp,
} from '../src/tasks/timeline.ts'
import type { Life } from '../src/tasks/timeline.ts'
import type { TaskDetail, TaskItem } from '../src/tasks/types.ts'
import {
  findIneffective,
  missing,
  normalize,
  onlyChanges,
  optionsFor,
  readFields,
  startFrom,
  withPresets,
} from '../src/try/form.ts'
import type { Choice, Field } from '../src/try/form.ts'
import { firstKind, KINDS } from '../src/try/kinds.ts'
import { schemaOf } from '../src/try/schema.ts'
import type { Body, JsonSchema } from '../src/try/schema.ts'
import { toCurl, toPythonCode, toTypeScript } from '../src/try/snippets.ts'
import { labelOf, LIGHTS, unsetWord, wordOf } from '../src/try/words.ts'
import { instantOf, localTime } from '../src/ui/local-time.ts'
import { withoutAdvice } from '../src/words/errors.ts'
import { aboutCredits } from '../src/words/text.ts'
import { makeKiln } from '../../client/src/index.ts'
import { errors } from '../../../src/platform/domain/errors.ts'
import { BUSY, describeWait } from '../../../src/tasks/domain/waits-for.ts'
import { isNeutral, readPrompt } from '../../../src/tasks/domain/image/prompt-light.ts'
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
    ['relight', 'image', { is: 'files', accept: 'image/*', least: 1, count: 1, isList: false }],
    ['relight', 'prompt', { is: 'text', rows: 3, maxLength: 10_000 }],
    ['relight', 'light_transfer_strength', { is: 'range', min: 0, max: 100, step: 1 }],
    ['relight', 'change_background', { is: 'switch' }],
    ['upscale', 'scale_factor', { is: 'choice', options: ['2x', '4x', '8x', '16x'] }],
    ['relight', 'kiln_output_quality', { is: 'number', min: 1, max: 100 }],
    ['upscale_precision', 'scale_factor', { is: 'range', min: 2, max: 16, step: 1 }],
    ['text2video', 'audio', { is: 'choice', options: [true, false] }],
    ['text2video', 'seed', { is: 'number', min: 0, max: 2_147_483_647 }],
    ['text2video', 'wm_position', { is: 'choice', options: [1, 2, 3, 4] }],
    [
      'start-end2video',
      'images',
      { is: 'files', accept: 'image/*', least: 2, count: 2, isList: true },
    ],
    ['extend', 'video_url', { is: 'files', accept: 'video/*', least: 1, count: 1, isList: false }],
  ]
  for (const [id, name, control] of CONTROLS)
    test(`${id} has ${name} as ${JSON.stringify(control)}`, () =>
      assert.deepEqual(fieldOf(id, name).control, control))

  test('the page opens on a template, and on what can run here', () => {
    const poster = { name: 'poster', kind: 'custom/poster', path: '', body: {} }
    const first = (unserved: string[]) => firstKind({ templates: [poster], unserved })
    assert.equal(first([]), 'custom/poster')
    assert.equal(first(['custom/poster', 'relight']), 'upscale')
  })

  test('a field has the title that its template gives to it as its label', () => {
    const properties = { strength: { type: 'number', title: 'Depth' }, blend_mode: {} }
    const labels = readFields({ properties }).map(({ label }) => label)
    assert.deepEqual(labels, ['Depth', 'Blend mode'])
  })

  test('a list of texts or of numbers is written by lines', () => {
    const properties = { a: { type: 'array', items: { type: 'string' } } }
    const numbers = { b: { type: ['array', 'null'], items: { type: ['integer', 'null'] } } }
    assert.deepEqual(
      readFields({ properties: { ...properties, ...numbers } }).map(({ control }) => control),
      [
        { is: 'lines', isNumeric: false },
        { is: 'lines', isNumeric: true },
      ],
    )
  })

  test('an object is a group of fields under Advanced, which issues name by their pointer', () => {
    const { control, place } = fieldOf('relight', 'advanced_settings')
    assert.ok(control.is === 'group' && place === 'rare')
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

describe('the words of a form', () => {
  const fullOf = (id: string, body: Body): Body => withPresets(formOf(id).fields, body)
  const idle = (id: string, body: Body = {}): string[] =>
    [...findIneffective(formOf(id).fields, fullOf(id, body))].map(({ name }) => name)

  const LABELS: [id: string, name: string, label: string][] = [
    ['text2video', 'bgm', 'Background music'],
    ['text2video', 'wm_position', 'Watermark corner'],
    ['text2video', 'meta_data', 'Metadata (JSON)'],
    ['img2video', 'images', 'Start image'],
    ['start-end2video', 'images', 'First and last frame'],
    ['relight', 'light_transfer_strength', 'Light transfer strength'],
  ]
  for (const [id, name, label] of LABELS)
    test(`${id} calls ${name} ${label}`, () => assert.equal(fieldOf(id, name).label, label))

  test('no label and no help of any form has the name of a member', () => {
    for (const { fields } of forms.values())
      for (const { label, help, control } of fields)
        for (const one of [label, help, ...(control.is === 'group' ? helps(control.fields) : [])])
          assert.doesNotMatch(one, /[a-z]_[a-z]|Base64|: 1 top/)
  })

  const CHOICES: [name: string, value: Choice, word: string][] = [
    ['style', 'contrasted_n_hdr', 'Contrast + HDR'],
    ['optimized_for', 'art_n_illustration', 'Art & illustration'],
    ['optimized_for', '3d_renders', '3D renders'],
    ['wm_position', 3, 'Bottom right'],
    ['duration', 5, '5 s'],
    ['scale_factor', '2x', '2x'],
    ['model', 'videoq3-pro', 'videoq3-pro'],
    ['audio', false, 'Off'],
  ]
  for (const [name, value, word] of CHOICES)
    test(`${name} ${value} is ${word}`, () => assert.equal(wordOf(name, value), word))

  test('a choice that is not made is called otherwise than the choice `auto`', () => {
    assert.equal(unsetWord('kiln_output_format', undefined, ['png', 'auto']), 'As the kind does')
    assert.equal(unsetWord('style', undefined, ['general', 'anime']), 'Auto')
    assert.equal(unsetWord('duration', 5, [5, 10]), 'Auto (5 s)')
  })

  test('labels leave out the prefix of the service', () => {
    const names = ['kiln_start_after', 'kiln_output_format', 'kiln_priority', 'kiln_labels']
    const labels = ['Start after', 'Output format', 'Priority', 'Labels']
    assert.deepEqual(names.map(labelOf), labels)
  })

  test('what the service chooses by the model is known', () => {
    const of = (body: Body) => {
      const { duration, resolution, audio } = fullOf('text2video', body)
      return [duration, resolution, audio]
    }
    assert.deepEqual(of({}), [5, '720p', true])
    assert.deepEqual(of({ model: 'videoq2' }), [5, '720p', false])
    assert.deepEqual(of({ model: 'videoq1' }), [5, '1080p', false])
    assert.deepEqual(of({ model: 'video2.0' }), [4, '360p', false])
    assert.deepEqual(of({ model: 'video2.0', duration: 8 }), [8, '720p', false])
  })

  test('fields without an effect beside the others are found', () => {
    assert.deepEqual(idle('relight'), ['change_background'])
    assert.deepEqual(idle('upscale'), ['prompt'])
    assert.deepEqual(idle('extend'), ['prompt'])
    const NEVER = ['voice_id', 'enhance']
    const MARK = ['wm_position', 'wm_url']
    const without = (names: string[], all: string[]) => all.filter((one) => !names.includes(one))
    assert.deepEqual(without([...NEVER, ...MARK], idle('text2video')), [
      'audio_type',
      'bgm',
      'movement_amplitude',
      'style',
    ])
    assert.deepEqual(without(MARK, idle('text2video', { model: 'videoq1', audio: true })), [
      'voice_id',
      'bgm',
      'enhance',
    ])
    const long = { model: 'videoq2', duration: 9, watermark: true }
    assert.ok(
      idle('text2video', long).includes('bgm') && !idle('text2video', long).includes(MARK[0] ?? ''),
    )
    assert.ok(!idle('text2video', { ...long, duration: 8 }).includes('bgm'))
    for (const name of ['aspect_ratio', 'is_rec'])
      assert.ok(idle('img2video').includes(name) && !idle('text2video').includes(name))
  })

  test('whatever the document says has no effect somewhere is found there', () => {
    const bodies = [{}, { model: 'videoq2', audio: true }, { images: ['x'] }]
    for (const [id, { fields }] of forms) {
      const names = new Set(bodies.flatMap((body) => idle(id, body)))
      for (const { name, description } of fields)
        if (/no effect(?! in the local engine draws)|changes neither/i.test(description))
          assert.ok(names.has(name), `${id} ${name}`)
    }
  })
})

describe('a form that goes on from a task', () => {
  const task = {
    task_id: 'a',
    kind: 'upscale',
    family: 'image',
    request: { path: '', body: { image: 'https://a.example/in.png', scale_factor: '4x' } },
    results: [{ name: 'upscale.png', url: 'https://a.example/out.png' }],
  } as unknown as TaskDetail
  const from = (id: string, use?: 'result', one = task) =>
    startFrom({ id, use }, formOf(id).fields, one)

  test('repeats it, or takes its result for the next one, of the same kind, too', () => {
    assert.deepEqual(from('upscale'), task.request.body)
    assert.deepEqual(from('upscale', 'result'), { image: 'https://a.example/out.png' })
    assert.deepEqual(from('relight', 'result'), { image: 'https://a.example/out.png' })
    assert.deepEqual(from('img2video', 'result'), { images: ['https://a.example/out.png'] })
  })
})

const helps = (fields: readonly Field[]): string[] =>
  fields.flatMap(({ label, help }) => [label, help])

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
    makeBars(life, Date.parse(now)).map(({ kind, seconds }) => `${kind} ${seconds}`)

  test('waits and attempts follow each other and fill it', () => {
    const bars = makeBars(LIFE, 0)
    assert.deepEqual(kinds(LIFE), ['wait 1', 'failed 2', 'wait 1', 'done 4'])
    assert.deepEqual(sumUp(bars), { waited: 2, ran: 6 })
    assert.equal(aboutTime(sumUp(bars)), 'waited 2.0 s, ran 6.0 s')
    assert.equal(aboutTime({ waited: 29, ran: 0 }), 'waited 29 s')
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

  test('a long wait keeps its length, and one that has not begun is a wait', () => {
    const { ended_at: _, ...waiting } = { ...LIFE, state: 'queued' as const, attempts: [] }
    assert.deepEqual(kinds(waiting, at(7200)), ['wait 7200'])
  })

  test('a task in words has its transitions, the attempts that failed and those after them', () => {
    assert.deepEqual(makeLines(LIFE), [
      { at: at(0), status: 'CREATED', after: 0 },
      { at: at(1), status: 'IN_PROGRESS', after: 1 },
      { at: at(3), number: 1, error: 'engine_failed', after: 2 },
      { at: at(4), number: 2, after: 1 },
      { at: at(8), status: 'COMPLETED', after: 4 },
    ])
    const back = { number: 1, started_at: at(1), ended_at: at(2), outcome: 'put_back' } as const
    assert.deepEqual(makeLines({ ...LIFE, attempts: [back] })[2], {
      at: at(2),
      number: 1,
      error: 'put_back',
      after: 1,
    })
    const cancelled: Life = { ...LIFE, state: 'cancelled' }
    assert.equal(makeLines(cancelled).at(-1)?.status, 'cancelled')
  })
})

test('the time left of a task is estimated by similar ones, and past that by its progress', () => {
  const of = (progress: number, estimate?: number) =>
    secondsLeft({ progress, ...(estimate && { estimated_seconds: estimate }) }, 8)
  assert.equal(of(16, 20), 12)
  assert.equal(of(40, 5), 12)
  assert.equal(of(40), 12)
  // So little may be the loading of a model.
  assert.equal(of(16), undefined)
  assert.equal(of(0, 8.5), 0.5)
  assert.equal(of(0), undefined)
})

test('the words beside a bar agree with it', () => {
  assert.equal(aboutLeft(12.4, 0.2), 'about 12 s left')
  assert.equal(aboutLeft(0.6, 0.25), 'Rendering')
  assert.equal(aboutLeft(0.6, 0.8), 'Almost done')
  assert.equal(aboutLeft(undefined, undefined), 'Rendering')
})

test('a wait is said by those before it, and that it is longer than they were', () => {
  const lately = { p50: 12, p95: 120 }
  assert.equal(aboutWait(lately, 3), 'usually starts after about 12 s')
  assert.equal(aboutWait(lately, 13), 'longer than usual: nearly all start within 2 min')
  assert.equal(aboutWait({ p50: null, p95: null }, 3), undefined)
})

test('a wait for others of the same account is known by the sentence of the service', () => {
  const sentenceOf = (reason: string) => describeWait([reason]).waits_for
  assert.ok(isForSlot(sentenceOf('slot')))
  for (const reason of ['slot', 'behind', 'turn']) assert.ok(isOwnLimit(sentenceOf(reason)), reason)
  assert.ok(!isOwnLimit(sentenceOf(BUSY)) && !isForSlot(sentenceOf('turn')))
})

test('a limit is said once, in words of people', () => {
  const of = ({ code, message }: { code: string; message: string }) => withoutAdvice(code, message)
  assert.equal(
    of(errors.insufficientCredits(40, 3)),
    'The task costs 40 credits, and you have 3 left.',
  )
  assert.equal(of(errors.taskQuotaExceeded(5, 5)), 'You have 5 open tasks and may have 5.')
  assert.equal(
    of(errors.byteQuotaExceeded(10)),
    'You may have 10 bytes stored, and this would be more.',
  )
})

test('a help has no backticks', () => {
  for (const { fields } of forms.values())
    for (const { help } of fields) assert.doesNotMatch(help, /`/)
})

test('credits are said with their limit', () => {
  assert.equal(aboutCredits({ credit_used: 960, credit_remain: 4040 }), '960 of 5,000 credits')
  assert.equal(aboutCredits({ credit_used: 1, credit_remain: null }), '1 credit used, no limit')
})

test('a time goes through a field as the clock beside the screen has it', () => {
  const local = localTime('2026-11-30T10:20:30.000Z')
  assert.match(local, /^2026-\d\d-\d\dT\d\d:\d\d$/)
  assert.equal(instantOf(local), '2026-11-30T10:20:00.000Z')
  assert.equal(instantOf('soon'), 'soon')
})

test('a task has been rendered since a machine last took it', () => {
  const started_at = at(1)
  const now = Date.parse(at(5))
  assert.equal(secondsRendered({}, now), 0)
  assert.equal(secondsRendered({ started_at }, now), 4)
  assert.equal(secondsRendered({ started_at, placed_at: at(3) }, now), 2)
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

  test('a row waits for a machine no longer than it says', () => {
    const waits = task('a', 1, { rev: 2, owner: 'bob', waits_for: 'a machine' })
    const once = patchPages({ ...pages, pages: [{ tasks: [waits] }] }, [task('a', 1, { rev: 3 })])
    const [row] = once.pages[0]?.tasks ?? []
    assert.deepEqual([row?.rev, row?.waits_for, row?.owner], [3, undefined, 'bob'])
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

describe('the filter of the list', () => {
  /** Each member with what the API and a dialog have of it; whose tasks they are stands beside the filter. */
  const MEMBERS: Record<keyof TaskFilter, [text: string, api: object, words: RegExp]> = {
    kind: ['relight,extend', { kind: ['relight', 'extend'] }, /^kind relight, extend$/],
    state: ['waiting,queued', { state: ['waiting', 'queued'] }, /^state waiting, queued$/],
    from: ['2026-01-31T08:00:00Z', { from: '2026-01-31T08:00:00.000Z' }, /^made since 2026-01-31/],
    to: ['2026-02-28T08:00:00Z', { to: '2026-02-28T08:00:00.000Z' }, /^made until 2026-02-28/],
    q: ['a river', { q: 'a river' }, /^prompt a river$/],
    label: ['project:alpha', { label: ['project:alpha'] }, /^label project:alpha$/],
    owner: ['bob', {}, /^owner bob$/],
  }
  const members = Object.entries(MEMBERS)

  for (const [name, [text, api, words]] of members)
    test(`has ${name} alike in the list, in an operation, and in words`, () => {
      const filter: TaskFilter = { [name]: text }
      assert.deepEqual(toApiFilter(filter), api)
      const { filter: acted, owner } = operationBody('cancel', filter)
      assert.deepEqual([acted, owner], [api, name === 'owner' ? text : undefined])
      assert.match(describeFilter(filter), words)
    })

  test('reaches the API whole, by members that routes read', async () => {
    const whole: TaskFilter = Object.fromEntries(members.map(([name, [text]]) => [name, text]))
    const filter = toApiFilter(whole)
    assert.deepEqual(filter, Object.assign({}, ...members.map(([, [, api]]) => api)))
    assert.deepEqual(operationBody('delete', whole), { action: 'delete', filter, owner: 'bob' })
    const { paths } = (await readDocument()) as unknown as {
      paths: Record<string, Record<string, { parameters: { name: string }[] }>>
    }
    const read = paths['/tasks']?.['get']?.parameters.map(({ name }) => name) ?? []
    for (const name of Object.keys(filter)) assert.ok(read.includes(name), name)
    assert.equal(describeFilter(whole).split('; ').length, members.length)
  })

  test('says that it means all where it is empty, and only there', () => {
    assert.deepEqual(operationBody('cancel', { owner: '*' }), {
      action: 'cancel',
      filter: {},
      owner: '*',
      all: true,
    })
    // A label that is still being written filters nothing, and is not said to.
    assert.deepEqual(operationBody('run_again', { label: 'half' }).filter, {})
    assert.equal(describeFilter({ label: 'half' }), '')
    assert.equal('all' in operationBody('run_again', { task_ids: ['a'] }), false)
    assert.equal('all' in operationBody('run_again', { state: 'waiting' }), false)
  })
})

test('each word of a suggested light is one that the engine understands', () => {
  const words = LIGHTS.join(' ').split(' ')
  const unknown = words.filter((word) => isNeutral(readPrompt(word)))
  assert.deepEqual([...new Set(unknown)], ['from', 'the'])
})

test('a delivery is retried once an attempt has failed, and waits until then', () => {
  const next_attempt_at = '2026-01-01T00:00:00Z'
  const CASES = [
    [{ state: 'pending', attempts: 0, next_attempt_at }, 'pending'],
    [{ state: 'pending', attempts: 2, next_attempt_at }, 'retrying'],
    [{ state: 'exhausted', attempts: 9 }, 'exhausted'],
  ] as const
  for (const [delivery, state] of CASES) assert.equal(stateOf(delivery), state)
})
