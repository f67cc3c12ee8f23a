import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'

import { readNodeList } from '../../inspector/src/nodes/fallback.ts'
import { writeNodeList } from '../src/cli/node-list.ts'
import type { Reading } from '../src/cli/reader.ts'

const UNREAD: Reading = {
  verdict: 'sound',
  code: null,
  status: 'failed',
  reason: 'mapping_unknown',
  partial: true,
  reasons: ['mapping_unknown'],
  advice: [],
  how: 'none',
  nodes: {},
  findings: [],
}

const FILES = {
  '__init__.py': 'from kiln_maker import NODE_CLASS_MAPPINGS\n',
  'cups.py': `class Cup:
    @classmethod
    def INPUT_TYPES(cls): return {}

class Helper:
    pass

class Jar(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="Kiln Jar", inputs=[])
`,
  'tests/test_cups.py': 'class Fake:\n    def INPUT_TYPES(cls): return {}\n',
}

describe('node_list.json of a pack whose mapping cannot be read', () => {
  let folder = ''
  let files: Record<string, string> = FILES
  const { signal } = new AbortController()
  const write = (given: { reading?: Reading | undefined; host?: string }) =>
    writeNodeList({
      folder,
      nodeId: 'kiln-jars',
      paths: Object.keys(files),
      reading: UNREAD,
      host: undefined,
      signal,
      ...given,
    })
  const list = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, 'node_list.json'), 'utf8'))

  const add = async (more: Record<string, string>): Promise<void> => {
    files = { ...files, ...more }
    for (const [path, source] of Object.entries(more)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), source)
    }
  }

  beforeEach(async () => {
    files = {}
    folder = join(await mkdtemp(join(tmpdir(), 'kiln-list-')), 'kiln-cups')
    await mkdir(folder)
    await add(FILES)
  })
  afterEach(() => rm(dirname(folder), { recursive: true }))

  test('has the names that its classes suggest, and says that a host may show others', async () => {
    assert.match(
      await write({}),
      /has 2 new names: its files suggest names, a host may.*: Cup \(cups\.py\), Kiln Jar \(cups\.py\)$/,
    )
    assert.deepEqual(await list(), { Cup: '', 'Kiln Jar': '' })
  })

  test('keeps what it has, and adds what a scan of the mapping saw', async () => {
    await writeFile(join(folder, 'node_list.json'), '{"Cup": "Holds it.", "Mug": ""}')
    const reading = { ...UNREAD, how: 'literal_scan', nodes: { 'Kiln Pot': {} } }
    await write({ reading })
    assert.deepEqual(await list(), { Cup: 'Holds it.', Mug: '', 'Kiln Pot': '', 'Kiln Jar': '' })
    assert.match(await write({ reading }), /^no name to add/)
  })

  test('has the keys of mappings in place of class names, and none of other packs', async () => {
    const cup = 'class Pot:\n    def INPUT_TYPES(cls): return {}\n'
    const mapping = (name: string) =>
      `${cup}NODE_CLASS_MAPPINGS = {\n    # "Old": Pot,\n    "${name}": Pot, '${name} 2': Pot,\n}\n`
    await add({
      'src/pots.py': mapping('Kiln Pot'),
      'pots/__init__.py': mapping('Kiln Bowl'),
      'pots/pot.py': cup,
      'example_workflows/x.py': cup,
      'vendor_pack/__init__.py': mapping('Vendored'),
      'lib/other/pyproject.toml': '',
      'lib/other/nodes/x.py': cup,
      'cups_test.py': cup,
    })
    await write({})
    const names = ['Cup', 'Kiln Jar', 'Kiln Pot', 'Kiln Pot 2', 'Kiln Bowl', 'Kiln Bowl 2']
    assert.deepEqual(Object.keys((await list()) as object).toSorted(), names.toSorted())
  })

  test('has of a scanned mapping its names alone', async () => {
    await add({
      'nodes.py': 'class Pot:\n    def INPUT_TYPES(cls): return {}\nNODE_CLASS_MAPPINGS = make()\n',
    })
    await write({ reading: { ...UNREAD, how: 'literal_scan', nodes: { 'Kiln Pot': {} } } })
    assert.deepEqual(await list(), { 'Kiln Pot': '', Cup: '', 'Kiln Jar': '' })
  })

  test('has what a running host shows of the folder, with descriptions', async () => {
    const shown = {
      'Kiln Lid': { python_module: 'custom_nodes.kiln-cups', description: 'Covers.' },
      'Kiln Rim': { python_module: 'custom_nodes.kiln-jars' },
      KSampler: { python_module: 'nodes', description: '' },
    }
    const server = createServer(({ url }, response) => {
      if (url === '/here/object_info') response.end(JSON.stringify(shown))
      else response.end(url === '/empty/object_info' ? '{}' : '<html>')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      assert.match(await write({ host: `${host}/here/` }), /has 2 new names: Kiln Lid, Kiln Rim$/)
      assert.deepEqual(await list(), { 'Kiln Lid': 'Covers.', 'Kiln Rim': '' })
      await assert.rejects(write({ host }), /object_info lists no nodes: --host must be/)
      await assert.rejects(
        write({ host: `${host}/empty` }),
        /shows no nodes of custom_nodes\.kiln-cups or custom_nodes\.kiln-jars: install the pack/,
      )
    } finally {
      server.close()
    }
    await assert.rejects(write({ host }), /cannot be reached: connect ECONNREFUSED/)
  })

  test('is not written where the host nodes can be read, nor over a broken one', async () => {
    const { reason: _, ...whole } = { ...UNREAD, status: 'success', partial: false }
    const nodes = { Cup: {} }
    for (const [reading, says] of [
      [
        { ...whole, how: 'v1', nodes },
        /^node_list\.json is not needed: the host nodes can be read$/,
      ],
      [{ ...whole, how: 'none' }, /^node_list\.json is not needed: the pack has no host nodes$/],
      [
        { ...whole, partial: true, how: 'v3', nodes },
        /not written: it does not count beside 1 host/,
      ],
      [
        { ...UNREAD, reason: 'import_raised' },
        /does not count while the reading fails by import_rai/,
      ],
      [{ ...UNREAD, reason: 'own_module_missing' }, /not written: .* by own_module_missing$/],
      [{ ...UNREAD, reason: 'no_init', partial: false }, /not written: .* by no_init$/],
      [{ ...UNREAD, reason: 'no_mapping', partial: false }, /not written: .* by no_mapping$/],
      [
        { ...UNREAD, reason: 'archive_bad_crc', partial: false },
        /not written: .* archive_bad_crc$/,
      ],
    ] as const)
      assert.match(await write({ reading }), says)
    await assert.rejects(list(), /ENOENT/)
    for (const reason of ['budget_steps', 'mapping_unknown', 'no_mapping']) {
      await rm(join(folder, 'node_list.json'), { force: true })
      assert.match(await write({ reading: { ...UNREAD, reason } }), /has 2 new names/, reason)
    }
  })

  test('is read as the service reads it: one JSON object', async () => {
    for (const text of [
      '{"A": "",}',
      '["A"]',
      'null',
      '{',
      '',
      '{}',
      '\uFEFF{" A ": "a"}',
      '{"A": 1}',
    ]) {
      await writeFile(join(folder, 'node_list.json'), text)
      const names = readNodeList(new Map([['node_list.json', Buffer.from(text)]]))
      if (names) {
        await write({})
        const found = Object.keys((await list()) as object)
        assert.deepEqual(found, [...names.keys(), 'Cup', 'Kiln Jar'], text)
      } else {
        await assert.rejects(write({}), /must be one JSON object, .* without a comma/, text)
        assert.equal(await readFile(join(folder, 'node_list.json'), 'utf8'), text)
      }
    }
  })
})
