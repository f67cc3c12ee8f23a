import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT } from '../../src/local/root.ts'
import { buildPackages } from '../../tools/build-packages.ts'
import { installOlderCompiler } from '../../tools/openapi-types.ts'
import { makeEnvironment, Skipped } from '../../tools/python.ts'
import { listBlocks } from '../support/guide.ts'
import { useService } from '../support/service.ts'

/** Everything below is outside of the checkout, so that nothing of it is found by chance. */
const folder = await mkdtemp(join(tmpdir(), 'kiln-packages-'))
const dist = join(folder, 'dist')
after(() => rm(folder, { recursive: true }))

let env: NodeJS.ProcessEnv
useService({}, async ({ baseUrl, token }) => {
  env = { PATH: process.env['PATH'], KILN_URL: baseUrl, KILN_TOKEN: await token('alice') }
})

const run = async (cwd: string, program: string, ...args: string[]): Promise<string> => {
  const ran = promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env } })
  const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(error.stdout + error.stderr),
  )
  return stdout
}

const findBuilt = async (form: RegExp): Promise<string> => {
  const name = (await readdir(dist)).find((each) => form.test(each))
  assert.ok(name, `${String(form)} is not built`)
  return join(dist, name)
}

/** Makes a project that has what `npm install` takes of these packages, and the samples that examples name. */
const installProject = async (name: string, ...forms: RegExp[]): Promise<string> => {
  const project = join(folder, name)
  await cp(join(ROOT, 'samples/pack'), join(project, 'my-pack'), { recursive: true })
  await symlink(join(ROOT, 'samples'), join(project, 'samples'))
  await writeFile(join(project, 'package.json'), '{"type": "module"}')
  const files = await Promise.all(forms.map(findBuilt))
  await run(project, 'npm', 'install', '--prefer-offline', '--ignore-scripts', ...files)
  return project
}

const readExamples = async (page: string, language: string): Promise<string[]> =>
  listBlocks(await readFile(join(ROOT, page), 'utf8'))
    .filter((block) => block.language === language)
    .map(({ code }) => code)

/** First message of a program that speaks the Model Context Protocol. */
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node']
const NODENEXT = ['--module', 'nodenext']

/** Resolves as projects do that do not read `exports`. */
const NODE10 = ['--module', 'esnext', '--moduleResolution', 'node10']

/** Checks a program against the types of the packages, all of which are read, by today's resolution and the oldest. */
const checkTypes = async (project: string, code: string): Promise<void> => {
  await writeFile(join(project, 'program.ts'), code)
  await symlink(join(ROOT, 'node_modules/@types'), join(project, 'node_modules/@types'))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await run(project, tsc, ...STRICT, ...NODENEXT, 'program.ts')
  await run(
    project,
    process.execPath,
    await installOlderCompiler(),
    ...STRICT,
    ...NODE10,
    'program.ts',
  )
}

describe('what `npm run build` makes to be installed elsewhere', () => {
  before(() => buildPackages(dist))

  test('the package of the client runs its first example, and has its types and the command kiln', async () => {
    const project = await installProject('client', /^kiln-client-.*\.tgz$/)
    const [begin = '', task = ''] = await readExamples('docs/client.md', 'ts')
    await writeFile(join(project, 'program.js'), begin + task)
    env['RESULT'] = join(project, 'out.jpg')
    assert.match(await run(project, process.execPath, 'program.js'), /COMPLETED/)
    assert.ok((await readFile(env['RESULT'])).length > 1000)
    const options = `{ baseUrl: 'http://a.example' }`
    await checkTypes(
      project,
      `import { makeKiln } from 'kiln-client'\nconst kiln = makeKiln(${options})
       export const main = async (): Promise<string> => {
         // @ts-expect-error -- a body has no such member
         await kiln.relight({ picture: '' })
         // @ts-expect-error -- a filter has no such member
         for await (const task of kiln.tasks.list({ colour: 'red' })) return task.kind
         return (await kiln.relight({ image: new Uint8Array() })).id
       }\n`,
    )
    const command = join(project, 'node_modules/kiln-client/kiln.js')
    const model = spawn(process.execPath, [command, 'mcp'], { cwd: project, env })
    model.stdin.write(`${JSON.stringify(INITIALIZE)}\n`)
    const [line] = (await once(createInterface({ input: model.stdout }), 'line')) as [string]
    assert.match(line, /"serverInfo":{"name":"kiln"/)
    const ended = once(model, 'exit')
    model.stdin.end()
    assert.deepEqual(await ended, [0, null])
    const relit = ['kiln', 'relight', 'samples/thumbnail.jpg', '-o', 'relit.jpg']
    assert.equal(await run(project, 'npx', ...relit), 'relit.jpg\n')
    const checked = await run(project, 'npx', 'kiln', 'check', 'my-pack', '--publisher', 'alice')
    assert.match(
      checked,
      /reading {3}not done: .*kiln-inspector.* is not installed\nso far nothing/,
    )
  })

  test('the package of the inspector reads a pack, and does so for kiln check', async () => {
    const project = await installProject(
      'inspector',
      /^kiln-inspector-.*\.tgz$/,
      /^kiln-client-.*\.tgz$/,
    )
    const [first = ''] = await readExamples('packages/inspector/README.md', 'sh')
    const [command = ''] = first.split('#')
    const read = await run(project, 'bash', '-c', command)
    assert.match(read, /nodes +3 host nodes \(v1\)\n/)
    const [program = ''] = await readExamples('packages/inspector/README.md', 'ts')
    await writeFile(join(project, 'program.js'), program.replace('my-pack.zip', 'my-pack'))
    assert.equal(await run(project, process.execPath, 'program.js'), 'sound 3 0\n')
    await checkTypes(project, program)
    const checked = await run(project, 'npx', 'kiln', 'check', 'my-pack', '--publisher', 'alice')
    assert.match(checked, /\nnothing stands in the way\n$/)
    const installed = await readdir(join(project, 'node_modules'))
    assert.ok(!installed.some((name) => name.startsWith('tree-sitter')), installed.join())
  })

  for (const form of [/^kiln_client-.*\.whl$/, /^kiln_client-.*\.tar\.gz$/])
    test(`the Python client is installed from ${form.source} and runs its first example`, async (context) => {
      const place = join(folder, form.source.includes('whl') ? 'wheel' : 'sdist')
      try {
        const bin = await makeEnvironment(join(place, 'venv'))
        const python = join(bin, 'python')
        await run(place, python, '-m', 'pip', 'install', '-q', await findBuilt(form))
        await symlink(join(ROOT, 'samples'), join(place, 'samples'))
        const [example = ''] = await readExamples('packages/python/README.md', 'python')
        await writeFile(join(place, 'program.py'), example)
        assert.match(await run(place, python, 'program.py'), /COMPLETED/)
        assert.ok((await readFile(join(place, 'relit.jpg'))).length > 1000)
      } catch (error) {
        if (!(error instanceof Skipped)) throw error
        context.skip(error.message)
      }
    })

  test('kiln-engine is installed from its wheel and serves its first example', async (context) => {
    const place = join(folder, 'engine')
    try {
      const bin = await makeEnvironment(join(place, 'venv'))
      const python = join(bin, 'python')
      const wheel = await findBuilt(/^kiln_engine-.*\.whl$/)
      await run(place, python, '-m', 'pip', 'install', '-q', '--no-index', wheel)
      const [example = ''] = await readExamples('packages/engine-python/README.md', 'python')
      await writeFile(join(place, 'enhance.py'), example)
      const args = ['-m', 'kiln_engine', 'enhance.py', '--port', '0']
      const engine = spawn(python, args, { cwd: place, stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = (await once(createInterface({ input: engine.stdout }), 'line')) as [string]
      const url = line.replace('Listening on ', '')
      assert.match(await run(place, python, '-m', 'kiln_engine', 'conform', url), /^(right.*\n)+$/)
      const ended = once(engine, 'exit')
      engine.kill()
      assert.deepEqual(await ended, [0, null])
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      context.skip(error.message)
    }
  })
})
