import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeFolder } from '../support/folder.ts'
import { waitFor } from '../support/wait.ts'

const { PROGRAMS } = (await import(join(ROOT, 'tools/compile.mjs'))) as { PROGRAMS: string[] }

const LISTS = `
import { readdirSync } from 'node:fs'
console.log(readdirSync(new URL('./sql', import.meta.url)).join())
`
/** Waits for a file, if it is to, while V8 makes what it keeps of a service. */
const WAITS = `
import { existsSync } from 'node:fs'
const file = process.env['WAIT_OF_SERVICE']
while (file && !existsSync(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
export const waited = true
`
const service = (line: string): string => `import { waited } from './SERVICE.ts'\n\n${line}\n`

/** A checkout with the smallest programs there can be. */
const SOURCES: Record<string, string> = {
  ...Object.fromEntries(PROGRAMS.map((path) => [path, ''])),
  'package-lock.json': '{}',
  'package.json': '{"type":"module"}',
  'src/migrate.ts': LISTS,
  'src/sql/1.sql': '',
  'src/sql/2.sql': '',
  'src/operate.ts':
    "import data from './data.json' with { type: 'json' }\nconsole.log(data.name)\n",
  'src/data.json': '{"name":"first"}',
  'src/local.ts': LISTS,
  'src/api-waits.ts': WAITS.replace('SERVICE', 'API'),
  'src/worker-waits.ts': WAITS.replace('SERVICE', 'WORKER'),
  'src/api.ts': service("console.log('first', waited)").replace('SERVICE', 'api-waits'),
  'src/worker.ts': service('console.log(waited)').replace('SERVICE', 'worker-waits'),
  'node_modules/@temporalio/worker/lib/workflow/workflow-worker-thread.js': '',
}

const makeCheckout = async (context: TestContext) => {
  const root = await makeFolder(context, SOURCES)
  const write = (path: string, content: string) => writeFile(join(root, path), content)
  await cp(join(ROOT, 'tools'), join(root, 'tools'), { recursive: true })
  await mkdir(join(root, 'patches'))
  await symlink(join(ROOT, 'node_modules/esbuild'), join(root, 'node_modules/esbuild'))
  /** Standard error of each run. */
  const errors: string[] = []
  /** Runs a program, compiled as it is started, and returns what it prints. */
  const run = async (source: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const child = spawn(process.execPath, [join(root, 'tools/run.mjs'), source], {
      // As by its path: a script of npm would install the packages.
      env: { ...process.env, npm_lifecycle_event: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ends = [text(child.stdout), text(child.stderr), once(child, 'close')] as const
    const [printed, error] = await Promise.all(ends)
    errors.push(error)
    return printed.trim()
  }
  return { root, write, run, errors }
}

test('in a fresh checkout a program that is waited for is compiled alone', async (context) => {
  const { root, run } = await makeCheckout(context)
  assert.equal(await run('src/migrate.ts'), '1.sql,2.sql')
  await assert.rejects(access(join(root, '.built/src/api.js')))
})

test('many sources that are compiled are said first', async (context) => {
  const { root, run, errors } = await makeCheckout(context)
  await mkdir(join(root, 'src/many'))
  for (let file = 0; file < 101; file += 1)
    await writeFile(join(root, `src/many/${file}.ts`), 'export const a = 1\n')
  await run('src/local.ts')
  await run('src/local.ts')
  assert.deepEqual(errors, ['kiln: compiling the sources\n', ''])
})

test('what has left the checkout leaves what was compiled of it, whoever compiled that', async (context) => {
  const { root, run } = await makeCheckout(context)
  await run('src/migrate.ts')
  await rm(join(root, 'src/sql/1.sql'))
  assert.equal(await run('src/migrate.ts'), '2.sql')
  await rm(join(root, 'src/sql/2.sql'))
  await writeFile(join(root, 'src/sql/3.sql'), '')
  assert.equal(await run('src/local.ts'), '3.sql')
})

test('a program is compiled again when data in it has changed', async (context) => {
  const { write, run } = await makeCheckout(context)
  await run('src/local.ts')
  assert.equal(await run('src/operate.ts'), 'first')
  await write('src/data.json', '{"name":"second"}')
  await run('src/local.ts')
  assert.equal(await run('src/operate.ts'), 'second')
})

test('of two that compile at once the one with the older sources is not the last word', async (context) => {
  const { root, write, run } = await makeCheckout(context)
  const go = { older: join(root, 'older'), newer: join(root, 'newer') }
  const older = run('src/local.ts', { WAIT_OF_API: go.older })
  await waitFor('the older one has read the api', async () => {
    const names = await readdir(join(root, '.built/src/chunks')).catch(() => [])
    return names.some((name) => /^api-.*\.cjs$/.test(name))
  })
  await write('src/api.ts', SOURCES['src/api.ts']?.replace('first', 'second') ?? '')
  const newer = run('src/local.ts', { WAIT_OF_WORKER: go.newer })
  await waitFor('the newer one has written the api', () =>
    access(join(root, '.built/src/api.js')).then(
      () => true,
      () => false,
    ),
  )
  await writeFile(go.older, '')
  await older
  await writeFile(go.newer, '')
  await newer
  assert.equal(await run('src/api.ts'), 'second true')
})
