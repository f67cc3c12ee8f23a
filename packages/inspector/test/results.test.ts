import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { before, describe, test } from 'node:test'

import { EXTRACTOR_VERSION, SCANNER_VERSION } from '../src/versions.ts'
import { codePath } from '../../../src/local/root.ts'
import { readAllResults } from './results.ts'

const STORED = new URL('./results.json', import.meta.url)
const REMEDY =
  'raise it, and store the new results: node tools/run.mjs packages/inspector/test/store-results.ts'

interface Stored {
  extractorVersion: number
  scannerVersion: number
  nodes: Record<string, string>
  findings: Record<string, string>
}

describe('results of extractor and scanner', () => {
  let stored: Stored
  let results: ReturnType<typeof readAllResults>
  before(async () => {
    stored = JSON.parse(await readFile(STORED, 'utf8')) as Stored
    results = readAllResults()
  })

  test('change only with the version of the extractor', () => {
    assert.equal(stored.extractorVersion, EXTRACTOR_VERSION, REMEDY)
    assert.deepEqual(results.nodes, stored.nodes, `EXTRACTOR_VERSION is as before: ${REMEDY}`)
  })

  test('change only with the version of the scanner', () => {
    assert.equal(stored.scannerVersion, SCANNER_VERSION, REMEDY)
    assert.deepEqual(results.findings, stored.findings, `SCANNER_VERSION is as before: ${REMEDY}`)
  })

  test('are the same in another locale and time zone', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [codePath('packages/inspector/test/results.ts')],
      {
        env: { ...process.env, TZ: 'Pacific/Chatham', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
      },
    )
    assert.deepEqual(JSON.parse(stdout), results)
  })
})
