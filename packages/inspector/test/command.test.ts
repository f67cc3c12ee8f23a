import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { makeFolder } from '../../../test/support/folder.ts'
import { ADVICE } from '../src/advice.ts'
import { codePath } from '../../../src/local/root.ts'

/** Runs `kiln-inspect` to its end. */
const run = (...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [codePath('packages/inspector/src/kiln-inspect.ts'), ...words],
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
      },
    )
  })

const pick = (line: string) => {
  const { verdict, code, status } = JSON.parse(line) as Record<string, unknown>
  return { verdict, code, status }
}

describe('kiln-inspect', () => {
  test('writes a line of JSON for each argument, also for one that is not there', async () => {
    const { code, stdout, stderr } = await run('--json', 'nowhere.zip', 'nowhere/')
    assert.equal(code, 1)
    assert.match(stderr, /^nowhere\.zip could not be read: ENOENT/)
    const lines = stdout.trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      ['nowhere.zip', 'nowhere/'].map((input) => ({
        input,
        verdict: 'unreadable',
        code: 'ENOENT',
        status: 'failed',
        reason: 'unreadable',
        how: 'none',
        partial: false,
        reasons: ['unreadable'],
        nodes: {},
        findings: [],
        stats: {},
      })),
    )
  })
  test('shows a person what it finds in a folder, and writes a line of JSON of it', async () => {
    const shown = await run('samples/pack')
    assert.equal(shown.code, 0, shown.stderr)
    assert.match(
      shown.stdout,
      /^samples\/pack\n {2}archive {3}sound, \d+ files\n {2}nodes {5}\d+ host nodes/,
    )
    const { stdout } = await run('--json', 'samples/pack')
    assert.equal((JSON.parse(stdout) as { verdict: string }).verdict, 'sound')
  })

  test('reads a folder, and rejects it for a name that its archive would be rejected for', async (context) => {
    const folder = await makeFolder(context, { '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' })
    const sound = await run('--json', folder)
    assert.deepEqual(pick(sound.stdout), { verdict: 'sound', code: null, status: 'success' })
    await writeFile(join(folder, 'what?.txt'), '')
    const { stdout } = await run('--json', folder)
    assert.deepEqual(pick(stdout), { verdict: 'rejected', code: 'path_reserved', status: 'failed' })
    assert.match((await run(folder)).stdout, /what\?\.txt", found \?\)/)
  })
  test('says the way out of each reason', async (context) => {
    const folder = await makeFolder(context, {
      '__init__.py': 'import helper\nNODE_CLASS_MAPPINGS = helper.make()\n',
    })
    const advice = ADVICE.mapping_unknown ?? ''
    const place = '__init__.py, line 2: NODE_CLASS_MAPPINGS'
    assert.ok((await run(folder)).stdout.includes(`\n            ${place}: ${advice}\n`))
    await writeFile(join(folder, '__init__.py'), 'from .gone import x\n')
    const { stdout } = await run(folder)
    const lines = stdout.split('\n').filter((line) => line.startsWith(' '.repeat(12)))
    assert.deepEqual(lines, [
      `            gone (__init__.py, line 1): ${ADVICE.own_module_missing}`,
    ])
    const json = JSON.parse((await run('--json', folder)).stdout) as Record<string, unknown>
    assert.deepEqual(json.hints, [`gone (__init__.py, line 1): ${ADVICE.own_module_missing}`])
    assert.deepEqual(json.advice, json.hints)
  })
  test('names a reason once, counts in words, and knows when nothing is left to do', async (context) => {
    const gone = await makeFolder(context, { '__init__.py': 'from .gone import x\n' })
    assert.match(
      (await run(gone)).stdout,
      /sound, 1 file\n {2}nodes {5}FAILED, own_module_missing\n/,
    )
    const listed = await makeFolder(context, {
      '__init__.py': 'import helper\nNODE_CLASS_MAPPINGS = helper.make()\n',
      'node_list.json': '{"Cup": ""}',
    })
    const { stdout } = await run(listed)
    assert.match(
      stdout,
      /nodes {5}1 host node \(node_list\); some may be missing: mapping_unknown\n/,
    )
    assert.ok(stdout.includes(`            node_list: ${ADVICE.node_list}\n`))
    assert.ok(!stdout.includes(ADVICE.mapping_unknown ?? ''))
  })
  test('prints its usage with its exit codes, and fails on wrong arguments', async () => {
    const asked = await run('--help')
    assert.match(
      asked.stdout,
      /^usage: kiln extract <zip or folder>…[^]*Exit codes: 0 .* 1 .* 2 wrong usage/,
    )
    assert.equal(asked.code, 0)
    for (const words of [[], ['--bogus']]) {
      const { code, stdout, stderr } = await run(...words)
      assert.deepEqual([code, stdout, stderr], [2, '', asked.stdout])
    }
  })
})
