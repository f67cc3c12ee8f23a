import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { makeKiln, responseOf } from '../src/index.ts'
import { codePath } from '../../../src/local/root.ts'
import { useService } from '../../../test/support/service.ts'
import { makeZip } from '../../../test/support/zip.ts'
import { writeZip } from '../../../test/support/zip-writer.ts'

const PACK = `class Cup:
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Workflow Cup": Cup}
`

const cup = { id: 1, type: 'Workflow Cup' }
const COMMIT = { cnr_id: 'workflow-cup', ver: '0123abc' }
const WORKFLOW = JSON.stringify({ nodes: [cup, { id: 2, type: 'Nobody' }], links: [] })

/** A PNG of one chunk of text; nobody reads its check sum here. */
const pngOf = (keyword: string, text: string): Buffer => {
  const data = Buffer.from(`${keyword}\0${text}`)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, size, Buffer.from('tEXt'), data, Buffer.alloc(4)])
}

const lockOf = (...packs: object[]): string => JSON.stringify({ packs })
const entry = { node: 'workflow-cup', version: '1.0.0' }

const FILES: Record<string, string | Buffer> = {
  'graph.json': WORKFLOW,
  'known.json': JSON.stringify({ nodes: [cup], links: [] }),
  'marked.json': `\uFEFF${WORKFLOW}`,
  'made.png': pngOf('workflow', WORKFLOW),
  'bare.png': pngOf('Comment', '{}'),
  'photo.jpg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'cut.json': WORKFLOW.slice(0, 40),
  'empty.json': '',
  'words.json': 'nodes',
  'none.json': '{"nodes":[]}',
  'untyped.json': '{"nodes":[{"type":5}]}',
  'unfit.json': JSON.stringify({ nodes: [{ id: 1, type: 'Workflow New' }] }),
  'half.json': JSON.stringify({ nodes: [cup, { type: 5 }] }),
  'gone.json': JSON.stringify({ 1: { class_type: 'Workflow Gone', inputs: {} } }),
  'editor.json': JSON.stringify({
    nodes: [
      { id: 1, type: 'Editor Only (test)' },
      { id: 2, type: 'VAELoader', widgets_values: ['kl.safetensors'] },
    ],
  }),
  'nobodies.json': JSON.stringify({
    nodes: ['Nobody', 'Noone', 'Nobody'].map((type, id) => ({ id, type })),
  }),
  'commit.json': JSON.stringify({ nodes: [{ ...cup, properties: COMMIT }] }),
  'gone.lock.json': lockOf({ node: 'workflow-lossy', version: '1.0.0' }),
  'good.lock.json': lockOf(entry),
  'bare.lock.json': lockOf({ node: 'workflow-cup' }),
  'nameless.lock.json': lockOf(entry, { version: '1.0.0' }),
  'unknown.lock.json': lockOf({ ...entry, version: '9.9.9' }),
  'other.lock.json': lockOf({ node: 'other-pack', version: '1.0.0' }),
  'snapshot.json': '{"cnr_custom_nodes":{"workflow-cup":"9.9.9"}}',
  'null.lock.json': 'null',
}

let folder: string
let token: string
const service = useService({ env: {} }, async ({ baseUrl, token: sign }) => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-workflow-'))
  token = await sign('alice')
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content)
  const { routes, registry } = makeKiln({ baseUrl, token })
  await routes.POST('/publishers', { body: { id: 'alice' } })
  const params = { path: { publisherId: 'alice' } }
  const asked = routes.POST('/publishers/{publisherId}/tokens', { params, body: { name: 'test' } })
  const publication = { publisherId: 'alice', token: (await responseOf(asked)).token }
  const archive = new Blob([makeZip(PACK, '__init__.py')])
  const version = { version: '1.0.0' }
  await registry.publish({ ...publication, nodeId: 'workflow-cup', version, archive })
  const newer = { ...version, supported_host_version: '>=2' }
  const newPack = new Blob([makeZip(PACK.replace('Workflow Cup', 'Workflow New'), '__init__.py')])
  const added = { ...publication, nodeId: 'workflow-new', version: newer, archive: newPack }
  await registry.publish(added)
  const scripts = writeZip([
    { name: '__init__.py', data: 'WEB_DIRECTORY = "./js"\nNODE_CLASS_MAPPINGS = {}\n' },
    { name: 'js/a.js', data: 'LiteGraph.registerNodeType("Editor Only (test)", Editor)' },
  ])
  const editor = { ...publication, nodeId: 'workflow-editor', archive: new Blob([scripts]) }
  await registry.publish({ ...editor, version })
  for (const [version, name] of [
    ['1.0.0', 'Workflow Gone'],
    ['2.0.0', 'Workflow Left'],
  ] as const) {
    const archive = new Blob([makeZip(PACK.replace('Workflow Cup', name), '__init__.py')])
    const lossy = { ...publication, nodeId: 'workflow-lossy', archive }
    await registry.publish({ ...lossy, version: { version } })
  }
})
after(() => rm(folder, { recursive: true }))

/** Runs `kiln` in the folder of the files. */
const kiln = (line: string): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const program = codePath('packages/client/src/cli/kiln.ts')
    const env = { PATH: process.env['PATH'], KILN_URL: service.baseUrl, KILN_TOKEN: token }
    const args = [program, ...line.split(' ')]
    execFile(process.execPath, args, { cwd: folder, env }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })

const workflow = (line: string) => kiln(`workflow ${line}`)

const readOutput = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>

test('kiln search lists packs, and says what is meant where there is none', async () => {
  const { code, out } = await kiln('search workflow cup')
  assert.deepEqual([code, out], [0, 'workflow-cup  1.0.0  alice  \n'])
  assert.match((await kiln('search --host-node cup')).out, /^workflow-cup {2}1\.0\.0 {2}/)
  assert.match((await kiln('search workflow --limit 1')).out, /\n\d packs in all\n$/)
  assert.match(
    (await kiln('search workflw-cup')).out,
    /^no pack: did you mean workflow-cup, .*\?\n$/,
  )
  assert.equal((await kiln('search')).code, 2)
})

test('kiln workflow says once what is so of several host nodes, and counts names and places', async () => {
  const { code, out } = await workflow('resolve nobodies.json')
  assert.equal(code, 1)
  assert.match(
    out,
    /^3 host nodes: .* 3 unknown\n {2}unknown {2}Nobody \(2\), Noone \(1\) {2}[^\n]+\n$/,
  )
  const { err } = await workflow('lock nobodies.json')
  assert.match(err, /(^|\n)2 host nodes are unknown, at 3 places: Nobody, Noone\n/)
})

describe('kiln workflow lock', { concurrency: 3 }, () => {
  const MISSING = /(^|\n)1 host node is unknown: Nobody\n/

  test('says on standard error which host nodes the file lacks, and lists them in it', async () => {
    const { code, out, err } = await workflow('lock graph.json -o new.lock.json')
    assert.deepEqual([code, out], [1, 'new.lock.json names 1 pack\n'])
    assert.match(err, MISSING)
    const { packs, unknown_host_nodes: unknown } = await readOutput('new.lock.json')
    assert.deepEqual([(packs as object[]).length, unknown], [1, ['Nobody']])
  })

  test('says so without a file and of a snapshot, which keeps its form', async () => {
    const shown = await workflow('lock graph.json')
    assert.equal(shown.code, 1)
    assert.match(shown.err, MISSING)
    assert.match(shown.out, /"unknown_host_nodes": \[\n {4}"Nobody"/)
    const snapshot = await workflow('lock graph.json --snapshot')
    assert.equal(snapshot.code, 1)
    assert.match(snapshot.err, MISSING)
    assert.doesNotMatch(snapshot.out, /Nobody/)
  })

  test('names a pack of which no version fits', async () => {
    const { out, err } = await workflow('lock unfit.json --host-version 1.0.0')
    assert.deepEqual(JSON.parse(out), { packs: [] })
    assert.match(err, /(^|\n)left out {2}workflow-new: \S.*\n/)
  })

  test('has the pack of a node of the editor alone, and the models', async () => {
    const { code, out, err } = await workflow('lock editor.json')
    const { packs, models } = JSON.parse(out) as { packs: { node: string }[]; models: object[] }
    assert.deepEqual([code, packs.map(({ node }) => node)], [0, ['workflow-editor']], err)
    const model = { file: 'kl.safetensors', folder: 'vae', host_nodes: ['VAELoader'] }
    assert.deepEqual(models, [model])
    const resolved = await workflow('resolve editor.json')
    assert.equal(resolved.code, 0)
    assert.match(
      resolved.out,
      /^2 host nodes: 1 of the host, 1 in packs, 0 unknown\n {2}workflow-editor@1\.0\.0 {2}Editor Only \(test\)\n {2}model {2}models\/vae\/kl\.safetensors\n$/,
    )
  })

  test('is silent where nothing is missing', async () => {
    const { code, out, err } = await workflow('lock known.json')
    assert.deepEqual([code, Object.keys(JSON.parse(out) as object)], [0, ['packs']])
    assert.doesNotMatch(err, /unknown/)
  })
})

describe('kiln workflow check', { concurrency: 3 }, () => {
  for (const [line, code, says] of [
    ['known.json --from good.lock.json --strict', 0, /^nothing of the workflow changes\n/],
    ['known.json --from good.lock.json', 0, /^nothing of the workflow changes\n/],
    [
      'graph.json --from good.lock.json',
      3,
      /^nothing .* changes; 1 host node unknown\n {2}not compared {2}1 host node is unknown: Nobody/,
    ],
    [
      'gone.json',
      3,
      /\n {4}Workflow Gone {2}.* Pack workflow-lossy had it until version 1\.0\.0, .*\n/,
    ],
    ['gone.json --from gone.lock.json', 1, /^1 change breaks the workflow, 0 may break it\n/],
    ['gone.json --strict', 1, /; 1 host node unknown\n/],
    ['half.json --from good.lock.json --strict', 1, / left out {2}\/nodes\/1 has no type/],
    ['graph.json --from good.lock.json --strict', 1, /1 host node is unknown: Nobody\n/],
    [
      'known.json --from bare.lock.json',
      0,
      /bare\.lock\.json: packs\[0\], workflow-cup, has no ver/,
    ],
    [
      'known.json --from bare.lock.json --strict',
      1,
      /\n {4}The workflow .* bare\.lock\.json: packs/,
    ],
    ['known.json --from nameless.lock.json --strict', 1, /: packs\[1\] names no pack \("node"\)\n/],
    [
      'known.json --from unknown.lock.json --strict',
      1,
      /There is no version "9\.9\.9" here .* unknown\.lock\.json: packs\[0\], workflow-cup, names 9\.9\.9\.\n/,
    ],
    [
      'known.json --from good.lock.json --to snapshot.json --strict',
      1,
      /snapshot\.json: cnr_custom_nodes, workflow-cup, names 9\.9\.9\.\n/,
    ],
    ['known.json --from other.lock.json --strict', 1, / other\.lock\.json has no entry of it\.\n/],
    ['commit.json --strict', 1, / "0123abc" is a commit or a build, and no version: choose one\./],
    ['known.json --strict', 1, / --from takes a lock file that names it\.\n/],
  ] as const)
    test(`ends with ${code} for ${line}`, async () => {
      const ran = await workflow(`check ${line}`)
      assert.equal(ran.code, code, ran.out + ran.err)
      assert.match(ran.out, says)
      assert.doesNotMatch(ran.out, / in "(from|to)"/)
    })
})

describe('kiln workflow reads a file', { concurrency: 3 }, () => {
  for (const file of ['marked.json', 'made.png'])
    test(`that is ${file}`, async () => {
      const { code, out } = await workflow(`resolve ${file}`)
      assert.equal(code, 1)
      assert.match(out, /^2 host nodes: 0 of the host, 1 in packs, 1 unknown\n/)
    })

  for (const [line, says] of [
    [
      'resolve bare.png',
      /bare\.png is a picture or video that holds no workflow\. Save the workflow from/,
    ],
    [
      'check photo.jpg',
      /photo\.jpg is a picture or video that holds no workflow\. Save the workflow from/,
    ],
    ['resolve cut.json', /cut\.json is cut: it ends before its JSON does\./],
    ['lock empty.json', /empty\.json is empty\./],
    ['resolve words.json', /words\.json is no JSON\.\n/],
    ['check known.json --from null.lock.json', /null\.lock\.json is no lock file: it has no list/],
    ['resolve none.json', /there is no host node in none\.json\n/],
    ['lock none.json', /there is no host node in none\.json\n/],
    ['check known.json --host-version abc', /kiln: \/host_version must be a version/],
    ['check none.json', /there is no host node in none\.json\n/],
    [
      'check untyped.json',
      /no host node in untyped\.json: \/nodes\/0 has no type, and is left out/,
    ],
  ] as const)
    test(`and ends with 2 for ${line}`, async () => {
      const { code, out, err } = await workflow(line)
      assert.deepEqual([code, out], [2, ''], err)
      assert.match(err, says)
    })
})
