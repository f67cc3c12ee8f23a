import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import ipaddr from 'ipaddr.js'
import { parse, stringify } from 'yaml'

import { makeIsAllowedAddress } from '../../src/platform/outbound/address.ts'
import { makeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { readConfig } from '../../src/config.ts'
import { Env } from '../../src/compose/settings/env.ts'
import { PATIENCE_MS } from '../../src/platform/db/migrate.ts'
import {
  bulkQueue,
  comfyuiQueue,
  engineQueue,
  mediaQueue,
  upstreamQueue,
} from '../../src/platform/temporal/start.ts'
import { KEY_SETTINGS } from '../../src/compose/settings/issues.ts'
import { useFolder } from '../support/folder.ts'
import { CHART, renderChart, runHelm, validateManifests, whyNoHelm } from '../support/helm.ts'
import type { Manifest } from '../support/helm.ts'

const FILES = ['s3', 'cloud', 'volume', 'builtin']
const pathOf = (file: string): string => join(CHART, 'ci', `${file}.yaml`)
interface Fields {
  version: string
  appVersion: string
  settings: object
}
const readYaml = (path: string): Fields => parse(readFileSync(path, 'utf8')) as Fields

const helpers = readFileSync(join(CHART, 'templates/_helpers.tpl'), 'utf8')
const listOf = (name: string): string[] =>
  (new RegExp(`define "kiln\\.${name}" -\\}\\}([\\w ]+)\\{\\{`).exec(helpers)?.[1] ?? '').split(' ')

describe('the chart', () => {
  test('names settings that exist, in its values, its lists and the settings it fixes', () => {
    const named = [
      ...FILES.flatMap((file) => Object.keys(readYaml(pathOf(file)).settings)),
      ...['servers', 'keys', 'required'].flatMap(listOf),
      ...(helpers.match(/"[A-Z][A-Z\d]*_[A-Z\d_]+"/g) ?? []).map((name) => name.slice(1, -1)),
      ...(readFileSync(join(CHART, 'values.yaml'), 'utf8').match(/\b[A-Z]+_[A-Z_]+\b/g) ?? []),
    ]
    assert.ok(named.length > 50, `${named.length} names were found`)
    assert.deepEqual(
      [...new Set(named)].filter((name) => !(name in Env.properties)),
      [],
    )
  })

  test('gives media workers no keys', () => {
    assert.deepEqual(listOf('keys').toSorted(), [...KEY_SETTINGS].toSorted())
  })

  test('has the version of the service', () => {
    const { version } = readYaml(join(CHART, '../../../package.json'))
    const chart = readYaml(join(CHART, 'Chart.yaml'))
    assert.deepEqual([chart.version, chart.appVersion], [version, version])
  })
})

/** The values' networks that are closed to pods. */
const { closed } = (parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values).networkPolicy

interface Values {
  networkPolicy: { closed: string[] }
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Networks that the library which Kiln asks has a name for. */
const NAMED = [ipaddr.IPv4, ipaddr.IPv6]
  .flatMap(({ prototype }) => Object.values((prototype as unknown as Named).SpecialRanges))
  .flatMap((of) => (Array.isArray(of[0]) ? of : [of]) as Network[])

interface Named {
  SpecialRanges: Record<string, Network | Network[]>
}

/** First and last address of a network, and those just outside. */
const edgesOf = ([address, bits]: Network): string[] => {
  const bytes = address.toByteArray()
  const width = BigInt(bytes.length * 8)
  const size = 1n << (width - BigInt(bits))
  const given = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const first = given - (given % size)
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((one) => one >= 0n && one < 1n << width)
    .map((one) => Buffer.from(one.toString(16).padStart(bytes.length * 2, '0'), 'hex'))
    .map((one) => ipaddr.fromByteArray([...one]).toString())
}

describe('networks', () => {
  test('that are closed to pods are those that Kiln calls at no word of a caller', () => {
    const isAllowed = makeIsAllowedAddress({ allowLoopback: false, deny: [] })
    const networks = closed.map((text) => ipaddr.parseCIDR(text))
    const isClosed = (text: string): boolean => {
      const address = ipaddr.parse(text)
      return networks.some(([of, bits]) => address.kind() === of.kind() && address.match(of, bits))
    }
    const edges = [...networks, ...NAMED].flatMap(edgesOf)
    assert.ok(edges.length > 150, `${edges.length} addresses`)
    const different = edges.filter((address) => isClosed(address) === isAllowed(address))
    assert.deepEqual(different, [])
    for (const address of ['100.64.0.1', 'fc00::1', 'fe80::1', '64:ff9b::a00:1', '::1'])
      assert.ok(isClosed(address), address)
  })
})

interface Container {
  command: string[]
  env: { name: string; value?: string; valueFrom?: object }[]
  envFrom: { configMapRef: { name: string } }[]
}

interface Pod {
  initContainers?: Container[]
  containers: Container[]
}

interface Policy {
  egress: { to: { ipBlock: object }[] }[]
}

interface Scaled {
  triggers: { metadata: Record<string, string> }[]
}

const podOf = ({ spec }: Manifest): Pod =>
  (spec as unknown as { template: { spec: Pod } }).template.spec

const SECRETS: Record<string, string> = {
  DATABASE_URL: 'postgres://kiln:b2@postgres:5432/kiln',
  SIGNING_KEYS: randomBytes(32).toString('base64'),
  SECRETS_KEYS: randomBytes(32).toString('base64'),
  WEBHOOK_DEFAULT_SECRET: makeWebhookSecret(),
}

describe('the chart, rendered', { skip: (await whyNoHelm()) ?? false }, () => {
  const folder = useFolder()

  for (const file of FILES) {
    test(`has no issue for helm and Kubernetes with the values of ${file}`, async () => {
      assert.match(
        await runHelm('lint', '--strict', CHART, '-f', pathOf(file)),
        /0 chart\(s\) failed/,
      )
      const manifests = await renderChart('-f', pathOf(file))
      const path = join(folder, `${file}.yaml`)
      await writeFile(path, manifests.map((one) => stringify(one)).join('---\n'))
      assert.equal(await validateManifests(path), '')
    })

    test(`gives every process settings that production accepts with the values of ${file}`, async () => {
      const manifests = await renderChart('-f', pathOf(file))
      const run = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
      assert.deepEqual(run.map(({ metadata }) => metadata.name).toSorted(), [
        'kiln-api',
        'kiln-core',
        'kiln-media',
        'kiln-migrate',
      ])
      for (const one of run) {
        const [container] = podOf(one).containers
        const { name = '' } = container?.envFrom[0]?.configMapRef ?? {}
        const map = manifests.find(
          ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name,
        )
        const own = (container?.env ?? []).map(({ name, value }) => [name, value ?? SECRETS[name]])
        const env = { ...map?.data, ...(Object.fromEntries(own) as NodeJS.ProcessEnv) }
        // They lie in a Secret of the cluster.
        for (const path of Object.keys(env).filter((setting) => setting.startsWith('TEMPORAL_TLS')))
          delete env[path]
        const process = one.metadata.name === 'kiln-migrate' ? 'migrate' : 'worker'
        const config = readConfig(env, one.metadata.name === 'kiln-api' ? 'api' : process)
        assert.equal(config.NODE_ENV, 'production')
      }
    })
  }

  test('is validated by rules that name an unknown member', async () => {
    const path = join(folder, 'wrong.yaml')
    const manifests = await renderChart('-f', pathOf('s3'))
    const service = manifests.find(({ kind }) => kind === 'Service')
    await writeFile(path, stringify({ ...service, spec: { ...service?.spec, prots: [] } }))
    assert.match(await validateManifests(path), /^Service kiln .*'prots' was unexpected/)
  })

  test('runs the migration before the release, with settings that are there by then', async () => {
    const manifests = await renderChart('-f', pathOf('s3'))
    const hooks = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
    assert.deepEqual(hooks.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted(), [
      'ConfigMap kiln-migrate',
      'Job kiln-migrate',
      'NetworkPolicy kiln-migrate',
    ])
    const job = hooks.find(({ kind }) => kind === 'Job')
    assert.equal(job && podOf(job).containers[0]?.envFrom[0]?.configMapRef.name, 'kiln-migrate')
    assert.ok(!('serviceAccountName' in (job ? podOf(job) : {})))
  })

  test('replaces core workers all at once, and gives each part what its values add', async () => {
    const manifests = await renderChart('-f', pathOf('builtin'))
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
    const strategies = deployments.map(({ metadata, spec }) => [
      metadata.name,
      (spec as unknown as { strategy: { type?: string } }).strategy.type,
    ])
    assert.deepEqual(Object.fromEntries(strategies), {
      'kiln-api': undefined,
      'kiln-core': 'Recreate',
      'kiln-media': undefined,
    })
    const core = JSON.stringify(deployments.find(({ metadata }) => metadata.name === 'kiln-core'))
    for (const given of ['"team":"images"', '"mountPath":"/templates"', 'NODE_EXTRA_CA_CERTS'])
      assert.ok(core.includes(given), given)
    const job = manifests.find(({ kind }) => kind === 'Job')
    const { activeDeadlineSeconds: seconds = 0 } = { ...job?.spec } as {
      activeDeadlineSeconds?: number
    }
    assert.ok(seconds * 1000 > PATIENCE_MS, 'the hook waits for longer than the migration')
  })

  test('replaces core workers before media workers, and apis last', async () => {
    const manifests = await renderChart('-f', pathOf('s3'))
    const waits = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => [
        metadata.name,
        podOf({ spec } as Manifest).initContainers?.map(({ command }) => command.slice(1)),
        (spec as unknown as { progressDeadlineSeconds?: number }).progressDeadlineSeconds,
      ])
    const program = 'dist/src/await-workers.js'
    assert.deepEqual(waits, [
      ['kiln-api', [[program, 'core', 'media']], 3900],
      ['kiln-core', undefined, undefined],
      ['kiln-media', [[program, 'core']], 3900],
    ])
    for (const one of manifests.filter(({ kind }) => kind === 'Deployment')) {
      const { initContainers: [waiting] = [], containers } = podOf(one)
      // With other settings it would look elsewhere for them.
      if (waiting) assert.deepEqual(waiting.env, containers[0]?.env)
    }
  })

  test('closes networks to all pods, each within the one of its kind', async () => {
    const exceptOf = async (...args: string[]) => {
      const manifests = await renderChart('-f', pathOf('s3'), ...args)
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
      assert.equal(policies.length, 4)
      const shown = policies.map(({ spec }) =>
        JSON.stringify((spec as unknown as Policy).egress[1]?.to.map(({ ipBlock }) => ipBlock)),
      )
      assert.equal(new Set(shown).size, 1)
      return JSON.parse(shown[0] ?? '') as unknown
    }
    const [six, four] = [true, false].map((of) => closed.filter((one) => one.includes(':') === of))
    assert.deepEqual(await exceptOf(), [
      { cidr: '0.0.0.0/0', except: four },
      { cidr: '::/0', except: six },
    ])
    const own = ['--set', 'networkPolicy.closed={10.0.0.0/8}']
    assert.deepEqual(await exceptOf(...own), [{ cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] }])
  })

  test('scales workers by Temporal or by Prometheus', async () => {
    const triggersOf = async (file: string, ...args: string[]) =>
      (await renderChart('-f', pathOf(file), ...args))
        .filter(({ kind }) => kind === 'ScaledObject')
        .flatMap(({ spec }) => (spec as unknown as Scaled).triggers)
    const core = ['kiln', bulkQueue('kiln'), upstreamQueue('kiln'), comfyuiQueue('kiln')]
    const engine = ['--set', 'settings.ENGINES_HTTP=clip=http://a:5000|depth=2\\,zoom=http://b']
    const queues = (await triggersOf('cloud', ...engine)).map(
      ({ metadata }) => metadata['taskQueue'],
    )
    assert.deepEqual(queues, [
      ...core,
      engineQueue('kiln', 'clip'),
      engineQueue('kiln', 'zoom'),
      mediaQueue('kiln'),
    ])
    const asked = (await triggersOf('volume', '--set', 'core.autoscaling.enabled=true')).map(
      ({ metadata }) => /queue=~"([^"]+)"/.exec(metadata['query'] ?? '')?.[1],
    )
    assert.deepEqual(asked, ['workflow|activity|bulk|vendor|comfyui', 'media'])
  })

  const WRONG: [name: string, args: string[], sentence: RegExp][] = [
    ['an absent setting', ['--set', 'settings.PUBLIC_URL='], /settings\.PUBLIC_URL is absent/],
    [
      'a key in the values',
      ['--set', 'settings.SIGNING_KEYS=a'],
      /settings\.SIGNING_KEYS belongs into the Secret kiln/,
    ],
    ['a setting of the chart', ['--set', 'settings.PORT=1'], /settings\.PORT is set by the chart/],
    [
      'files on each pod alone',
      ['--set', 'settings.STORAGE=local'],
      /settings\.STORAGE must be s3, or storageClaim/,
    ],
    ['no bucket', ['--set', 'settings.S3_BUCKET='], /settings\.S3_BUCKET is absent/],
    [
      'another trigger',
      ['--set', 'keda.trigger=cron', '--set', 'media.autoscaling.enabled=true'],
      /keda\.trigger must be temporal or prometheus, got cron/,
    ],
  ]
  for (const [name, args, sentence] of WRONG)
    test(`is not rendered with ${name}`, async () => {
      await assert.rejects(renderChart('-f', pathOf('s3'), ...args), sentence)
    })
})
