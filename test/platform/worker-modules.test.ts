import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { build } from 'esbuild'

import { ROOT } from '../../src/local/root.ts'
import { openCheckout } from '../../tools/measure/checkout.ts'

const listModules = async (entry: string): Promise<string[]> => {
  const { metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return Object.keys(metafile.inputs)
}

const isHttp = (path: string): boolean => /^src\/\w+\/http\//.test(path)

test('a worker loads what makes tasks, and no file of http', async () => {
  const modules = await listModules('src/worker.ts')
  assert.ok(modules.includes('src/tasks/create-image.ts'))
  assert.deepEqual(modules.filter(isHttp), [])
  assert.ok((await listModules('src/api.ts')).some(isHttp))
})

test('what the sources say a worker loads is what a bundler finds', async () => {
  const isCounted = (path: string): boolean => /^(src|workflows|activities)\//.test(path)
  const { loadedWith } = openCheckout(ROOT)
  const modules = (await listModules('src/worker.ts')).filter(isCounted)
  const loaded = loadedWith('src/worker.ts').filter(isCounted)
  assert.deepEqual(
    [
      loaded.filter((path) => !modules.includes(path)),
      modules.filter((path) => !loaded.includes(path)),
    ],
    [[], []],
  )
})
