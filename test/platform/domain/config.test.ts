import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, mock, test } from 'node:test'

import {
  examineSettings,
  checkGiven,
  ConfigError,
  keepSettings,
  listSecretValues,
  readConfig,
  warnOfSettings,
} from '../../../src/config.ts'
import type { Log } from '../../../src/platform/log.ts'
import { examine } from '../../../src/operate/doctor.ts'
import { listRemovedSettings } from '../../../src/compose/settings/removed.ts'
import type { ProcessName } from '../../../src/compose/settings/issues.ts'
import { DEVELOPMENT_ISSUER } from '../../../src/platform/process/development-issuer.ts'
import { KEY_SETTINGS } from '../../../src/compose/settings/issues.ts'
import { readEngines, readFleetItems, readUpstreams } from '../../../src/engines/settings.ts'
import { readDelivery } from '../../../src/events/settings.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeEngineOf, readQuotas, readSlots } from '../../../src/tasks/settings.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

const key = () => randomBytes(32).toString('base64')
const webhookSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`

const GOOD = {
  DATABASE_URL: 'postgres://kiln:secret-word@localhost/kiln',
  TEMPORAL_ADDRESS: 'localhost:7233',
  PUBLIC_URL: 'https://kiln.example.com',
  AUTH_ISSUER: 'https://issuer.example.com',
  AUTH_AUDIENCE: 'kiln',
  AUTH_JWKS_URL: 'https://issuer.example.com/jwks',
  SIGNING_KEYS: key(),
  SECRETS_KEYS: key(),
  WEBHOOK_DEFAULT_SECRET: webhookSecret(),
}

/** The lines of the message between its first and its last. */
const issuesOf = (environment: NodeJS.ProcessEnv, process?: ProcessName): string[] => {
  try {
    readConfig(environment, process)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /\.env\.example/)
    const issues = error.message.split('\n').slice(1, -1)
    return issues.map((line) => line.replace(/^ {2}- /, ''))
  }
  assert.fail('it is taken')
}

const without = (names: readonly string[], settings: NodeJS.ProcessEnv = GOOD) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

/** Settings that the issues name, with those of `env` in place of good ones. */
const namesOf = (env: NodeJS.ProcessEnv, process?: ProcessName) =>
  issuesOf({ ...GOOD, ...env }, process).map((issue) => issue.split(' ')[0])

describe('settings', () => {
  test('that are absent or empty take their defaults, and lists are split', () => {
    const config = readConfig({
      ...GOOD,
      PORT: '',
      SIGNING_KEYS: `${GOOD.SIGNING_KEYS} , ${key()},`,
      OUTBOUND_PORTS: '8080, 9000',
      OUTBOUND_DENY: '203.0.113.0/24',
    })
    assert.deepEqual(
      [config.PORT, config.HOST, config.OWNER_TASK_LIMIT, config.S3_PATH_STYLE],
      [8080, '127.0.0.1', 10_000, false],
    )
    assert.equal(config.SIGNING_KEYS.length, 2)
    assert.deepEqual(config.OUTBOUND_PORTS, [8080, 9000])
    assert.deepEqual(config.OUTBOUND_DENY, ['203.0.113.0/24'])
  })

  test('give an address a tenth of what an owner has, and all addresses four times its slots', () => {
    const config = readConfig({ ...GOOD, OWNER_TASK_LIMIT: '15', VIDEO_CONCURRENCY_PER_OWNER: '3' })
    const { owner, address } = readQuotas(config)
    assert.deepEqual([owner.tasks, address.tasks], [15, 2])
    assert.deepEqual([owner.bytes, address.bytes], [107_374_182_400, 10_737_418_240])
    assert.deepEqual(readSlots(config), { slots: 3, anonymousSlots: 12 })
  })

  const BUILTIN = {
    ...without(['AUTH_ISSUER', 'AUTH_AUDIENCE', 'AUTH_JWKS_URL']),
    AUTH: 'builtin',
    PUBLIC_URL: 'https://kiln.example.com/',
  }

  test('of an issuer follow from PUBLIC_URL with AUTH=builtin, and may not be given', () => {
    const config = readConfig(BUILTIN)
    assert.deepEqual(
      [config.AUTH_ISSUER, config.AUTH_JWKS_URL, config.AUTH_AUDIENCE],
      [
        'https://kiln.example.com/auth',
        'https://kiln.example.com/auth/jwks',
        'https://kiln.example.com',
      ],
    )
    assert.deepEqual([config.CONSOLE_CLIENT_ID, config.ADMIN_CLAIM], ['kiln-console', 'role=admin'])
    const own = { ...BUILTIN, AUTH_AUDIENCE: 'kiln', ADMIN_CLAIM: 'groups=ops' }
    const { AUTH_AUDIENCE: audience, ADMIN_CLAIM: claim } = readConfig(own)
    assert.deepEqual([audience, claim], ['kiln', 'groups=ops'])
    assert.deepEqual(issuesOf({ ...BUILTIN, AUTH_ISSUER: 'https://issuer.example.com' }), [
      'AUTH_ISSUER must not be set where AUTH is builtin: the api is the issuer',
    ])
  })

  test('with AUTH=builtin need an origin, in production by https', () => {
    const at = (url: string, more = {}) => issuesOf({ ...BUILTIN, PUBLIC_URL: url, ...more })
    const path = 'PUBLIC_URL must have no path where AUTH is builtin'
    assert.deepEqual(at('https://example.com/kiln'), [path])
    const production = { NODE_ENV: 'production', TRUST_PROXY: 'none' }
    assert.deepEqual(at('http://kiln.example.com', production), [
      'PUBLIC_URL must be https where AUTH is builtin, in production',
    ])
    readConfig({ ...BUILTIN, PUBLIC_URL: 'http://kiln.example.com' })
    readConfig({ ...BUILTIN, ...production })
  })

  test('without any issuer say that there is another way', () => {
    const [issue] = issuesOf(without(['AUTH_ISSUER']))
    assert.equal(issue, 'AUTH_ISSUER must be an issuer, or AUTH be builtin, but is absent')
  })

  test('do not name constants, which a variable of its own replaces outside production', () => {
    const given = { ...GOOD, HEARTBEAT_SECONDS: '9', OVERRIDE_MAX_ENDPOINTS: '2' }
    const { HEARTBEAT_SECONDS, MAX_ENDPOINTS, DEVELOPMENT_USERS } = readConfig(given)
    assert.deepEqual([HEARTBEAT_SECONDS, MAX_ENDPOINTS], [5, 2])
    assert.deepEqual(DEVELOPMENT_USERS, ['alice', 'bob', 'operator'])
  })

  test('of the SDK of Temporal are kept and concealed, whatever their names', () => {
    const given = { TEMPORAL_TLS_CLIENT_KEY_DATA: 'pem', TEMPORAL_PROFILE: 'cloud' }
    assert.deepEqual(keepSettings({ ...given, PATH: '/bin' }), given)
    assert.deepEqual(listSecretValues({ ...given, PATH: '/bin' }), ['pem', 'pem'])
  })

  test('that a release removed are listed with what holds now, whatever they are set to', () => {
    const held: Record<string, string> = {
      HEARTBEAT_SECONDS: 'it is fixed at 5',
      DEVELOPMENT_USERS: 'it is fixed at alice,bob,operator',
      MAX_ENDPOINTS: 'it is fixed at 2',
      VENDOR_IMAGE_CONCURRENCY: 'it is fixed at 10',
      VENDOR_IMAGE_RATE: 'it is fixed at 20',
      VENDOR_RATE: 'it is fixed at 20',
      BREAKER_FAILURES: 'it is fixed at 5',
      COMFYUI_LOST_SECONDS: 'it is fixed at 90',
      IMAGE_MAX_BYTES: 'it is fixed at 50000000',
      ARCHIVE_MAX_BYTES: 'it is fixed at 268435456',
      OUTBOUND_ALLOW_LOOPBACK: 'it is fixed at false',
      DEVELOPMENT_ISSUER_KEY: 'the embedded stack alone has one',
      ADDRESS_TASK_LIMIT: 'a tenth of OWNER_TASK_LIMIT holds',
      ANONYMOUS_SLOTS: 'four times VIDEO_CONCURRENCY_PER_OWNER holds',
      FFPROBE_PATH: 'the ffprobe beside FFMPEG_PATH is used',
      OIDC_AUDIENCE: 'the host of PUBLIC_URL holds',
    }
    const others = { ...GOOD, OVERRIDE_MAX_ENDPOINTS: '2', STREAMS_MAX: '', WORKFLOW_BUNDLE: 'x' }
    const given = { ...others, ...Object.fromEntries(Object.keys(held).map((name) => [name, '0'])) }
    assert.deepEqual(
      listRemovedSettings(given, readConfig(given)).toSorted(),
      Object.entries(held)
        .map(([name, instead]) => `${name} is not a setting any more: ${instead}`)
        .toSorted(),
    )
    assert.deepEqual(listRemovedSettings(others, readConfig(others)), [])
  })

  test('that a release removed are warned of once in the log, and not where there are none', () => {
    const warned = (given: NodeJS.ProcessEnv): unknown[] => {
      const warn = mock.fn()
      const log = { warn } as unknown as Log
      const environment = { ...GOOD, ...given }
      warnOfSettings(readConfig(environment), log, environment)
      return warn.mock.calls.flatMap((call) => call.arguments)
    }
    assert.deepEqual(warned({}), [])
    const [line, ...more] = warned({ HEARTBEAT_SECONDS: '9', OIDC_AUDIENCE: 'kiln' })
    assert.match(String(line), /^variables without effect are set: HEARTBEAT_SECONDS .*; OIDC_AUDI/)
    assert.deepEqual(more, [])
  })

  test('that an api does without are looked at by the doctor where WORKER_ROLE is given', () => {
    const given = { ...GOOD, VENDOR_IMAGE_URL: 'https://vendor.example' }
    assert.deepEqual(examineSettings(given).issues, [])
    const { issues, usedBy } = examineSettings({ ...given, WORKER_ROLE: 'core' })
    assert.equal(usedBy, 'an api and a core worker')
    assert.match(issues.map(({ message }) => message).join(), /^VENDOR_IMAGE_KEY is absent/)
  })

  test('that a release removed are a warning of the doctor, which is no error', async () => {
    const { lines, isWell } = await examine([], {
      issues: [],
      limitMs: PATIENCE_MS,
      warnings: ['STREAMS_MAX is not a setting any more'],
    })
    assert.match(lines.join('\n'), /^WARN +settings +STREAMS_MAX is not a setting any more$/m)
    assert.equal(isWell, true)
  })

  test('that are secrets are hidden in the errors of the doctor, and nowhere else', async () => {
    const reject = () =>
      Promise.reject(new Error('password "key" of secret-of-length at u:key@host, keyed'))
    const { lines } = await examine(
      [
        ['keys', [], 'correct the key', reject],
        ['secrets', [], '', () => Promise.resolve('none are stored yet')],
      ],
      { issues: [], limitMs: PATIENCE_MS, secrets: ['key', 'secret-of-length', 'secret'] },
    )
    assert.deepEqual(lines.slice(1), [
      'ERROR  keys               password "***" of *** at u:***@host, keyed: correct the ***',
      'ok     secrets            none are stored yet',
    ])
  })

  test('that other programs set are not looked at', () => {
    assert.ok(!('PATH' in readConfig({ ...GOOD, PATH: '/bin' })))
  })

  for (const [text, value] of Object.entries({
    true: true,
    TRUE: true,
    1: true,
    false: false,
    0: false,
  }))
    test(`take ${text} for a flag`, () => {
      const config = readConfig({ ...GOOD, S3_PATH_STYLE: text })
      assert.equal(config.S3_PATH_STYLE, value)
    })

  /** Values that each setting rejects. */
  const WRONG = {
    PORT: '80a 65536 -1',
    DATABASE_POOL: '1.5 0',
    OWNER_TASK_LIMIT: '1e6',
    S3_PATH_STYLE: 'yes',
    NODE_ENV: 'prod',
    STORAGE: 'nfs',
    LOG_LEVEL: 'loud',
    WORKER_ROLE: 'gpu',
    TEMPORAL_ADDRESS: 'localhost http://localhost:7233 localhost:70000',
    PUBLIC_URL: 'kiln.example.com ftp://kiln.example.com',
    AUTH_JWKS_URL: 'jwks',
    CONSOLE: 'yes',
    CONSOLE_AUTH_ORIGINS: 'https://issuer.example.com/',
    CONSOLE_AUTH_PARAMS: 'audience',
    TEMPORAL_UI_URL: 'temporal',
    OUTBOUND_PORTS: '443,0 70000 https',
    OUTBOUND_DENY: '10.0.0.0/33',
    TRUST_PROXY: '10.0.0.0/8,none 10/8 127.1',
    OVERRIDE_RESULT_LINK_SECONDS: '60',
    OVERRIDE_WEBHOOK_TIME_FACTOR: '0 -0.5 1.5 fast',
  }
  for (const [name, values] of Object.entries(WRONG))
    for (const value of values.split(' '))
      test(`reject ${name}=${value}, naming it and what came`, () => {
        const issues = issuesOf({ ...GOOD, [name]: value })
        assert.equal(issues.length, 1, issues.join('\n'))
        assert.ok(issues[0]?.startsWith(name), issues[0])
        assert.ok(issues[0]?.includes(value.split(',').at(-1) ?? ''), issues[0])
      })

  test('settings take the address of a database in each form of the driver, and show nothing of another', () => {
    for (const address of ['localhost/kiln', 'k:a,b@[::1]:1/k', 'k@one:1,two:2/k?sslmode=require'])
      for (const scheme of ['postgres', 'postgresql'])
        readConfig({ ...GOOD, DATABASE_URL: `${scheme}://${address}` })
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'])
      for (const value of ['hunter2', 'mysql://kiln:hunter2@localhost/kiln', 'postgres://hunter2@'])
        assert.deepEqual(issuesOf({ ...GOOD, [name]: value }), [
          `${name} must be postgres://user:password@host:port/database`,
        ])
  })

  test('reject the key of the development issuer wherever others could reach it', () => {
    const key = '{"kty":"EC","crv":"P-256","x":"x","y":"y","d":"private"}'
    const here = { ...GOOD, AUTH_ISSUER: DEVELOPMENT_ISSUER, OVERRIDE_DEVELOPMENT_ISSUER_KEY: key }
    const users = ['alice', 'bob', 'operator']
    for (const HOST of ['127.0.0.1', '::1', 'localhost'])
      assert.deepEqual(readConfig({ ...here, HOST }).DEVELOPMENT_USERS, users)
    const wrong: NodeJS.ProcessEnv[] = [
      { HOST: '0.0.0.0' },
      { HOST: '::' },
      { HOST: '192.168.1.4' },
      { AUTH_ISSUER: 'https://issuer.example.com/' },
      { OVERRIDE_DEVELOPMENT_ISSUER_KEY: 'guess' },
      { OVERRIDE_DEVELOPMENT_ISSUER_KEY: key.replace('"d"', '"e"') },
    ]
    for (const settings of wrong) {
      const issues = issuesOf({ ...here, ...settings })
      assert.match(issues.join('\n'), /^OVERRIDE_DEVELOPMENT_ISSUER_KEY must [^\n]+$/)
      assert.doesNotMatch(issues.join(), /private"|guess/)
    }
    const issues = issuesOf({ ...here, NODE_ENV: 'production' })
    assert.ok(issues.includes('OVERRIDE_DEVELOPMENT_ISSUER_KEY must not be set in production'))
  })

  test('of an upstream are needed by core workers alone, address and key together', () => {
    const upstream = { VENDOR_IMAGE_URL: 'http://upstream:8080', VENDOR_IMAGE_KEY: 'k' }
    const engine = { IMAGE_ENGINE: 'vendor' }
    const both = ['VENDOR_IMAGE_URL', 'VENDOR_IMAGE_KEY']
    assert.deepEqual(namesOf(engine, 'worker'), both)
    readConfig({ ...GOOD, ...engine, WORKER_ROLE: 'media' }, 'worker')
    readConfig({ ...GOOD, ...engine }, 'api')
    readConfig({ ...GOOD, ...engine, ...upstream }, 'worker')
    assert.deepEqual(namesOf({ ...upstream, VENDOR_IMAGE_KEY: '' }, 'worker'), ['VENDOR_IMAGE_KEY'])
    const wrong = ['upstream', 'ftp://upstream/', 'http://user@upstream/', 'http://upstream/?a']
    for (const url of wrong)
      assert.deepEqual(namesOf({ ...upstream, VENDOR_IMAGE_URL: url }, 'worker'), both.slice(0, 1))
  })

  test('of upstreams are one for each kind with its own, and one for all others', () => {
    const given = {
      ...GOOD,
      VENDOR_IMAGE_URL:
        'https://a/x|resubmit=2, upscale=https://b|prefix=/v1/ai|errors=shown, relight=https://c|prefix=',
      VENDOR_IMAGE_KEY: 'one,upscale=two==',
    }
    const config = readConfig(given, 'worker')
    const here = '/proxy/imgvendor/v1/ai'
    const rules = {
      resubmit: 0,
      showsErrors: false,
      prefix: undefined,
      kind: undefined,
      key: 'one',
      setting: 'VENDOR_IMAGE_URL' as const,
    }
    assert.deepEqual(readUpstreams(config, 'image'), [
      { ...rules, url: 'https://a/x', resubmit: 2 },
      {
        ...rules,
        kind: 'upscale',
        url: 'https://b',
        key: 'two==',
        showsErrors: true,
        prefix: { here, there: '/v1/ai' },
      },
      { ...rules, kind: 'relight', url: 'https://c', prefix: { here, there: '' } },
    ])
    assert.deepEqual(readUpstreams(config, 'video'), [])
    const keyless = { ...given, VENDOR_IMAGE_KEY: 'upscale=two' }
    assert.deepEqual(namesOf(keyless, 'worker'), ['VENDOR_IMAGE_KEY', 'VENDOR_IMAGE_KEY'])
    for (const url of [
      'https://a,https://b',
      'upscale=https://a,upscale=https://b',
      'extend=https://a',
      ...['resubmit=11', 'resubmit=-1', 'resubmit=', 'prefix=v1', 'prefix=/v1/', 'errors=yes'].map(
        (option) => `https://a|${option}`,
      ),
      'https://a|depth=1',
      'https://a|resubmit=1|resubmit=1',
    ])
      assert.deepEqual(
        namesOf({ ...given, VENDOR_IMAGE_URL: url }, 'worker'),
        ['VENDOR_IMAGE_URL'],
        url,
      )
  })

  test('of a fleet of ComfyUI are its instances by name, and its templates', () => {
    const fleet = {
      COMFYUI_URLS: 'gpu1=http://10.0.0.5:8188, gpu-2=https://b',
      COMFYUI_TEMPLATES: ROOT,
    }
    const config = readConfig({ ...GOOD, ...fleet, COMFYUI_TOKEN: 'secret' }, 'worker')
    assert.deepEqual(readFleetItems(config), [
      { kind: 'instance', name: 'gpu1', url: 'http://10.0.0.5:8188' },
      { kind: 'instance', name: 'gpu-2', url: 'https://b' },
    ])
    assert.deepEqual(readFleetItems({ ...config, WORKER_ROLE: 'media' }), [])
    for (const engine of [{ IMAGE_ENGINE: 'comfyui' }, { ENGINES: 'upscale:comfyui' }]) {
      assert.deepEqual(namesOf(engine, 'worker'), ['COMFYUI_URLS', 'COMFYUI_TEMPLATES'])
      readConfig({ ...GOOD, ...engine }, 'api')
      readConfig({ ...GOOD, ...engine, WORKER_ROLE: 'media' }, 'worker')
    }
    const absent = { ...GOOD, ...fleet, COMFYUI_TEMPLATES: '/nowhere' }
    assert.throws(
      () => readConfig(absent, 'worker'),
      /- COMFYUI_TEMPLATES must be a folder that can be read \(ENOENT\), got \/nowhere\n/,
    )
    assert.throws(() => checkGiven(absent), /COMFYUI_TEMPLATES must be a folder/)
    readConfig({ ...absent, WORKER_ROLE: 'media' }, 'worker')
    for (const urls of [
      'http://a',
      'a=b',
      'a=http://a/x',
      'a=http://u@a',
      'a=http://a?b',
      'a b=http://a',
      'a=http://a,a=http://b',
      'dns:a',
      'dns:a:99999',
      'dns:http://a:80',
      'file:instances',
    ])
      assert.deepEqual(namesOf({ ...fleet, COMFYUI_URLS: urls }, 'worker'), ['COMFYUI_URLS'], urls)
  })

  const NEEDS: [env: NodeJS.ProcessEnv, issue: string][] = [
    [{ COMFYUI_TEMPLATES: ROOT }, 'COMFYUI_URLS is absent, and COMFYUI_TEMPLATES needs it'],
    [{ COMFYUI_URLS: 'a=http://a' }, 'COMFYUI_TEMPLATES is absent, and COMFYUI_URLS needs it'],
    [{ COMFYUI_TOKEN: 'secret' }, 'COMFYUI_URLS is absent, and COMFYUI_TOKEN needs it'],
    [{ IMAGE_ENGINE: 'comfyui' }, 'COMFYUI_URLS is absent, and IMAGE_ENGINE=comfyui needs it'],
    [{ ENGINES: 'extend:vendor' }, 'VENDOR_VIDEO_URL is absent, and ENGINES needs it'],
    [{ VENDOR_VIDEO_KEY: 'k' }, 'VENDOR_VIDEO_URL is absent, and VENDOR_VIDEO_KEY needs it'],
    [{ VENDOR_IMAGE_URL: 'http://a' }, 'VENDOR_IMAGE_KEY is absent, and VENDOR_IMAGE_URL needs it'],
    [{ ENGINES_HTTP_TOKENS: 'a=b' }, 'ENGINES_HTTP is absent, and ENGINES_HTTP_TOKENS needs it'],
    [{ ENGINES: 'upscale:http:a' }, 'ENGINES_HTTP has no engine a, which ENGINES names'],
    [{ STORAGE: 's3' }, 'S3_BUCKET is absent, and STORAGE=s3 needs it'],
    [{ S3_PUBLIC_ENDPOINT: 'http://a' }, 'S3_REDIRECT is not on, and S3_PUBLIC_ENDPOINT needs it'],
    [{ OUTBOUND_NO_PROXY: 'a' }, 'OUTBOUND_PROXY is absent, and OUTBOUND_NO_PROXY needs it'],
    [
      { OUTBOUND_PROXY_RESOLVES: 'true' },
      'OUTBOUND_PROXY is absent, and OUTBOUND_PROXY_RESOLVES needs it',
    ],
  ]
  for (const [env, issue] of NEEDS)
    test(`that have no effect without others name both, before anything is started: ${issue}`, () => {
      assert.throws(
        () => checkGiven(env),
        ({ message }: Error) => message.includes(`  - ${issue}`) && !message.includes('secret'),
      )
      assert.ok(issuesOf({ ...GOOD, ...env }, 'worker').some((one) => one.startsWith(issue)))
      checkGiven({})
    })

  test('of engines by HTTP are their addresses, and tokens of those alone', () => {
    const given = {
      ENGINES_HTTP: 'enhance=http://a:5000 http://b:5000|depth=2, clip=http://c|held',
    }
    const tokens = { ENGINES_HTTP_TOKENS: 'clip=a=b' }
    const config = readConfig({ ...GOOD, ...given, ...tokens }, 'worker')
    assert.deepEqual(
      readEngines(config).map(({ name, token, instances }) => [name, token, instances.length]),
      [
        ['enhance', '', 2],
        ['clip', 'a=b', 1],
      ],
    )
    assert.deepEqual(readEngines({ ...config, WORKER_ROLE: 'media' }), [])
    for (const further of [{ ENGINES_HTTP_TOKENS: 'other=a' }, { ENGINES: 'upscale:http:other' }]) {
      assert.deepEqual(namesOf({ ...given, ...further }, 'worker'), ['ENGINES_HTTP'])
      readConfig({ ...GOOD, ...given, ...further }, 'api')
    }
    assert.deepEqual(namesOf({ ...given, ENGINES_HTTP_TOKENS: 'clip' }, 'worker'), [
      'ENGINES_HTTP_TOKENS',
    ])
    const engineOf = makeEngineOf(readConfig({ ...GOOD, ENGINES: 'upscale:http:enhance' }, 'api'))
    assert.deepEqual([engineOf('upscale'), engineOf('relight')], ['enhance', 'local'])
    assert.deepEqual(namesOf({ ENGINES: 'upscale:http:local' }, 'api'), ['ENGINES'])
  })

  test('of a fleet of ComfyUI may have a depth of their own, and sources of instances', () => {
    const items =
      'a=http://a|depth=1, dns:comfy.internal:8188|depth=3|errors=shown, file:/etc/kiln/instances|errors=hidden'
    const given = { ...GOOD, COMFYUI_TEMPLATES: ROOT, COMFYUI_URLS: items }
    assert.deepEqual(readFleetItems(readConfig(given, 'worker')), [
      { kind: 'instance', name: 'a', url: 'http://a', depth: 1 },
      { kind: 'dns', host: 'comfy.internal', port: 8188, depth: 3, showsErrors: true },
      { kind: 'file', path: '/etc/kiln/instances', showsErrors: false },
    ])
    for (const option of [
      'depth=0',
      'depth=101',
      'depth=x',
      'depth=',
      'deep=1',
      '',
      'depth=1|depth=2',
    ])
      assert.throws(
        () => readConfig({ ...given, COMFYUI_URLS: `a=http://a|${option}` }, 'worker'),
        new RegExp(
          `COMFYUI_URLS must be .* a depth from 1 to 100 .*got a=http://a\\|${option.replaceAll('|', '\\|')}`,
        ),
      )
  })

  test('of an engine hold for all kinds of a family, or for one kind', () => {
    const engineOf = makeEngineOf(
      readConfig({
        ...GOOD,
        IMAGE_ENGINE: 'vendor',
        ENGINES: 'upscale:comfyui, text2video:comfyui',
      }),
    )
    const kinds = ['relight', 'upscale', 'text2video', 'start-end2video', 'extend']
    assert.deepEqual(kinds.map(engineOf), ['vendor', 'comfyui', 'comfyui', 'comfyui', 'local'])
    for (const ENGINES of ['upscal:comfyui', 'upscale', 'upscale:comfy', 'upscale:local:local'])
      assert.deepEqual(namesOf({ ENGINES }), ['ENGINES'], ENGINES)
  })

  test('of a bucket are its name, an address without more, and a key with its secret or neither', () => {
    const bucket = { STORAGE: 's3', S3_BUCKET: 'kiln' }
    const pair = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
    readConfig({ ...GOOD, ...bucket, S3_PREFIX: 'a/b-c', ...pair })
    readConfig({ ...GOOD, S3_ACCESS_KEY_ID: 'id' })
    readConfig({ ...GOOD, ...bucket, STORAGE_ALSO: 'local', S3_REDIRECT: 'on' })
    const moving = { STORAGE: 'local', STORAGE_ALSO: 's3', S3_BUCKET: '', S3_REDIRECT: 'on' }
    const wrong: [env: NodeJS.ProcessEnv, ...names: string[]][] = [
      [{ S3_BUCKET: '' }, 'S3_BUCKET'],
      [{ S3_ACCESS_KEY_ID: 'id' }, 'S3_SECRET_ACCESS_KEY'],
      [{ S3_SECRET_ACCESS_KEY: 'secret' }, 'S3_ACCESS_KEY_ID'],
      [{ STORAGE_ALSO: 's3' }, 'STORAGE_ALSO'],
      [moving, 'S3_BUCKET', 'S3_REDIRECT'],
    ]
    for (const url of ['s3.example', 'ftp://s3.example', 'https://id:secret@s3.example'])
      wrong.push([{ S3_ENDPOINT: url }, 'S3_ENDPOINT'])
    for (const prefix of ['/a', 'a/', 'a//b', '../a', 'a b', '.a'])
      wrong.push([{ S3_PREFIX: prefix }, 'S3_PREFIX'])
    for (const [env, ...names] of wrong)
      assert.deepEqual(namesOf({ ...bucket, ...env }), names, JSON.stringify(env))
  })

  test('issues of settings of every sort are reported in one message', () => {
    const issues = issuesOf({
      NODE_ENV: 'production',
      PORT: 'x',
      TEMPORAL_ADDRESS: 'localhost:7233',
      AUTH_ISSUER: DEVELOPMENT_ISSUER,
      AUTH_AUDIENCE: 'kiln',
      AUTH_JWKS_URL: 'nowhere',
      OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: 'true',
      OUTBOUND_PORTS: '0',
      SIGNING_KEYS: 'short',
    })
    assert.equal(
      issues.map((issue) => issue.split(' ')[0]).join(' '),
      'DATABASE_URL PUBLIC_URL PORT SIGNING_KEYS SECRETS_KEYS WEBHOOK_DEFAULT_SECRET ' +
        'OUTBOUND_PORTS AUTH_JWKS_URL OVERRIDE_OUTBOUND_ALLOW_LOOPBACK AUTH_ISSUER TRUST_PROXY',
      issues.join('\n'),
    )
  })

  test('that are absent say so, and keys how to make one', () => {
    const names = ['DATABASE_URL', 'SECRETS_KEYS', 'WEBHOOK_DEFAULT_SECRET']
    const issues = issuesOf(without(names))
    assert.match(issues[0] ?? '', /^DATABASE_URL .*absent/)
    assert.match(issues[1] ?? '', /^SECRETS_KEYS is absent: .*openssl rand -base64 32/)
    assert.match(issues[2] ?? '', /^WEBHOOK_DEFAULT_SECRET is absent: .*whsec_.*openssl rand/)
  })

  test('that hold a secret are never shown', () => {
    const secrets = ['c2hvcnQtc2VjcmV0', randomBytes(31).toString('base64'), 'secret word']
    for (const secret of secrets)
      for (const name of ['SIGNING_KEYS', 'SECRETS_KEYS']) {
        const issues = issuesOf({ ...GOOD, [name]: `${key()},${secret}`, PORT: 'x' })
        assert.equal(issues.length, 2)
        assert.ok(!issues.join().includes(secret), issues.join('\n'))
      }
    const shown = issuesOf({ ...GOOD, PORT: 'x' }).join()
    assert.ok(!shown.includes('secret-word'), 'the password of the database is not shown')
  })

  const NO_WEBHOOK_SECRETS = {
    'Base64 without its prefix': webhookSecret().replace('whsec_', ''),
    'another prefix': webhookSecret().replace('whsec_', 'whsk_'),
    'the prefix alone': 'whsec_',
    '23 bytes': webhookSecret(23),
    '65 bytes': webhookSecret(65),
    'something behind its Base64': `${webhookSecret()}!`,
  }
  for (const [what, value] of Object.entries(NO_WEBHOOK_SECRETS))
    test(`reject ${what} as a secret of webhooks, and do not show it`, () => {
      const [issue, ...others] = issuesOf({ ...GOOD, WEBHOOK_DEFAULT_SECRET: value })
      assert.match(issue ?? '', /^WEBHOOK_DEFAULT_SECRET must be whsec_ .*24 to 64 bytes/)
      assert.equal(issue?.includes(value) && value !== 'whsec_', false, issue)
      assert.deepEqual(others, [])
    })

  for (const bytes of [24, 64])
    test(`take a secret of webhooks of ${bytes} bytes`, () => {
      const value = webhookSecret(bytes)
      const config = readConfig({ ...GOOD, WEBHOOK_DEFAULT_SECRET: value })
      assert.equal(config.WEBHOOK_DEFAULT_SECRET, value)
    })

  test('shorten the schedule of notifications by a factor, jitter aside', () => {
    const real = readDelivery(readConfig(GOOD))
    assert.deepEqual([real.schedule.steps.at(1), real.schedule.busySeconds], [5, 60])
    assert.deepEqual([real.schedule.retryAfterSeconds, real.deferSeconds], [3600, 5])
    const short = readDelivery(readConfig({ ...GOOD, OVERRIDE_WEBHOOK_TIME_FACTOR: '0.5' }))
    assert.deepEqual(
      short.schedule.steps,
      real.schedule.steps.map((step) => step / 2),
    )
    assert.deepEqual([short.schedule.busySeconds, short.schedule.retryAfterSeconds], [30, 1800])
    assert.deepEqual([short.schedule.jitter, short.deferSeconds], [real.schedule.jitter, 2.5])
  })
})

describe('production', () => {
  const production = { ...GOOD, NODE_ENV: 'production', TRUST_PROXY: '10.0.0.0/8, ::1' }

  test('starts with what a deployment sets', () => {
    const { NODE_ENV, TRUST_PROXY } = readConfig(production)
    assert.deepEqual([NODE_ENV, TRUST_PROXY], ['production', ['10.0.0.0/8', '::1']])
  })

  test('needs an api to know what stands before it, which may be nothing', () => {
    const silent = { ...GOOD, NODE_ENV: 'production' }
    assert.match(issuesOf(silent).join(), /^TRUST_PROXY must name the proxies .*, or be none,/)
    assert.deepEqual(readConfig({ ...silent, TRUST_PROXY: 'none' }).TRUST_PROXY, [])
    assert.deepEqual(readConfig(silent, 'worker').TRUST_PROXY, [])
  })

  test('gives a media worker leave to have no keys, and no other process', () => {
    const keyless = without(KEY_SETTINGS, production)
    const media = { ...keyless, WORKER_ROLE: 'media' }
    assert.deepEqual(readConfig(media, 'worker').SIGNING_KEYS, [])
    assert.equal(issuesOf(media).length, 3)
    assert.throws(() => readConfig({ ...keyless, WORKER_ROLE: 'core' }, 'worker'), ConfigError)
  })

  const GUESSABLE: Record<string, Buffer> = {
    'that is all zeros': Buffer.alloc(32),
    'of eight bytes again and again': Buffer.alloc(32, randomBytes(8)),
    'that counts': Buffer.from(Array.from({ length: 32 }, (_, index) => 3 * index)),
    'made of words': Buffer.from('correct horse battery staple, 32'),
  }
  for (const [what, value] of Object.entries(GUESSABLE))
    test(`rejects a key ${what}, wherever it stands, and does not show it`, () => {
      const weak = value.toString('base64')
      for (const [name, given] of [
        ['SIGNING_KEYS', weak],
        ['SECRETS_KEYS', `${key()},${weak}`],
        ['WEBHOOK_DEFAULT_SECRET', `whsec_${weak}`],
      ] as const) {
        const [issue, ...others] = issuesOf({ ...production, [name]: given })
        assert.match(issue ?? '', new RegExp(`^${name} holds a key that others know or can guess`))
        assert.ok(!issue?.includes(weak), issue)
        assert.deepEqual(others, [])
        readConfig({ ...GOOD, [name]: given })
      }
    })

  for (const [name, value] of [
    ['WEBHOOK_DEFAULT_SECRET', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['EXTRACTION_TOKEN', 'aaaaaaaaaaaaaaaaaaaa'],
    ['EXTRACTION_TOKEN', '0123456789abcdefghij'],
    ['EXTRACTION_TOKEN', 'changemechangemechangemechangeme'],
  ] as const)
    test(`rejects ${name}=${value}, which others know or can guess`, () => {
      const issues = issuesOf({ ...production, [name]: value })
      assert.deepEqual([issues.length, issues[0]?.split(' ')[0]], [1, name])
    })

  test('takes keys and tokens of chance, of every length', () => {
    for (let attempts = 0; attempts < 200; attempts += 1)
      readConfig({
        ...production,
        SIGNING_KEYS: key(),
        SECRETS_KEYS: key(),
        WEBHOOK_DEFAULT_SECRET: webhookSecret(24 + (attempts % 41)),
        EXTRACTION_TOKEN: randomBytes(12 + attempts).toString(attempts % 2 ? 'hex' : 'base64url'),
      })
  })

  const REJECTED = {
    OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: 'true',
    OVERRIDE_FAILPOINT: 'create.after-commit',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    AUTH_ISSUER: DEVELOPMENT_ISSUER,
    SIGNING_KEYS: '',
    SECRETS_KEYS: '',
    WEBHOOK_DEFAULT_SECRET: '',
    OVERRIDE_WEBHOOK_TIME_FACTOR: '0.001',
  }
  for (const [name, value] of Object.entries(REJECTED))
    test(`rejects ${name}=${value}, which development may have`, () => {
      const issues = issuesOf({ ...production, [name]: value })
      assert.equal(issues.length, 1, issues.join('\n'))
      assert.ok(issues[0]?.startsWith(name))
      if (value !== '') readConfig({ ...GOOD, [name]: value })
    })

  test('rejects all of them in one message', () => {
    assert.equal(issuesOf({ ...production, ...REJECTED }).length, Object.keys(REJECTED).length)
  })
})
