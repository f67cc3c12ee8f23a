import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'

import { writeNodeList } from '../src/cli/node-list.ts'
import type { Reading } from '../src/cli/reader.ts'

const UNREAD: Reading = {
  verdict: 'sound',
  code: null,
  status: 'failed',
  reason: 'mapping_unknown',
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
  const { signal } = new AbortController()
  const write = (given: { reading?: Reading | undefined; host?: string }) =>
    writeNodeList({
      folder,
      paths: Object.keys(FILES),
      reading: UNREAD,
      host: undefined,
      signal,
      ...given,
    })
  const list = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, 'node_list.json'), 'utf8'))

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'kiln-list-')), 'kiln-cups')
    for (const [path, source] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), source)
    }
  })
  afterEach(() => rm(dirname(folder), { recursive: true }))

  test('has the names that its classes suggest, and says that a host may show others', async () => {
    assert.match(await write({}), /has 2 new names: its classes suggest names/)
    assert.deepEqual(await list(), { Cup: '', 'Kiln Jar': '' })
  })

  test('keeps what it has, and adds what a scan of the mapping saw', async () => {
    await writeFile(join(folder, 'node_list.json'), '{"Cup": "Holds it.", "Mug": ""}')
    const reading = { ...UNREAD, how: 'literal_scan', nodes: { 'Kiln Pot': {} } }
    await write({ reading })
    assert.deepEqual(await list(), { Cup: 'Holds it.', Mug: '', 'Kiln Pot': '', 'Kiln Jar': '' })
    assert.match(await write({ reading }), /^no name to add/)
  })

  test('has what a running host shows of the folder, with descriptions', async () => {
    const shown = {
      'Kiln Lid': { python_module: 'custom_nodes.kiln-cups', description: 'Covers.' },
      KSampler: { python_module: 'nodes', description: '' },
    }
    const server = createServer((_request, response) => response.end(JSON.stringify(shown)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      assert.match(await write({ host }), /node_list\.json has 1 new name$/)
      assert.deepEqual(await list(), { 'Kiln Lid': 'Covers.' })
    } finally {
      server.close()
    }
    await assert.rejects(write({ host }), /does not list its nodes/)
  })

  test('is not written where the host nodes can be read, nor over a broken one', async () => {
    const read = { ...UNREAD, status: 'success', reason: 'none', how: 'v1' }
    assert.match(await write({ reading: read }), /not needed/)
    await assert.rejects(list(), /ENOENT/)
    await writeFile(join(folder, 'node_list.json'), '{')
    await assert.rejects(write({}), /is no JSON/)
  })
})
