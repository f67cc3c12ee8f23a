import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'

import { ROOT } from '../../../src/local/root.ts'
import { useService } from '../../support/service.ts'
import { MP4, startDoneUpstream, type Step, type UpstreamOptions } from '../../support/upstream.ts'

const service = useService({ env: { OVERRIDE_VIDEO_TINY: 'true' } })

/** Runs the command; returns its exit code and what its lines say to be wrong. */
const conform = (url: string, key: string, ...args: string[]) =>
  new Promise<{ code: unknown; right: string[]; wrong: string[]; notes: string[]; err: string }>(
    (resolve) => {
      const program = ['tools/kiln.mjs', 'conform-upstream', url, ...args]
      const env = { ...process.env, KILN_UPSTREAM_KEY: key }
      execFile(process.execPath, program, { cwd: ROOT, env }, (error, out, err) => {
        const lines = out.split('\n')
        const listOf = (word: string) =>
          lines.filter((line) => line.startsWith(word)).map((line) => line.slice(7))
        const [right, wrong, notes] = [listOf('right'), listOf('WRONG'), listOf('note')]
        resolve({ code: error?.code ?? 0, right, wrong, notes, err })
      })
    },
  )

const said = (status: number, body: object = {}): Step => ({ status, body })

/** Rules that it never keeps. */
const LAX = ['rejects an unknown key', 'shows no task to an unknown key', 'rejects a prompt']

const WRONG: [what: string, args: string[], options: Partial<UpstreamOptions>, rule: string][] = [
  [
    'two tasks of a key',
    ['upscale'],
    { steps: { create: ['a', 'a', 'b'].map((id) => said(200, { task_id: id })) } },
    'makes one task of two requests with a key',
  ],
  ['no id', ['upscale'], { steps: { create: [said(200), said(200)] } }, 'takes a task'],
  ['a task that it forgets', ['upscale'], { steps: { status: [said(404)] } }, 'is done with it'],
  [
    'a record without links',
    ['upscale'],
    { done: () => ({ task_id: 'x', status: 'done' }) },
    'is done with it',
  ],
  [
    'a cut picture',
    ['upscale'],
    { files: { 'a.png': Buffer.from('\u0089PNG') } },
    'gives a picture',
  ],
  ['a record of another form', ['text2video'], { done: () => ({ state: 1 }) }, 'is done with it'],
  ['a cut video', ['text2video'], { files: { 'video.mp4': MP4.subarray(0, 90) } }, 'gives a video'],
]

describe('kiln conform-upstream', { concurrency: true }, () => {
  test('finds nothing wrong with Kiln', async () => {
    const kinds = ['upscale', 'skin_faithful', 'text2video', 'start-end2video']
    const args = kinds.flatMap((kind) => ['--kind', kind])
    const { code, right, wrong, notes } = await conform(
      service.baseUrl,
      await service.token('near'),
      ...args,
    )
    assert.deepEqual([wrong, code], [[], 0])
    assert.equal(right.length, 2 * 11 + 2 * 12)
    const said = 'of members beside the interface Kiln passes on none, by its /openapi.json'
    assert.deepEqual(
      notes,
      kinds.map((kind) => `${kind}: ${said}`),
    )
  })

  for (const kind of ['upscale', 'text2video'])
    test(`finds which rules an upstream breaks that does ${kind} for everybody`, async () => {
      const fake = await startDoneUpstream()
      const { code, wrong } = await conform(fake.url, 'key', '--kind', kind)
      await fake.close()
      assert.equal(code, 1)
      assert.equal(wrong.length, LAX.length)
      for (const [index, rule] of LAX.entries())
        assert.ok(wrong[index]?.startsWith(`${kind}: ${rule}`), wrong[index])
    })

  for (const [what, args, options, rule] of WRONG)
    test(`finds ${what}`, async () => {
      const fake = await startDoneUpstream(options)
      const { code, wrong } = await conform(fake.url, 'key', '--kind', ...args)
      await fake.close()
      assert.equal(code, 1)
      assert.ok(
        wrong.some((line) => line.startsWith(`${args[0]}: ${rule}`)),
        wrong.join('\n'),
      )
    })

  test('says which members beside the interface are passed on, and what it did without', async () => {
    const schema = { properties: { hue: { type: 'number' }, words: { type: 'string' } } }
    const content = { 'application/json': { schema } }
    const document = { paths: { '/v9/image-upscaler': { post: { requestBody: { content } } } } }
    const notes: string[] = []
    for (const options of [{ document }, {}]) {
      const fake = await startDoneUpstream(options)
      notes.push(...(await conform(fake.url, 'key', '--kind', 'upscale', '--prefix', '/v9')).notes)
      await fake.close()
    }
    assert.match(notes[0] ?? '', /^upscale: .* passes on hue, words, by its /)
    assert.match(notes[1] ?? '', /^upscale: .* none, without an .* has \/v9\/image-upscaler$/)
  })

  test('asks below the prefix that it is given', async () => {
    const fake = await startDoneUpstream()
    await conform(fake.url, 'key', '--kind', 'relight', '--prefix', '/v9')
    await fake.close()
    assert.ok(fake.asked.some(({ path }) => path === '/v9/image-relight'))
    assert.ok(fake.asked.every(({ path }) => path.startsWith('/v9/') || path.startsWith('/files/')))
  })

  test('says how it is used', async () => {
    const { code, err } = await conform('not an address', 'key')
    assert.equal(code, 2)
    assert.match(err, /^usage: npm run kiln -- conform-upstream <url>/)
  })
})
