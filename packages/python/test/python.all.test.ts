import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { makeKiln, responseOf } from '../../client/src/index.ts'
import { startImpatientProxy } from '../../../test/support/impatient-proxy.ts'
import type { Impatience, ImpatientProxy } from '../../../test/support/impatient-proxy.ts'
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
  const proxies = {} as Record<Impatience, ImpatientProxy>
  after(() => Promise.all(Object.values(proxies).map(({ close }) => close())))
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
      for (const kind of ['cuts', 'buffers', 'gives up'] as const)
        proxies[kind] = await startImpatientProxy(baseUrl, kind)
      const urls = Object.entries(proxies).map(([kind, proxy]) => [kind, proxy.baseUrl])
      env = {
        KILN_PROXIES: JSON.stringify(Object.fromEntries(urls)),
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
    // Those of the client that blocks, then those of the other; the last read lists the tasks.
    const ways = Object.entries(proxies).map(([kind, proxy]) => [kind, proxy.ways.join(' ')])
    const { cuts = '', buffers = '', ...rest } = Object.fromEntries(ways)
    assert.match(cuts, /^((stream ){3}(waiting ){3}(plain ?){2,}){2}$/)
    assert.match(buffers, /^(stream (waiting )+plain ?){2}$/)
    assert.match(rest['gives up'] ?? '', /^(stream waiting (plain ?){2,}){2}$/)
    const creations = Object.values(proxies).map((proxy) => proxy.creations)
    assert.deepEqual(creations, [4, 2, 4])
  })

  test('has types that a strict check takes, for those who use it, too', async () => {
    await run('mypy', ['--cache-dir', join(String(installed), '../mypy')])
  })

  test('is formatted, and has at most 1,600 lines of its own that are not blank', async () => {
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
    assert.ok(lines.flat().length <= 1600, `${lines.flat().length} lines`)
  })
})
