import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { findPort } from '../../src/local/port.ts'
import { ROOT } from '../../src/local/root.ts'
import { writePythonClient } from '../../tools/build-python.ts'
import { Skipped } from '../../tools/python.ts'
import { findDifference, listBlocks, PORTS, runBlocks } from '../support/guide.ts'
import { WITHOUT_PYTHON } from '../support/python.ts'
import { useService } from '../support/service.ts'

const GUIDES = (await readdir(join(ROOT, 'docs/guides'))).map((name) => `docs/guides/${name}`)

/** Programs of the Python client, where there is a Python. */
const bin = await writePythonClient().catch((error: unknown) => {
  if (error instanceof Skipped) return undefined
  throw error
})

/** Port of the engine that a guide gives to the service. */
const ENGINE_PORT = '5001'
const enginePort = String(await findPort())

const service = useService({
  development: true,
  env: {
    RATE_LIMITS: '20',
    OVERRIDE_VIDEO_TINY: 'true',
    ENGINES_HTTP: `gradient=http://127.0.0.1:${enginePort}`,
  },
})

describe('the commands and the code of', { concurrency: 2 }, () => {
  for (const path of [...GUIDES, 'docs/comfyui.md', 'README.md']) {
    const skip = path.includes('engines-http') && WITHOUT_PYTHON
    test(`${path} do what it says`, { skip }, async () => {
      const blocks = listBlocks(await readFile(join(ROOT, path), 'utf8'))
      assert.ok(blocks.some(({ language }) => language === 'sh'))
      if (!WITHOUT_CLIENTS.has(path)) {
        const of = (wanted: string) =>
          blocks.filter(({ language, words }) => language === wanted && words === '').length
        assert.deepEqual(
          [of('ts') > 1, of('python')],
          [true, of('ts')],
          'a client lacks an example',
        )
      }
      // An operation acts on all tasks of its reader.
      const user = path.includes('batches') ? 'bob' : 'alice'
      const addresses = {
        baseUrl: service.baseUrl,
        ports: Object.fromEntries(
          await Promise.all(
            PORTS.map(async (port) => [
              port,
              port === ENGINE_PORT ? enginePort : String(await findPort()),
            ]),
          ),
        ),
        user,
        python: bin === undefined ? undefined : join(bin, 'python'),
      }
      const outputs = await runBlocks(blocks, addresses)
      let printed: string | undefined
      let background = ''
      for (const [index, block] of blocks.entries()) {
        const output = outputs.get(index)
        if (output !== undefined && block.words === 'background') background = output
        else if (output !== undefined) printed = output
        else if (isShown(path, block.language, block.words)) {
          const source = block.words === 'background' ? background : printed
          assert.ok(source !== undefined, `${path}:${block.line} follows no command`)
          const difference = findDifference(block, source, addresses)
          assert.equal(difference, undefined, `${path}:${block.line}: ${difference}`)
        }
      }
    })
  }

  test('a guide are found to differ where they do', () => {
    const find = (code: string, printed: string): string =>
      findDifference({ language: 'json', words: '', code, line: 1 }, printed, {
        baseUrl: '',
        ports: {},
        user: '',
      }) ?? ''
    assert.equal(find('{"id": "…", "n": 1}', '{"id":"x","n":1}'), '')
    assert.match(find('{"id": "a…"}', '{"id":"x"}'), /^\/id is "x"/)
    assert.match(find('{}', '{"id":"x"}'), /^\/id is not shown/)
    assert.equal(find('{"…": "…"}', '{"id":"x"}'), '')
    assert.match(find('{"n": [1]}', '{"n":[2]}'), /^\/n\/0 is 2/)
  })
})

/** Pages for operators and engines, which show a client once at most, and the first steps. */
const WITHOUT_CLIENTS: ReadonlySet<string> = new Set([
  'docs/guides/production.md',
  'docs/guides/engines-http.md',
  'docs/comfyui.md',
  'README.md',
])

/** The receivers in JavaScript, the page, and the commands of CI and of what is built, have tests of their own; README shows a part of what the demo prints, and what an instance of ComfyUI takes is tried elsewhere. */
const isShown = (path: string, language: string, words: string): boolean => {
  if (path === 'README.md' || path === 'docs/comfyui.md') return false
  if (language === 'bash') {
    assert.match(path, /^docs\/guides\/(publishing|production|engines-http)\.md$/)
    return false
  }
  if (language === 'python' || language === 'ts') return false
  if (language === 'html') {
    assert.equal(`${path} ${words}`, 'docs/guides/browser.md page')
    return false
  }
  if (language === 'js') {
    assert.match(words, /^(receiver|verify)$/)
    return false
  }
  assert.match(language, /^(json|text)$/, `${path} has a block of ${language}, which nothing runs`)
  return true
}
