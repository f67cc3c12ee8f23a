import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'

import { ConfigError, DEVELOPMENT_ISSUER, readConfig } from '../../src/config.ts'
import type { Env } from '../../src/config.ts'

const key = () => randomBytes(32).toString('base64')

const GOOD = {
  DATABASE_URL: 'postgres://kiln:secret-word@localhost/kiln',
  TEMPORAL_ADDRESS: 'localhost:7233',
  PUBLIC_URL: 'https://kiln.example.com',
  AUTH_ISSUER: 'https://issuer.example.com',
  AUTH_AUDIENCE: 'kiln',
  AUTH_JWKS_URL: 'https://issuer.example.com/jwks',
  SIGNING_KEYS: key(),
  SECRETS_KEYS: key(),
}

/** The lines of the message between its first and its last. */
const faultsOf = (environment: NodeJS.ProcessEnv): string[] => {
  let faults: string[] = []
  assert.throws(
    () => readConfig(environment),
    (error) => {
      assert.ok(error instanceof ConfigError)
      faults = error.message.split('\n').slice(1, -1)
      assert.match(error.message, /\.env\.example/)
      return true
    },
  )
  return faults.map((line) => line.replace(/^ {2}- /, ''))
}

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
      [config.PORT, config.HOST, config.IMAGE_MAX_BYTES, config.OUTBOUND_ALLOW_LOOPBACK],
      [8080, '127.0.0.1', 50_000_000, false],
    )
    assert.equal(config.SIGNING_KEYS.length, 2)
    assert.deepEqual(config.OUTBOUND_PORTS, [8080, 9000])
    assert.deepEqual(config.OUTBOUND_DENY, ['203.0.113.0/24'])
  })

  test('that other programs set are not looked at', () => {
    assert.ok(!('PATH' in readConfig({ ...GOOD, PATH: '/bin' })))
  })

  const FLAGS: [string, boolean][] = [
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ]
  for (const [text, value] of FLAGS)
    test(`take ${text} for a flag`, () => {
      const config = readConfig({ ...GOOD, OUTBOUND_ALLOW_LOOPBACK: text })
      assert.equal(config.OUTBOUND_ALLOW_LOOPBACK, value)
    })

  const WRONG: [keyof Env, string][] = [
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['DATABASE_POOL', '1.5'],
    ['DATABASE_POOL', '0'],
    ['IMAGE_MAX_BYTES', '1e6'],
    ['OUTBOUND_ALLOW_LOOPBACK', 'yes'],
    ['NODE_ENV', 'prod'],
    ['STORAGE', 'nfs'],
    ['LOG_LEVEL', 'loud'],
    ['WORKER_ROLE', 'gpu'],
    ['PUBLIC_URL', 'kiln.example.com'],
    ['PUBLIC_URL', 'ftp://kiln.example.com'],
    ['AUTH_JWKS_URL', 'jwks'],
    ['OUTBOUND_PORTS', '443,0'],
    ['OUTBOUND_PORTS', '70000'],
    ['OUTBOUND_PORTS', 'https'],
    ['OUTBOUND_DENY', '10.0.0.0/33'],
    ['RESULT_LINK_SECONDS', '60'],
  ]
  for (const [name, value] of WRONG)
    test(`refuse ${name}=${value}, naming it and what came`, () => {
      const faults = faultsOf({ ...GOOD, [name]: value })
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.ok(faults[0]?.startsWith(name), faults[0])
      assert.ok(faults[0]?.includes(value.split(',').at(-1) ?? ''), faults[0])
    })

  test('with faults of every sort are told in one message', () => {
    const faults = faultsOf({
      NODE_ENV: 'production',
      PORT: 'x',
      TEMPORAL_ADDRESS: 'localhost:7233',
      AUTH_ISSUER: DEVELOPMENT_ISSUER,
      AUTH_AUDIENCE: 'kiln',
      AUTH_JWKS_URL: 'nowhere',
      OUTBOUND_ALLOW_LOOPBACK: 'true',
      OUTBOUND_PORTS: '0',
      SIGNING_KEYS: 'short',
    })
    assert.deepEqual(
      faults.map((fault) => fault.split(' ')[0]),
      [
        'DATABASE_URL',
        'PUBLIC_URL',
        'PORT',
        'SIGNING_KEYS',
        'SECRETS_KEYS',
        'OUTBOUND_PORTS',
        'AUTH_JWKS_URL',
        'OUTBOUND_ALLOW_LOOPBACK',
        'AUTH_ISSUER',
      ],
      faults.join('\n'),
    )
  })

  test('that are absent say so, and keys how to make one', () => {
    const { DATABASE_URL: _url, SECRETS_KEYS: _keys, ...rest } = GOOD
    const faults = faultsOf(rest)
    assert.match(faults[0] ?? '', /^DATABASE_URL .*absent/)
    assert.match(faults[1] ?? '', /^SECRETS_KEYS is absent: .*openssl rand -base64 32/)
  })

  test('that hold a secret are never shown', () => {
    const secrets = ['c2hvcnQtc2VjcmV0', randomBytes(31).toString('base64'), 'secret word']
    for (const secret of secrets)
      for (const name of ['SIGNING_KEYS', 'SECRETS_KEYS']) {
        const faults = faultsOf({ ...GOOD, [name]: `${key()},${secret}`, PORT: 'x' })
        assert.equal(faults.length, 2)
        assert.ok(!faults.join().includes(secret), faults.join('\n'))
      }
    assert.ok(
      !faultsOf({ ...GOOD, PORT: 'x' })
        .join()
        .includes('secret-word'),
    )
  })
})

describe('production', () => {
  const production = { ...GOOD, NODE_ENV: 'production' }

  test('starts with what a deployment sets', () => {
    assert.equal(readConfig(production).NODE_ENV, 'production')
  })

  const REFUSED = {
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    FAILPOINT: 'create.after-commit',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    AUTH_ISSUER: DEVELOPMENT_ISSUER,
    SIGNING_KEYS: '',
    SECRETS_KEYS: '',
  }
  for (const [name, value] of Object.entries(REFUSED))
    test(`refuses ${name}=${value}, which development may have`, () => {
      const faults = faultsOf({ ...production, [name]: value })
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.ok(faults[0]?.startsWith(name))
      if (value !== '') readConfig({ ...GOOD, [name]: value })
    })

  test('refuses all of them in one message', () => {
    assert.equal(faultsOf({ ...production, ...REFUSED }).length, Object.keys(REFUSED).length)
  })
})
