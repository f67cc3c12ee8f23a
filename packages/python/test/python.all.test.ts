import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { makeKiln, responseOf } from '../../client/src/index.ts'
import { useService } from '../../../test/support/service.ts'
import { PYTHON_CLIENT, writePythonClient } from '../../../tools/build-python.ts'
import { Skipped } from '../../../tools/python.ts'

/** Folder of the programs; where there is none, why. */
const installed = await writePythonClient().catch((error: unknown) => {
  if (error instanceof Skipped) return error
  throw error
})
const skip = installed instanceof Skipped ? installed.message : false

const run = async (program: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
  const options = {
    cwd: PYTHON_CLIENT,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  }
  const ran = promisify(execFile)(join(String(installed), program), args, options)
  return await ran.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(error.stdout + error.stderr),
  )
}

describe('the Python client', { skip }, () => {
  let env: NodeJS.ProcessEnv
  const service = useService(
    { env: { OVERRIDE_VIDEO_TINY: 'true' } },
    async ({ baseUrl, token: sign }) => {
      const token = await sign('alice')
      const { routes } = makeKiln({ baseUrl, token })
      await routes.POST('/publishers', { body: { id: 'alice' } })
      const params = { path: { publisherId: 'alice' } }
      const asked = routes.POST('/publishers/{publisherId}/tokens', {
        params,
        body: { name: 'test' },
      })
      env = {
        KILN_URL: baseUrl,
        KILN_TOKEN: token,
        KILN_PUBLISH_TOKEN: (await responseOf(asked)).token,
      }
    },
  )

  test('passes its tests, those against a service and the examples of its page included', async () => {
    assert.ok(service.baseUrl)
    const { stdout } = await run('python', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], env)
    assert.match(stdout, /^\d{2,} passed in [^\n]*\n$/m)
  })

  test('has types that a strict check takes, for those who use it, too', async () => {
    await run('mypy', ['--cache-dir', join(String(installed), '../mypy')])
  })

  test('is formatted, and has at most 1,160 lines of its own that are not blank', async () => {
    await run('ruff', [
      'format',
      '--check',
      '--no-cache',
      'src',
      'test',
      '--exclude',
      'types.py',
      '--exclude',
      '_sync',
    ])
    await run('ruff', ['check', '--no-cache', 'src', 'test', '--exclude', '_sync'])
    const folder = join(PYTHON_CLIENT, 'src/kiln_client')
    const files = (await readdir(folder, { recursive: true })).filter(
      (file) => file.endsWith('.py') && !/^(_sync|types\.py)/.test(file),
    )
    const lines = await Promise.all(
      files.map(
        async (file) => (await readFile(join(folder, file), 'utf8')).match(/\S.*$/gm) ?? [],
      ),
    )
    assert.ok(lines.flat().length <= 1160, `${lines.flat().length} lines`)
  })
})
