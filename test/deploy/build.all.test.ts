import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { findPort } from '../../src/local/port.ts'
import { DEVELOPMENT_AUDIENCE, signToken } from '../../src/platform/process/development-issuer.ts'
import { loadIssuerKey, startIssuer } from '../../src/local/issuer.ts'
import type { Page } from '../../src/platform/http/docs/pages.ts'
import type * as confinement from '../../src/registry/inspector/confinement.ts'
import type * as local from '../../src/registry/inspector/local.ts'
import { makeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { DEVELOPMENT_ISSUER } from '../../src/platform/process/development-issuer.ts'
import { IMAGE_API, makeClient } from '../support/client.ts'
import { startEntry } from '../support/entry.ts'
import { metricsUrl } from '../support/metrics.ts'
import { base64 } from '../support/pictures.ts'
import { createDatabase, makeTaskQueue, temporalAddress } from '../support/stack.ts'
import { makeZip } from '../support/zip.ts'
import { ROOT } from '../../src/local/root.ts'

const run = promisify(execFile)

/** Below the checkout, so that what is built finds its packages. */
const makeOutput = async (): Promise<string> => {
  const parent = join(ROOT, '.data')
  await mkdir(parent, { recursive: true })
  return await mkdtemp(join(parent, 'build-test-'))
}

/** Marks this build, whatever is checked out. */
const COMMIT = 'abcdef012345'

const PACK = 'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}\n'

const importBuilt = async <T>(out: string, file: string): Promise<T> =>
  (await import(pathToFileURL(join(out, 'src/registry/inspector', file)).href)) as T

/** Checks the arguments of the running process by its record, where the system shows them. */
const assertStartedWith = async (dir: string, expected: string[]): Promise<void> => {
  const record = (await readdir(dir)).find((name) => name.endsWith('.child.json'))
  if (record === undefined) return
  const line = await readFile(`/proc/${Number.parseInt(record, 10)}/cmdline`, 'utf8')
  const given = new Set(line.split('\0'))
  const missing = expected.filter((argument) => !given.has(argument))
  assert.deepEqual(missing, [])
}

/** Returns what became of each attempt of a process with these arguments. */
const probe = async (limits: string[], archive: string): Promise<unknown> => {
  const text = await readFile(join(import.meta.dirname, 'confined-probe.mjs'), 'utf8')
  const args = [...limits, '--input-type=module', '--eval', text, archive]
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: {} })
  return JSON.parse(stdout)
}

const READS = ['read the settings', 'read the system']
const WRITES = ['write beside the archive', 'write the archive', 'write elsewhere']
const DENIED = [...READS, ...WRITES, 'start a process', 'start a thread']
const ALLOWED = {
  'read the archive': 'done',
  ...Object.fromEntries(DENIED.map((attempt) => [attempt, 'ERR_ACCESS_DENIED'])),
  'load native code': 'ERR_DLOPEN_DISABLED',
}

describe('what `npm run build` makes', () => {
  const stops: (() => Promise<unknown>)[] = []
  let out: string

  before(async () => {
    out = await makeOutput()
    stops.unshift(() => rm(out, { recursive: true }))
    await run(process.execPath, ['tools/run.mjs', 'tools/build.ts', '--out', out, '--no-check'], {
      cwd: ROOT,
      env: { ...process.env, KILN_COMMIT: COMMIT },
    })
  })
  after(async () => {
    for (const stop of stops) await stop()
  })

  test('has the migrations, and nothing of the embedded stack', async () => {
    const migrations = await readdir(join(ROOT, 'src/platform/db/migrations'))
    assert.deepEqual(await readdir(join(out, 'src/platform/db/migrations')), migrations)
    const entries = await readdir(join(out, 'src'))
    assert.ok(!entries.some((name) => name.startsWith('local')))
  })

  test('has a chart that takes the image of its commit', async () => {
    const chart = await readFile(join(out, 'chart/Chart.yaml'), 'utf8')
    assert.match(chart, new RegExp(`^version: \\d[\\d.]+(-dev\\+${COMMIT})?$`, 'm'))
    assert.match(chart, new RegExp(`^appVersion: \\d[\\d.]+(-dev-${COMMIT})?$`, 'm'))
  })

  test('has a command kiln for callers and operators, without those of a checkout', async () => {
    const kiln = async (...args: string[]) =>
      await run(process.execPath, [join(out, 'kiln.mjs'), ...args])
    assert.match((await kiln('operate', '--help')).stdout, /^usage: kiln operate/)
    assert.match((await kiln('extract', '--help')).stdout, /^usage: kiln extract/)
    assert.match((await kiln('relight', '--help')).stdout, /^usage: kiln relight/)
    for (const args of [['receiver'], ['token', '--user', 'alice']])
      await assert.rejects(kiln(...args), /is a command of a checkout/)
  })

  test('has a page of the client that leads nowhere else', async () => {
    const page = await readFile(join(out, 'client/README.md'), 'utf8')
    assert.match(page, /the command-line tool `kiln`\./)
    assert.doesNotMatch(page, /\]\((?!https?:)/)
  })

  test('has the pages at /docs, each text with its copies', async () => {
    const text = await readFile(join(out, 'pages/pages.json'), 'utf8')
    const pages = JSON.parse(text) as Record<string, Page>
    assert.ok(pages['index'] && pages['first-task'] && pages['errors'])
    for (const { path, compressed } of Object.values(pages))
      for (const end of compressed ? ['', '.br', '.gz'] : [''])
        assert.ok((await stat(join(out, 'pages', path + end))).size > 0, path + end)
  })

  test('reads an archive in a process that may do nothing else', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'kiln-build-archive-'))
    stops.unshift(() => rm(dir, { recursive: true }))
    const path = join(dir, 'pack.zip')
    await writeFile(path, makeZip(PACK, '__init__.py'))
    const { makeLocalInspector } = await importBuilt<typeof local>(out, 'local.js')
    const inspector = makeLocalInspector({ dir })
    stops.unshift(() => inspector.close())
    const { nodes, findings } = await inspector.inspect({ path, nodeId: 'x', dependencies: [] })
    assert.equal(nodes.nodes.map(({ name }) => name).join(), 'Kiln Cup')
    assert.equal(findings.complete, true)
    const { confinementArguments } = await importBuilt<typeof confinement>(out, 'confinement.js')
    const limits = confinementArguments(dir)
    await assertStartedWith(dir, limits)
    assert.deepEqual(await probe(limits, path), ALLOWED)
  })

  test('renders an image, and all its processes say that they are healthy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kiln-build-'))
    stops.unshift(() => rm(folder, { recursive: true }))
    const database = await createDatabase()
    stops.unshift(() => database.drop())
    const key = await loadIssuerKey(folder)
    const issuer = await startIssuer(key)
    stops.unshift(() => issuer.close())
    const port = await findPort()
    const url = `http://127.0.0.1:${port}`
    const env = {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      OVERRIDE_DATABASE_TIMEOUT_MS: '60000',
      TEMPORAL_ADDRESS: temporalAddress(),
      TASK_QUEUE: makeTaskQueue('build'),
      PUBLIC_URL: url,
      PORT: String(port),
      METRICS_PORT: '0',
      AUTH_ISSUER: DEVELOPMENT_ISSUER,
      AUTH_AUDIENCE: DEVELOPMENT_AUDIENCE,
      AUTH_JWKS_URL: issuer.jwksUrl,
      STORAGE_PATH: join(folder, 'storage'),
      SIGNING_KEYS: randomBytes(32).toString('base64'),
      SECRETS_KEYS: randomBytes(32).toString('base64'),
      WEBHOOK_DEFAULT_SECRET: makeWebhookSecret(),
    }
    const start = (name: string, more: NodeJS.ProcessEnv = {}) => {
      const path = join(out, `src/${name}.js`)
      return startEntry({ path, readyMessage: `${name} ready`, env: { ...env, ...more } })
    }
    const workers = ['core', 'media'].map((role) => start('worker', { WORKER_ROLE: role }))
    const entries = await Promise.all([start('api'), ...workers])
    stops.unshift(() => Promise.all(entries.map((entry) => entry.kill())))

    const { version } = (await (await fetch(`${url}/service`)).json()) as { version: string }
    assert.match(version, new RegExp(`^\\d[\\d.]+(-dev\\+${COMMIT})?$`))
    const page = await fetch(`${url}/docs`)
    assert.match(await page.text(), /swagger-ui-/)
    const console = await (await fetch(url)).text()
    const [, script = ''] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(console) ?? []
    assert.equal((await fetch(url + script)).status, 200, console)
    const alice = makeClient(url, await signToken(key, 'alice'))
    const image = await base64({ width: 32, height: 32 })
    const made = await alice.post(`${IMAGE_API}/image-relight`, { image, prompt: 'sunset' })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const ended = await alice.untilEnded('image-relight', made.body.data.task_id)
    assert.equal(ended.status, 'COMPLETED', JSON.stringify(ended))
    for (const entry of entries) {
      const health = await fetch(`${metricsUrl(entry)}/health`)
      assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }])
    }
  })
})
