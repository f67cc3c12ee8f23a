import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { parse } from 'yaml'

import { Env } from '../../src/compose/settings/env.ts'
import { readConfig } from '../../src/config.ts'
import { KEY_SETTINGS } from '../../src/compose/settings/issues.ts'
import { isRequired, SAMPLES } from '../../tools/docs/settings.ts'
import { interpolate, listRequired } from './interpolate.ts'
import { ROOT } from '../../src/local/root.ts'

interface Service {
  image: string
  build?: string
  command?: string[]
  restart?: string
  environment?: Record<string, unknown>
  healthcheck?: { test?: string[]; disable?: boolean }
  depends_on?: Record<string, { condition: string }>
  ports?: string[]
  volumes?: string[]
  stop_grace_period?: string
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}
const services = Object.entries(compose.services)
const own = services.filter(([, service]) => service.build !== undefined)
const servers = services.filter(([, service]) => service.restart === 'unless-stopped')

/** A `.env` as its example asks for it. */
const FILLED = {
  ...SAMPLES,
  POSTGRES_PASSWORD: 'a1',
  KILN_DATABASE_PASSWORD: 'b2',
  TEMPORAL_DATABASE_PASSWORD: 'c3',
}

const environmentOf = ({ environment = {} }: Service): [string, string][] =>
  Object.entries(environment).map(([name, value]) => [name, String(value)])

/** Settings of a Temporal that others run. */
const NOT_SET = Object.keys(Env.properties).filter((name) =>
  /^TEMPORAL_(TLS|API_KEY|CONFIG)/.test(name),
)

describe('docker-compose.yml', () => {
  test('runs every process of ours', () => {
    const names = own.map(([name]) => name).toSorted()
    assert.deepEqual(names, ['api', 'migrate', 'worker-core', 'worker-media'])
  })

  for (const [name, service] of own) {
    test(`gives ${name} settings that exist, and all of them`, () => {
      const set = environmentOf(service).map(([setting]) => setting)
      const known = Object.keys(Env.properties)
      const unknown = set.filter((setting) => !known.includes(setting))
      assert.deepEqual(unknown, [])
      const role = name.startsWith('worker') ? [] : ['WORKER_ROLE']
      const keys = name === 'worker-media' ? KEY_SETTINGS : []
      const missing = known.filter((setting) => !set.includes(setting))
      assert.deepEqual(missing.toSorted(), [...NOT_SET, ...role, ...keys].toSorted())
    })

    test(`gives ${name} settings that production accepts`, () => {
      const fill = (value: string) => interpolate(value, FILLED)
      const filled = environmentOf(service).map(([setting, value]) => [setting, fill(value)])
      const process = name.startsWith('worker') ? 'worker' : 'api'
      const config = readConfig(Object.fromEntries(filled), process)
      assert.equal(config.NODE_ENV, 'production')
      assert.equal(config.DATABASE_URL, 'postgres://kiln:b2@postgres:5432/kiln')
      assert.equal(config.OWNER_TASK_LIMIT, 10_000)
    })

    test(`runs a file of the build as ${name}`, () => {
      const [program, file = ''] = service.command ?? []
      assert.equal(program, 'node')
      assert.ok(statSync(join(ROOT, sourceOf(file))).isFile())
    })
  }

  test('asks for every setting that has no default, by name', () => {
    const asked = listRequired(read('docker-compose.yml'))
    const required = Object.keys(SAMPLES).filter((name) => isRequired(name as keyof Env))
    const made = ['DATABASE_URL', 'TEMPORAL_ADDRESS']
    // Needed unless AUTH is builtin, so the processes ask for them.
    const ofIssuer = ['AUTH_ISSUER', 'AUTH_AUDIENCE', 'AUTH_JWKS_URL']
    for (const name of ofIssuer)
      assert.match(read('docker-compose.yml'), new RegExp(`  ${name}: \\$\\{${name}:-\\}\n`))
    for (const name of required)
      assert.ok(
        [...made, ...ofIssuer].includes(name) || asked.includes(name),
        `${name} is not asked for`,
      )
    for (const name of asked)
      assert.throws(() => interpolate(read('docker-compose.yml'), { ...FILLED, [name]: '' }))
  })

  test('finds what it asks for in .env.example', () => {
    const example = read('.env.example')
    for (const name of listRequired(read('docker-compose.yml')))
      assert.match(example, new RegExp(`^${name}=`, 'm'))
  })

  test('holds no secret', () => {
    for (const [name, service] of services)
      for (const [variable, value] of environmentOf(service))
        if (/PASSWORD|PWD|_KEYS?$|SECRET|TOKEN/.test(variable))
          assert.match(value, /^\$\{\w+:(\?[^}]+|-)\}$/, `${variable} of ${name}`)
        else assert.doesNotMatch(withoutVariables(value), /:[^/@]+@/, `${variable} of ${name}`)
  })

  test('pins every image by the tag of a version', () => {
    for (const [name, { image }] of services)
      assert.match(interpolate(image, {}), /^[\w./-]+:v?\d[\w.-]*$/, name)
    const { version } = JSON.parse(read('package.json')) as { version: string }
    for (const [, { image }] of own) {
      assert.equal(interpolate(image, {}), `kiln:${version}`)
      assert.equal(interpolate(image, { KILN_COMMIT: 'abc' }), `kiln:${version}-abc`)
    }
  })

  test('checks the health of every server', () => {
    const imageHasCheck = /^HEALTHCHECK /m.test(read('Dockerfile'))
    for (const [name, { healthcheck, build }] of servers) {
      const inherited = build !== undefined && imageHasCheck
      assert.ok(inherited || (healthcheck?.test?.length ?? 0) > 1, name)
    }
  })

  test('starts a service when what it needs is healthy or done', () => {
    for (const [name, { depends_on: needs = {} }] of services)
      for (const [needed, { condition }] of Object.entries(needs)) {
        const lasts = servers.some(([server]) => server === needed)
        assert.ok(needed in compose.services, `${name} needs ${needed}`)
        const right = lasts ? 'service_healthy' : 'service_completed_successfully'
        assert.equal(condition, right, `${name} needs ${needed}`)
      }
  })

  test('publishes ports to this machine alone', () => {
    for (const [name, { ports = [] }] of services)
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name)
  })

  test('mounts volumes and files that are there', () => {
    for (const [name, { volumes = [] }] of services)
      for (const [source = ''] of volumes.map((volume) => volume.split(':')))
        if (source.startsWith('./')) assert.ok(statSync(join(ROOT, source)).isFile(), source)
        else assert.ok(source in compose.volumes, `${source} of ${name}`)
  })

  test('can execute the scripts that it mounts', () => {
    for (const path of services.flatMap(([, { volumes = [] }]) => volumes))
      if (/\.sh:/.test(path)) {
        const { mode } = statSync(join(ROOT, path.split(':')[0] ?? ''))
        assert.equal(mode & 0o111, 0o111, path)
      }
  })

  test('waits for a process longer than that gives itself', () => {
    for (const name of ['api', 'worker-core', 'worker-media']) {
      const entry = `src/${name.replace(/-.*/, '')}.ts`
      const limit = /limitMs: ([\d_]+)/.exec(read(entry))?.[1]?.replaceAll('_', '')
      const grace = Number.parseInt(compose.services[name]?.stop_grace_period ?? '', 10)
      assert.ok(grace * 1000 > Number(limit), `${name}: ${grace} s for ${limit} ms`)
    }
  })
})

describe('the dynamic configuration of Temporal', () => {
  type Values = Record<string, { value: unknown }[]>
  const given = parse(read('deploy/temporal/dynamic-config.yaml')) as Values

  test('has one value for each key', () => {
    for (const [key, values] of Object.entries(given)) assert.equal(values.length, 1, key)
  })

  test('is that of the embedded stack, with more for lists on PostgreSQL', () => {
    const { 'frontend.namespaceRPS.visibility': lists, ...others } = given
    assert.ok(Number(lists?.[0]?.value) > 10)
    const source = read('src/local/temporal.ts')
    for (const [key, [setting]] of Object.entries(others))
      assert.ok(source.includes(`'${key}': ${String(setting?.value)}`), key)
  })
})

const withoutVariables = (value: string): string => value.replaceAll(/\$\{[^}]*\}/g, '')

const sourceOf = (file: string): string => file.replace(/^dist\//, '').replace(/\.js$/, '.ts')
