import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'

import { ConfigError } from '../../src/config.ts'
import { StackRunningError } from '../../src/local/claim.ts'
import { loadKeys } from '../../src/local/keys.ts'
import { findCommand, findProcess, isRunning } from '../../src/local/process-table.ts'
import { codePath } from '../../src/local/root.ts'
import { startStack } from '../../src/local/stack.ts'
import type { Stack } from '../../src/local/stack.ts'
import { HOST_CLIENTS, describeStack } from '../../src/local/start.ts'
import { makeFolder, useFolder } from '../support/folder.ts'
import { makeTaskQueue, temporalAddress, useDatabase, workflowBundle } from '../support/stack.ts'

const run = promisify(execFile)

describe('the embedded stack', () => {
  let stack: Stack
  const dataDir = useFolder(() => stack?.stop())
  const database = useDatabase()
  const said: string[] = []

  const start = async (env: NodeJS.ProcessEnv = {}): Promise<Stack> =>
    await startStack({
      dataDir,
      issuerDir: dataDir,
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: database.url,
        OVERRIDE_DATABASE_TIMEOUT_MS: '60000',
        TEMPORAL_ADDRESS: temporalAddress(),
        TASK_QUEUE: makeTaskQueue('stack'),
        OVERRIDE_WORKFLOW_BUNDLE: workflowBundle(),
        ...env,
      },
      settings: HOST_CLIENTS,
      say: (line) => said.push(line),
      interrupt: { stop: new AbortController().signal, force: new AbortController().signal },
    })

  before(async () => {
    stack = await start()
  })

  test('uses the servers that its environment names', () => {
    assert.equal(stack.ui, undefined)
    assert.deepEqual(Object.keys(stack.pids()).toSorted(), ['api', 'worker-core', 'worker-media'])
  })

  test('says first what it starts, and shows the role of each worker to ps', () => {
    assert.match(
      said[0] ?? '',
      /^starting the database, Temporal, the api and two workers; logs in /,
    )
    for (const name of ['worker-core', 'worker-media'])
      assert.equal(findCommand(stack.pids()[name] ?? 0)?.trim(), `kiln ${name}`)
  })

  test('takes the tokens it makes, and no others', async () => {
    const ask = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${stack.url}/users/api-keys`, { headers })).status
    }
    assert.equal(await ask(await stack.token('alice')), 200)
    assert.equal(await ask('guess'), 401)
  })

  test('sets what the clients of the host need', async () => {
    const create = async (path: string, body: object): Promise<unknown> => {
      const response = await fetch(stack.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return [response.status, ((await response.json()) as { error?: string }).error]
    }
    const publication = { node: {}, node_version: { version: '7.8' }, personal_access_token: 'x' }
    const published = await create('/publishers/pub/nodes/pack/versions', publication)
    assert.deepEqual(published, [403, 'invalid_personal_access_token'])
    const extension = { model: 'videoq2-pro', video_url: 'https://videos.example.com/a.mp4' }
    assert.deepEqual(await create('/proxy/vidvendor/extend', extension), [200, undefined])
  })

  test('shows the secret that signs webhooks of tasks made without a credential', async () => {
    const { webhook } = await loadKeys(dataDir)
    assert.equal(stack.webhookSecret, webhook)
    const shown = await describeStack(stack, 'The end.')
    assert.ok(shown.includes(` ${webhook} `), shown)
  })

  test('validates its settings before it starts anything', async () => {
    for (const [name, value] of [
      ['PORT', 'abc'],
      ['PORT', '99999'],
      ['LOG_LEVEL', 'loud'],
    ] as const)
      await assert.rejects(start({ [name]: value }), (error: Error) => {
        assert.ok(error instanceof ConfigError, error.message)
        assert.match(error.message, new RegExp(`^  - ${name} must .* got "?${value}"?$`, 'm'))
        return true
      })
  })

  test('leaves its settings to the commands of an operator while it runs', async (context) => {
    const cwd = await makeFolder(context)
    await symlink(dataDir, join(cwd, '.data'))
    const options = { cwd, env: { PATH: process.env['PATH'] } }
    const { stdout } = await run(process.execPath, [codePath('src/operate.ts'), 'stuck'], options)
    assert.match(stdout, /^0 tasks have not moved for 10 minutes\n/)
  })

  test('rejects a second start on its folder and names the address of the first', async () => {
    await assert.rejects(start(), (error: Error) => {
      assert.ok(error instanceof StackRunningError)
      assert.ok(error.message.includes(stack.url))
      return true
    })
  })

  test('leaves keys, logs and files behind when it stops, and no process', async () => {
    const ids = Object.values(stack.pids()).map(findProcess)
    assert.equal(ids.length, 3)
    await stack.stop()
    assert.deepEqual(
      ids.filter((id) => id !== undefined && isRunning(id)),
      [],
    )
    assert.equal(
      (await readdir(dataDir)).toSorted().join(' '),
      'issuer.json keys.json logs storage webhook-secret.json',
    )
  })
})

describe('the embedded stack in a shell that has settings of Temporal', () => {
  const database = useDatabase()

  const startIn = async (context: TestContext, env: NodeJS.ProcessEnv): Promise<Stack> => {
    let stack: Stack | undefined
    // Hooks run as they were added: it stops before its folder goes.
    context.after(() => stack?.stop())
    const dataDir = await makeFolder(context)
    stack = await startStack({
      dataDir,
      issuerDir: dataDir,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DATABASE_URL: database.url,
        OVERRIDE_DATABASE_TIMEOUT_MS: '60000',
        TASK_QUEUE: makeTaskQueue('stack'),
        OVERRIDE_WORKFLOW_BUNDLE: workflowBundle(),
        ...env,
      },
      say: () => {},
      interrupt: { stop: new AbortController().signal, force: new AbortController().signal },
    })
    return stack
  }

  test('reaches its own server without TLS, key and namespace of another one', async (context) => {
    const file = join(await makeFolder(context), 'temporal.toml')
    await writeFile(file, '[profile.cloud]\nnamespace = "cloud.a1"\napi_key = "secret"\n')
    const { temporal, ui, pids } = await startIn(context, {
      TEMPORAL_TLS: 'true',
      TEMPORAL_API_KEY: 'secret',
      TEMPORAL_NAMESPACE: 'cloud.a1',
      TEMPORAL_CONFIG_FILE: file,
      TEMPORAL_PROFILE: 'cloud',
    })
    assert.ok(ui)
    const { tls, apiKey, namespace } = temporal
    assert.deepEqual([tls, apiKey, namespace], [undefined, undefined, 'default'])
    assert.ok(pids()['temporal'])
  })

  test('uses the server that a profile names', async (context) => {
    const file = join(await makeFolder(context), 'temporal.toml')
    await writeFile(file, `[profile.here]\naddress = "${temporalAddress()}"\n`)
    const named = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'here' }
    const { temporal, ui } = await startIn(context, named)
    assert.deepEqual([temporal.address, ui], [temporalAddress(), undefined])
  })
})

describe('the commands of the embedded stack', () => {
  const type = async (...args: string[]) =>
    await run(process.execPath, [codePath('src/local.ts'), ...args])

  for (const command of ['start', 'demo', 'token'])
    test(`${command} prints its usage`, async () => {
      assert.match((await type(command, '--help')).stdout, /^usage:/)
    })

  for (const args of ['start extra', 'demo keep', 'token --user alice bob'])
    test(`reject what is too much: ${args}`, async () => {
      const surplus = args.split(' ').at(-1)
      await assert.rejects(type(...args.split(' ')), (error: Error & { stderr: string }) => {
        assert.match(error.stderr, new RegExp(`^kiln: ${surplus} is too much\nusage:`))
        return true
      })
    })
})
