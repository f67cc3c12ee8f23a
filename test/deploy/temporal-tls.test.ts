import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { Connection } from '@temporalio/client'

import { startBareTasks } from '../../bench/support/bare-task.ts'
import { makeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { readConfig } from '../../src/config.ts'
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts'
import { adviseTemporal } from '../../src/platform/temporal/temporal-advice.ts'
import { codePath } from '../../src/local/root.ts'
import { pickSecurity, readTemporal } from '../../src/platform/settings/temporal.ts'
import { makeCertificate, type Certificate } from '../support/certificate.ts'
import { makeClient, type Client } from '../support/client.ts'
import { spawnEntry, startEntry } from '../support/entry.ts'
import { base64 } from '../support/pictures.ts'
import { useFolder } from '../support/folder.ts'
import { listen } from '../support/network.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startService, type Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import {
  startTemporalFrontend,
  type FrontendOptions,
  type TemporalFrontend,
} from '../support/temporal-frontend.ts'
import { waitFor } from '../support/wait.ts'

const folder = useFolder()
const HERE = ['127.0.0.1', 'temporal.test']
const server = makeCertificate(HERE)
const client = makeCertificate(['worker'])

const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, `${randomUUID()}-${name}`)
  await writeFile(path, text)
  return path
}

const GOOD = {
  DATABASE_URL: 'postgres://kiln@localhost/kiln',
  TEMPORAL_ADDRESS: 'localhost:7233',
  PUBLIC_URL: 'https://kiln.example.com',
  AUTH_ISSUER: 'https://issuer.example.com',
  AUTH_AUDIENCE: 'kiln',
  AUTH_JWKS_URL: 'https://issuer.example.com/jwks',
  SIGNING_KEYS: randomBytes(32).toString('base64'),
  SECRETS_KEYS: randomBytes(32).toString('base64'),
  WEBHOOK_DEFAULT_SECRET: makeWebhookSecret(),
}

const shownBy = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig({ ...GOOD, ...env }, 'migrate')
    return ''
  } catch (error) {
    return String(error)
  }
}

describe('settings of Temporal', () => {
  const ROWS: [name: string, env: NodeJS.ProcessEnv, sentence: RegExp][] = [
    [
      'a certificate without its key',
      { TEMPORAL_TLS_CLIENT_CERT_DATA: client.cert },
      /TEMPORAL_TLS_CLIENT_KEY_PATH is absent: a client certificate and its key go together/,
    ],
    [
      'the key of another certificate',
      { TEMPORAL_TLS_CLIENT_CERT_DATA: client.cert, TEMPORAL_TLS_CLIENT_KEY_DATA: server.key },
      /TEMPORAL_TLS_CLIENT_KEY_PATH is not the key of the client certificate/,
    ],
    [
      'a file that is not there',
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' },
      /TEMPORAL_TLS_SERVER_CA_CERT_PATH cannot be read: ENOENT/,
    ],
    [
      'text that is no PEM',
      { TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'certificate' },
      /TEMPORAL_TLS_SERVER_CA_CERT_DATA must be a certificate in PEM/,
    ],
    [
      'a key that travels in the clear',
      { TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'k' },
      /TEMPORAL_TLS must not be false beside TEMPORAL_API_KEY/,
    ],
    [
      'a switch of other SDKs that this one ignores',
      { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' },
      /TEMPORAL_TLS_DISABLE_HOST_VERIFICATION must not be set: give TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'a word that is no boolean',
      { TEMPORAL_TLS: 'yes' },
      /TEMPORAL_TLS must be true or false, got "yes"/,
    ],
    [
      'a file of profiles that is not there',
      { TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' },
      /TEMPORAL_CONFIG_FILE is not usable: ENOENT/,
    ],
  ]
  for (const [name, env, sentence] of ROWS)
    test(`are rejected with ${name}`, () => assert.match(shownBy(env), sentence))

  test('come from a profile where the variables leave them open', async () => {
    const profiles = `[profile.cloud]\naddress = "cloud.test:7233"\nnamespace = "n.a1"\napi_key = "k1"\n`
    const named = {
      TEMPORAL_CONFIG_FILE: await write('temporal.toml', profiles),
      TEMPORAL_PROFILE: 'cloud',
    }
    const { TEMPORAL_ADDRESS: _address, ...open } = GOOD
    const env = { ...open, ...named }
    const config = readConfig(env, 'migrate')
    assert.equal(config.TEMPORAL_ADDRESS, 'cloud.test:7233')
    assert.equal(config.TEMPORAL_NAMESPACE, 'n.a1')
    const { apiKey, tls, namespace } = readTemporal({ ...env, TEMPORAL_NAMESPACE: 'other' })
    assert.deepEqual([apiKey, tls, namespace], ['k1', true, 'other'])
    const wrong = shownBy({ ...named, TEMPORAL_PROFILE: 'moon' })
    assert.match(wrong, /TEMPORAL_CONFIG_FILE is not usable: Profile 'moon' not found/)
  })

  test('do not come from the profile of whoever starts the service', async () => {
    const home = { HOME: '/nowhere', XDG_CONFIG_HOME: folder }
    await write('temporal.toml', '[profile.default]\naddress = "cloud.test:7233"\n')
    assert.equal(readTemporal({ ...GOOD, ...home }).address, GOOD.TEMPORAL_ADDRESS)
  })
})

describe('what keeps a process from calling Temporal', () => {
  /** Starts a frontend, and returns what is said of calling it with these settings. */
  const ask = async (frontend: FrontendOptions, env: NodeJS.ProcessEnv, error?: unknown) => {
    const started = await startTemporalFrontend(frontend)
    try {
      return await adviseTemporal(
        readTemporal({ TEMPORAL_ADDRESS: started.address, ...env }),
        error,
      )
    } finally {
      await started.close()
    }
  }
  const CA = { TEMPORAL_TLS_SERVER_CA_CERT_DATA: server.cert }
  const shown = (pair: Certificate) => ({
    TEMPORAL_TLS_CLIENT_CERT_DATA: pair.cert,
    TEMPORAL_TLS_CLIENT_KEY_DATA: pair.key,
  })
  const secured = { certificate: server, clients: [client.cert] }
  const status = (code: number, details: string) =>
    Object.assign(new Error(details), { code, details, metadata: {} })

  const ROWS: [
    name: string,
    frontend: FrontendOptions,
    env: NodeJS.ProcessEnv,
    sentence: RegExp,
  ][] = [
    [
      'TLS where none is set',
      { certificate: server },
      {},
      /speaks TLS, and TEMPORAL_TLS is not set/,
    ],
    [
      'client certificates where no TLS is set',
      secured,
      {},
      /speaks TLS, and TEMPORAL_TLS is not set/,
    ],
    ['no TLS where it is set', {}, { TEMPORAL_TLS: 'true' }, /does not speak TLS there: unset/],
    [
      'an authority that nobody knows',
      { certificate: server },
      { TEMPORAL_TLS: 'true' },
      /signed by no authority that Node knows: set TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'an authority that is another',
      { certificate: server },
      { TEMPORAL_TLS_SERVER_CA_CERT_DATA: client.cert },
      /not signed by the authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'another name',
      { certificate: server },
      { ...CA, TEMPORAL_TLS_SERVER_NAME: 'other.test' },
      /other\.test.*set TEMPORAL_TLS_SERVER_NAME to a name in it/,
    ],
    [
      'a client certificate that is not given',
      secured,
      CA,
      /asks for a client certificate \(.*\): set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      'another client certificate',
      secured,
      { ...CA, ...shown(makeCertificate(['stranger'])) },
      /rejects the certificate in TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
  ]
  for (const [name, frontend, env, sentence] of ROWS)
    test(`is said of ${name}`, async () => assert.match((await ask(frontend, env)) ?? '', sentence))

  test('is said of a certificate that has ended', async () => {
    const ended = makeCertificate(HERE, -1)
    const env = { TEMPORAL_TLS_SERVER_CA_CERT_DATA: ended.cert }
    assert.match((await ask({ certificate: ended }, env)) ?? '', /certificate has expired/)
  })

  test('is said of keys and namespaces that the server rejects', async () => {
    const key = { ...CA, TEMPORAL_API_KEY: 'k' }
    const frontend = { certificate: server }
    assert.match(
      (await ask(frontend, CA, status(16, 'no'))) ?? '',
      /without a key .*TEMPORAL_API_KEY/,
    )
    assert.match((await ask(frontend, key, status(7, 'no'))) ?? '', /rejects the key/)
    const unknown = status(5, 'Namespace default is not found.')
    assert.match((await ask(frontend, CA, unknown)) ?? '', /has no namespace default: create it/)
  })

  test('is said of a port that nobody listens at', async () => {
    const { port, close } = await listen(createServer())
    await close()
    const target = readTemporal({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` })
    assert.match((await adviseTemporal(target)) ?? '', /does not respond \(ECONNREFUSED\)/)
  })

  test('is nothing where all fits', async () => {
    assert.equal(await ask(secured, { ...CA, ...shown(client) }), undefined)
    assert.equal(await ask({}, {}), undefined)
  })
})

describe('a service behind TLS, a client certificate and an API key', () => {
  const namespace = `kiln-${randomUUID()}`
  const files = {
    ca: join(folder, 'ca.pem'),
    cert: join(folder, 'cert.pem'),
    key: join(folder, 'key.pem'),
  }
  const settings = (): NodeJS.ProcessEnv => ({
    TEMPORAL_ADDRESS: frontend.address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_API_KEY: 'secret-key',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: files.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: files.cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: files.key,
    OVERRIDE_TEMPORAL_RENEWAL_MS: '200',
  })
  const target = temporalAddress()
  let frontend: TemporalFrontend
  let connection: Connection
  let service: Service
  let caller: Client

  const writePair = async (shown: Certificate, authority: string): Promise<void> => {
    await writeFile(files.ca, authority)
    await writeFile(files.cert, shown.cert)
    await writeFile(files.key, shown.key)
  }

  before(async () => {
    connection = await Connection.connect({ address: target, connectTimeout: PATIENCE_MS })
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    })
    await writePair(client, server.cert)
    const clients = [client.cert]
    frontend = await startTemporalFrontend({
      target,
      certificate: server,
      clients,
      apiKey: 'secret-key',
    })
    service = await startService({ env: settings() })
    caller = makeClient(
      () => service.baseUrl,
      () => service.token('caller'),
    )
  })
  after(async () => {
    await service?.stop()
    await frontend?.close()
    await connection?.close()
  })

  const run = async (entry: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) =>
    await promisify(execFile)(process.execPath, [codePath(entry), ...args], {
      env: { ...service.settings, ...env },
    }).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) =>
        `${stdout}${stderr}exit ${code}`,
    )

  const create = async (): Promise<string> => await caller.createImage({ image: await base64() })

  const untilWaits = (id: string, reason: RegExp): Promise<unknown> =>
    waitFor(`the start of ${id} waits`, async () => {
      const [row] = await service.database.sql<{ last_error: string | null }[]>`
        select last_error from outbox
        where workflow_id = ${`image-task/${id}`} and dispatched_at is null
      `
      return reason.test(row?.last_error ?? '')
    })

  const assertCompleted = async (id: string): Promise<void> => {
    const ended = await caller.untilEnded('image-upscaler', id)
    assert.equal(ended.status, 'COMPLETED', JSON.stringify(ended))
  }

  test('waits with starts until somebody has added the search attributes, and says the command', async () => {
    frontend.reject = (method) =>
      method.endsWith('SearchAttributes') ? [7, 'not allowed for this account'] : undefined
    const printed = await run('src/migrate.ts')
    assert.match(
      printed,
      /temporal operator search-attribute create -n kiln-.* --name KilnOwner --type Keyword/,
    )
    assert.match(printed, /"scheduled"/)
    assert.doesNotMatch(printed, /exit/)
    const id = await create()
    await untilWaits(id, /search attribute/i)
    await registerSearchAttributes(connection, namespace)
    await assertCompleted(id)
    frontend.reject = undefined
  })

  test('waits at a limit of its namespace, and loses nothing', async () => {
    frontend.reject = (method) =>
      method === 'StartWorkflowExecution' ? [8, 'namespace rate limit exceeded'] : undefined
    const ids = [await create(), await create(), await create()]
    for (const id of ids) await untilWaits(id, /rate limit/)
    frontend.reject = undefined
    for (const id of ids) await assertCompleted(id)
  })

  test('runs the workflows that a benchmark compares with', async () => {
    const shell = pickSecurity(settings())
    Object.assign(process.env, shell, { TEST_TEMPORAL_ADDRESS: frontend.address })
    const bare = await startBareTasks(frontend.address)
    try {
      const polls = frontend.calls.filter((method) => method.startsWith('Poll'))
      assert.ok(polls.length > 0, frontend.calls.join())
      await bare.runTask()
    } finally {
      await bare.stop()
      for (const name of Object.keys(shell)) delete process.env[name]
      process.env['TEST_TEMPORAL_ADDRESS'] = target
    }
  })

  test('takes certificates that were replaced in their files without a restart', async () => {
    const [nextServer, nextClient] = [makeCertificate(HERE), makeCertificate(['worker'])]
    await writePair(nextClient, nextServer.cert)
    frontend.replace(nextServer, [nextClient.cert])
    await assertCompleted(await create())
    for (const role of ['api', 'core', 'media'] as const)
      await waitFor(`${role} has the new certificate`, () =>
        service.entry(role).log.some((line) => line.includes('that was replaced')),
      )
  })

  /** Wrong settings, and what every process says of them. */
  const ROWS: [what: string, wrong: NodeJS.ProcessEnv, says: RegExp][] = [
    [
      'no client certificate',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' },
      /asks for a client certificate .*: set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    ['nobody at the address', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /or correct TEMPORAL_ADDRESS/],
    ['another API key', { TEMPORAL_API_KEY: 'another' }, /rejects the key in TEMPORAL_API_KEY/],
    [
      'another namespace',
      { TEMPORAL_NAMESPACE: 'nowhere' },
      /has no namespace nowhere: .*or correct TEMPORAL_NAMESPACE/,
    ],
    [
      'no certificate file',
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' },
      /TEMPORAL_TLS_SERVER_CA_CERT_PATH .*cannot be read/,
    ],
  ]
  for (const [what, wrong, says] of ROWS)
    test(`says of ${what} in every process, in a line of JSON`, async () => {
      const env = { ...service.settings, ...wrong }
      await Promise.all(
        (['core', 'media', 'api'] as const).map(async (role) => {
          const path = role === 'api' ? 'src/api.ts' : 'src/worker.ts'
          const { kill, log } = spawnEntry({
            path,
            env: { ...env, PORT: '0', ...(role !== 'api' && { WORKER_ROLE: role }) },
          })
          const line = await waitFor(
            () => `${role} says it: ${log.join('\n')}`,
            () => log.find((it) => says.test(it)),
          ).finally(kill)
          assert.ok((JSON.parse(line) as { level: number }).level >= 40, role)
          for (const said of log) assert.doesNotThrow(() => JSON.parse(said), said)
        }),
      )
      const printed = await run('src/migrate.ts', [], wrong)
      assert.match(printed, says)
      assert.match(printed, /exit 1$/)
    })

  test('says in every process what is wrong', async () => {
    const wrong = {
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: '',
      TEMPORAL_TLS_SERVER_CA_CERT_DATA: client.cert,
    }
    const env = { ...service.settings, ...wrong }
    const advice = (await adviseTemporal(readTemporal(env))) ?? ''
    assert.match(advice, /not signed by the authority/)
    assert.match(await run('src/migrate.ts', [], wrong), new RegExp(`${advice}[^]*exit 1`))
    assert.match(await run('src/operate.ts', ['stuck'], { ...wrong }), /tasks have not moved/)
    const doctor = await run('src/operate.ts', ['doctor'], wrong)
    assert.ok(doctor.includes(advice), doctor)
    assert.ok(!doctor.includes('secret-key'), doctor)
    for (const [path, own, readyMessage] of [
      ['src/worker.ts', { WORKER_ROLE: 'core' }, `${advice}; waiting`],
      ['src/worker.ts', { WORKER_ROLE: 'media' }, `${advice}; waiting`],
      ['src/api.ts', { PORT: '0' }, advice],
    ] as const) {
      const entry = await startEntry({ path, env: { ...env, ...own }, readyMessage })
      await entry.kill()
    }
    const strange = await run('src/migrate.ts', [], { TEMPORAL_API_KEY: 'another' })
    assert.match(strange, /rejects the key in TEMPORAL_API_KEY for the namespace kiln-/)
    const nowhere = await run('src/operate.ts', ['doctor'], { TEMPORAL_NAMESPACE: 'nowhere' })
    assert.match(nowhere, /has no namespace nowhere: create it/)
  })
})
