import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeEach, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { makeProgressLine } from '../../src/local/temporal-turn.ts'
import { ROOT, codePath } from '../../src/local/root.ts'
import { makeBuildProgress } from '../../src/local/temporal-build.ts'
import { TEMPORAL_SERVER_VERSION, TEMPORAL_VERSION } from '../../src/local/temporal-version.ts'
import { useFolder } from '../support/folder.ts'
import { waitFor } from '../support/wait.ts'

const TEMPORAL = `echo 'temporal version ${TEMPORAL_VERSION} (Server ${TEMPORAL_SERVER_VERSION}, UI 2)'`

/** Compiles until the file `go-on` is there, and ends as Go does when nobody reads what it says. */
const GO = `#!/bin/sh
here=$(dirname "$0")
echo "$1" >> "$here/calls"
case $1 in
  list) printf 'a\\t1\\t%s\\nb\\t2\\t%s\\n' "$0" "$0" ;;
  build)
    while [ "$1" != -o ]; do shift; done
    [ "$2" = /dev/null ] || echo half > "$2"
    trap 'echo interrupted >> "$here/calls"; exit 1' INT
    until [ -e "$here/go-on" ]; do echo a >&2; sleep 0.02; done
    printf '#!/bin/sh\\n%s\\n' "${TEMPORAL}" > "$2"
    ;;
esac
`

/** A module as an `import` of another process names it. */
const quote = (path: string): string => JSON.stringify(pathToFileURL(path).href)

describe('building temporal', () => {
  let folder: string
  let env: NodeJS.ProcessEnv
  const children: ChildProcess[] = []
  const root = useFolder(() => children.forEach((child) => child.kill('SIGKILL')))

  beforeEach(async () => {
    folder = await mkdtemp(join(root, 'case-'))
    await writeFile(join(folder, 'go'), GO)
    await chmod(join(folder, 'go'), 0o755)
    env = { PATH: `${folder}:/usr/bin:/bin`, XDG_CACHE_HOME: folder }
  })

  /** Runs code in a process of its own, with the lines that it has printed so far. */
  const run = (code: string, given: NodeJS.ProcessEnv = {}) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...env, ...given },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
    return { child, lines, ended: once(child, 'close') }
  }
  const find = () =>
    run(`
      const { findTemporalCli } = await import(${quote(codePath('src/local/temporal-cli.ts'))})
      const { buildTemporal } = await import(${quote(codePath('src/local/temporal-build.ts'))})
      const makers = [{ what: 'build', make: buildTemporal }]
      const say = (line) => process.stdout.write(line + '\\n')
      say('found ' + (await findTemporalCli({ env: process.env, say, makers })).path)`)
  const cache = (): string => join(folder, 'kiln', `temporal-${TEMPORAL_VERSION}`)
  const found = (): string => `found ${join(cache(), 'temporal')}`
  const goOn = async () => await writeFile(join(folder, 'go-on'), '')
  const calls = async (): Promise<string[]> =>
    (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).trim().split('\n')
  const countBuilds = async () => (await calls()).filter((call) => call === 'build').length
  const untilBuilding = async (times: number) =>
    await waitFor(`Go builds for the ${times}. time`, async () => (await countBuilds()) === times)

  test('is done once for commands at the same time', async () => {
    const first = find()
    await untilBuilding(1)
    const second = find()
    await waitFor('the second one waits', async () => second.lines.length > 0)
    assert.deepEqual(second.lines, [
      `waiting for process ${first.child.pid}, which makes temporal for all`,
    ])
    await goOn()
    await Promise.all([first.ended, second.ended])
    assert.match(
      first.lines[0] ?? '',
      /^building temporal .* about \d+ min where nothing else runs$/,
    )
    assert.deepEqual([first.lines.at(-1), second.lines.at(-1)], [found(), found()])
    assert.deepEqual(await calls(), ['version', 'list', 'build'])
    assert.deepEqual(await readdir(cache()), ['temporal'])
  })

  test('is taken over from a command that was killed', async () => {
    const first = find()
    await untilBuilding(1)
    const [second, third] = [find(), find()]
    await waitFor('both wait', async () => second.lines.length > 0 && third.lines.length > 0)
    assert.ok((await readdir(cache())).includes(`temporal.${first.child.pid}`))
    first.child.kill('SIGKILL')
    await untilBuilding(2)
    await goOn()
    await Promise.all([first.ended, second.ended, third.ended])
    assert.deepEqual([second.lines.at(-1), third.lines.at(-1)], [found(), found()])
    assert.equal(await countBuilds(), 2)
    assert.deepEqual(await readdir(cache()), ['temporal'])
  })

  /** Calls of Go beside an installation of packages, which ends once Go builds. */
  const warm = async (given: NodeJS.ProcessEnv, isReachable = false): Promise<string[]> => {
    const code = `
      globalThis.fetch = async () => { if (!${isReachable}) throw new Error('no network') }
      const { warmTemporal } = await import(${quote(join(ROOT, 'tools/warm-temporal.mjs'))})
      const installed = new AbortController()
      process.once('SIGUSR2', () => installed.abort())
      await warmTemporal((line) => process.stdout.write(line + '\\n'), installed.signal)`
    const { child, ended } = run(code, { npm_lifecycle_event: 'demo', ...given })
    if (await Promise.race([once(child.stdout, 'data'), ended.then(() => false)])) {
      await untilBuilding(1)
      child.kill('SIGUSR2')
    }
    await ended
    return await calls()
  }

  test('goes on until the packages are installed', async () => {
    assert.deepEqual(await warm({}), ['build', 'interrupted'])
  })

  test('is left out beside the installation where nothing is to be built', async () => {
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/temporal'), '')
    for (const given of [
      { npm_lifecycle_event: 'format' },
      { TEMPORAL_ADDRESS: '127.0.0.1:7233' },
      { TEMPORAL_CLI_PATH: '/somewhere' },
      { PATH: `${env['PATH']}:${join(folder, 'bin')}` },
      { HTTPS_PROXY: 'http://127.0.0.1:1' },
    ])
      assert.deepEqual(await warm(given), [''], JSON.stringify(given))
    assert.deepEqual(await warm({}, true), [''], 'it can be downloaded')
    for (const name of ['claim.json', 'temporal']) {
      await mkdir(cache(), { recursive: true })
      await writeFile(join(cache(), name), '')
      assert.deepEqual(await warm({}), [''], name)
      await rm(cache(), { recursive: true })
    }
  })

  test('leaves out what a development server never uses', async () => {
    const path = join(ROOT, 'tools/temporal')
    const text = await readFile(join(path, 'go.mod'), 'utf8')
    assert.match(text, new RegExp(`github.com/temporalio/cli v${TEMPORAL_VERSION} `))
    assert.match(text, new RegExp(`go.temporal.io/server v${TEMPORAL_SERVER_VERSION} `))
    const replaced = [...text.matchAll(/^\t(\S+) => (\.\/stubs\/\S+)$/gm)]
    assert.equal(replaced.length, (await readdir(join(path, 'stubs'))).length)
    for (const [, module, stub = ''] of replaced)
      assert.equal(await readFile(join(path, stub, 'go.mod'), 'utf8'), `module ${module}\n`)
    assert.doesNotMatch(text, /k8s\.io|service\/(lambda|ecs|sts)|cloud\.google\.com\/go\/run/)
  })
})

test('a build says its share, and the time left once it has a rate', (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const shares = { a: 2, b: 18, c: 60, d: 20 }
  const progress = makeBuildProgress(Object.entries(shares))
  for (const [line, seconds, said] of [
    ['a', 10, '2 %'],
    ['# a line of its own', 10, '2 %'],
    ['b', 60, '20 %, about 4 min left'],
    ['c', 120, '80 %, about 30 s left'],
  ] as const) {
    progress.count(line)
    assert.equal(progress.describe(seconds * 1000), said)
  }
})

test('a build of nothing is done', () => {
  assert.match(makeBuildProgress([]).describe(Date.now()), /^100 %/)
})

describe('a line of progress', () => {
  test('is said each half minute where there is no terminal', (t) => {
    t.mock.timers.enable({ apis: ['Date'] })
    const said: string[] = []
    const write = () => assert.fail('there is no terminal')
    const line = makeProgressLine((text) => said.push(text), { isTTY: false, write })
    for (let second = 1; second <= 70; second++) {
      t.mock.timers.tick(1000)
      line.show(`${second} s`)
    }
    line.end()
    assert.deepEqual(said, ['30 s', '60 s'])
  })

  test('is written again in its place on a terminal, and leaves it', () => {
    const written: unknown[] = []
    const line = makeProgressLine(assert.fail, {
      isTTY: true,
      write: (text: unknown) => written.push(text) > 0,
    })
    line.show('1 %')
    line.show('2 %')
    line.end()
    assert.deepEqual(written, ['\u001B[2K1 %\r', '\u001B[2K2 %\r', '\u001B[2K'])
  })
})
