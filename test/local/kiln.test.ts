import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'

/** Runs `npm run kiln -- …` as npm does: in the checkout, with the folder of the caller in the environment. */
const kiln = async (args: string[], env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, ['tools/kiln.mjs', ...args], {
    cwd: ROOT,
    env: { ...process.env, npm_lifecycle_event: undefined, INIT_CWD: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { out, err, code: code as number }
}

describe('kiln in a checkout', () => {
  test('lists its own commands and those of the client', async () => {
    const { out, code } = await kiln(['--help'])
    assert.equal(code, 0)
    for (const command of [
      'operate',
      'extract',
      'token --user',
      'receiver',
      'conform-upstream',
      'relight',
      'publish',
    ])
      assert.match(out, new RegExp(`^  kiln ${command} ?`, 'm'))
  })

  test('takes the paths of a pack from where it was called', async () => {
    const { out, code } = await kiln(['extract', 'pack', '--json'], {
      INIT_CWD: join(ROOT, 'samples'),
    })
    assert.equal(code, 0)
    assert.equal((JSON.parse(out) as { input: string }).input, 'pack')
  })

  for (const [args, usage] of [
    [['operate', 'bogus'], /^kiln: there is no command bogus\nusage: kiln operate/],
    [['receiver', '--port', 'x'], /usage: npm run kiln -- receiver/],
    [['token', '--user', 'alice', 'bob'], /^kiln: bob is too much\n/],
    [['token', '--user'], /^kiln: .*--user/],
    [['token'], /usage: kiln token <publisher>/],
    [['bogus'], /^no command bogus\n/],
  ] as const)
    test(`rejects kiln ${args.join(' ')} by the command that it belongs to`, async () => {
      const { err, code } = await kiln([...args])
      assert.notEqual(code, 0)
      assert.match(err, usage)
    })
})
