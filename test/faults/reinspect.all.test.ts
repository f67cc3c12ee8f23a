import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { createSchedules } from '../../src/platform/temporal/schedule.ts'
import { LOW_PRIORITY } from '../../src/platform/temporal/start.ts'
import { EXTRACTOR_VERSION, SCANNER_VERSION } from '../../packages/inspector/src/versions.ts'
import { makeRegistry, upload, type Owned } from '../registry/http/registry-support.ts'
import { listOf, type Client } from '../support/client.ts'
import { startEntry } from '../support/entry.ts'
import { startService, type Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { clientOf } from './calls.ts'
import { operate, operateWith } from './operate.ts'

const PENDING = 'NodeVersionStatusPending'
const ACTIVE = 'NodeVersionStatusActive'
const VERSION = '1.0.0'
const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'
const MAPPING = `${CUP}NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln Pot": Cup}\n`
const SOURCES: Record<string, string> = {
  plain: MAPPING,
  // Names of what is installed on the machine cannot be known.
  partial: `${MAPPING}import os\nfor name in os.listdir("/"): NODE_CLASS_MAPPINGS[name] = Cup\n`,
  reported: MAPPING,
  // What they run has names of its own, so that it adds none to the mapping.
  medium: `${MAPPING}eval(input(), {})\n`,
  danger: `${MAPPING}import requests\nexec(requests.get(input()).text, {})\n`,
}
const EXAMPLE = JSON.stringify({ '1': { class_type: 'Kiln Cup', inputs: {} } })
const NODES = Object.keys(SOURCES)
const EXTRACTOR = `extractor ${EXTRACTOR_VERSION}`
const BELOW = String(EXTRACTOR_VERSION)

let service: Service
let started: Promise<Service> | undefined
const startOnce = async (): Promise<void> => {
  started ??= startService({ env: { ADMIN_SUBJECTS: 'root' } })
  service = await started
}
before(startOnce)
after(() => service.stop())

describe('archives that are read again', () => {
  let owned: Owned
  let admin: Client
  const ids = new Map<string, string>()
  const idOf = (nodeId: string): string => ids.get(nodeId) ?? ''

  before(async () => {
    await startOnce()
    const registry = makeRegistry(service)
    ;({ admin } = registry)
    owned = await registry.addPublisher()
    await Promise.all(NODES.map(publish))
    await editVersion('danger', { status: ACTIVE, status_reason: 'looked at' })
    const banned = { 'Kiln Cup': 'HostNodePolicyBanned' }
    await editVersion('plain', { host_node_policies: banned, tags_admin: ['chosen'] })
    await makeOlder()
  })

  const publish = async (nodeId: string): Promise<void> => {
    const { id, signedUrl } = await owned.addVersion({ nodeId })
    ids.set(nodeId, id)
    const data = SOURCES[nodeId] ?? ''
    const example = { name: 'workflows/cup.json', data: EXAMPLE }
    await upload(signedUrl, writeZip([{ name: '__init__.py', data }, example]))
    await waitFor(`${nodeId} is decided on`, async () => (await read(nodeId))['status'] !== PENDING)
  }
  const read = async (nodeId: string) =>
    (await owned.owner.get(`/nodes/${nodeId}/versions/${VERSION}`)).body as Record<string, unknown>
  const editVersion = async (nodeId: string, fields: object): Promise<void> => {
    const path = `/admin/nodes/${nodeId}/versions/${VERSION}`
    const { status, body } = await admin.call('PUT', path, fields)
    assert.equal(status, 200, JSON.stringify(body))
  }
  /** As an extractor that knew "Kiln Old" and not "Kiln Pot", and a scanner that found nothing, left them. */
  const makeOlder = async (): Promise<void> => {
    const { sql } = service.database
    await sql`update extraction set extractor_version = extractor_version - 1, examples = null`
    await sql`update host_node set host_node_name = 'Kiln Old' where host_node_name = 'Kiln Pot'`
    await sql`update version set extract_source = 'trusted' where id = ${idOf('reported')}`
    await sql`update archive set files = null`
    await sql`delete from finding`
    await sql`update scan set scanner_version = scanner_version - 1, high = 0, medium = 0`
    await sql`update version set tags_admin = '{}' where id = ${idOf('medium')}`
  }
  const readNames = async (nodeId: string): Promise<string[]> => {
    const { body } = await owned.owner.get(`/nodes/${nodeId}/versions/${VERSION}/host-nodes`)
    const nodes = body['host_nodes'] as unknown as { host_node_name: string }[]
    return nodes.map(({ host_node_name: name }) => name)
  }

  /** Rows of what readings have found, as they would be changed by another one. */
  const readRows = async (): Promise<unknown[]> => {
    const { sql } = service.database
    return [
      await sql`select version_id, extractor_version, read_at from extraction order by 1, 2`,
      await sql`select version_id, scanner_version, scanned_at from scan order by 1`,
      await sql`select id from finding order by 1`,
    ].map((rows) => [...rows])
  }
  /** Lines about versions, in order, and the last line. */
  const run = async (...args: string[]) => {
    const { output, errors, code } = await operate(service, ...args)
    assert.deepEqual([errors, code], ['', 0])
    const lines = output.trimEnd().split('\n')
    return { lines: lines.slice(0, -1).toSorted(), last: lines.at(-1) }
  }
  const label = (nodeId: string): string => `${nodeId}@${VERSION}`

  test('are only named by a dry run', async () => {
    const rows = await readRows()
    const { lines, last } = await run('reextract', '--below', BELOW, '--dry-run')
    assert.deepEqual(lines, NODES.map((nodeId) => `${label(nodeId)}  would be read`).toSorted())
    assert.equal(last, `${NODES.length} versions would be read`)
    const two = await run('rescan', '--below', `${SCANNER_VERSION}`, '--limit', '2', '--dry-run')
    assert.deepEqual([two.lines.length, two.last], [2, '2 versions would be read'])
    assert.deepEqual(await readRows(), rows)
    assert.deepEqual(await listWorkflows(), [])
  })

  test('reextract reports the names gained and lost, and keeps those of a worse reading', async () => {
    const changed = 'gained 1: Kiln Pot  lost 1: Kiln Old'
    const one = await run('reextract', '--below', BELOW, '--node', 'PLAIN')
    assert.deepEqual(one.lines, [`${label('plain')}  ${EXTRACTOR}  ${changed}`])
    const { lines, last } = await run('reextract', '--below', BELOW)
    const kept = `KEPT AS IT WAS, look at it  ${changed}`
    assert.deepEqual(lines, [
      `${label('danger')}  ${EXTRACTOR}  ${changed}`,
      `${label('medium')}  ${EXTRACTOR}  ${changed}`,
      `${label('partial')}  ${EXTRACTOR}  ${kept}`,
      `${label('reported')}  ${EXTRACTOR}  ${kept}`,
    ])
    assert.equal(last, '4 versions were read, 0 failed')
    assert.deepEqual(await readNames('plain'), ['Kiln Cup', 'Kiln Pot'])
    const examples = await owned.owner.get(`/nodes/plain/versions/${VERSION}/example-workflows`)
    const [example] = listOf<{ path: string }>(examples, 'example_workflows')
    assert.equal(example?.path, 'workflows/cup.json')
    const { body: listed } = await owned.owner.get(`/nodes/reported/versions/${VERSION}/files`)
    const [file] = listed['files'] as unknown as { path: string }[]
    assert.equal(file?.path, '__init__.py')
    for (const nodeId of ['partial', 'reported'])
      assert.deepEqual(await readNames(nodeId), ['Kiln Cup', 'Kiln Old'], nodeId)
    const { body } = await owned.owner.get(`/host-nodes/Kiln%20Pot/node`)
    assert.ok(['plain', 'medium', 'danger'].includes(String(body['id'])), 'names are searched by')
    const cup = await owned.owner.get(`/nodes/plain/versions/${VERSION}/host-nodes/Kiln%20Cup`)
    assert.equal(cup.body['policy'], 'HostNodePolicyBanned')
  })

  test('are scanned again, and no finding unpublishes them', async () => {
    const { lines, last } = await run('rescan', '--below', String(SCANNER_VERSION))
    const scanner = `scanner ${SCANNER_VERSION}`
    const nothing = `${scanner}  high 0  medium 0  info 0`
    const at = (nodeId: string) => lines.find((line) => line.startsWith(label(nodeId)))
    assert.equal(last, `${NODES.length} versions were read, 0 failed`)
    assert.equal(at('plain'), `${label('plain')}  ${nothing}`)
    assert.equal(at('medium'), `${label('medium')}  ${scanner}  high 0  medium 1  info 0`)
    assert.match(
      at('danger') ?? '',
      /^danger@1\.0\.0 {2}scanner \d+ {2}high 1 {2}medium 0 {2}info \d+ {2}ACTIVE AND DANGEROUS: look at it$/,
    )
    const { status, status_reason: reason } = await read('danger')
    assert.deepEqual([status, reason], [ACTIVE, 'looked at'])
    const response = await owned.owner.get(`/nodes/danger/versions/${VERSION}/findings`)
    const [first] = listOf(response, 'findings')
    const { high } = response.body['counts'] as unknown as { high: number }
    assert.deepEqual([first?.['issue_type'], high], ['exec-network', 1])
    const said = /"level":50.*an active version has findings of high severity/
    const isSaid = (line: string) => line.includes(idOf('danger')) && said.test(line)
    await waitFor('the worker has logged it', () => service.entry('media').log.some(isSaid))
    const tagsOf = async (nodeId: string) => (await read(nodeId))['tags_admin']
    assert.deepEqual(await tagsOf('medium'), ['security:dynamic-code'])
    assert.deepEqual(await tagsOf('plain'), ['chosen'])
  })

  test('are not read twice', async () => {
    const rows = await readRows()
    const nothing = { lines: [], last: '0 versions were read, 0 failed' }
    assert.deepEqual(await run('reextract', '--below', BELOW), nothing)
    assert.deepEqual(await run('rescan', '--below', `${SCANNER_VERSION}`), nothing)
    // Asked for an extractor that the workers do not have yet, they report what has been done.
    const { lines } = await run('reextract', '--below', String(EXTRACTOR_VERSION + 1))
    assert.equal(lines.length, NODES.length)
    assert.match(lines.join('\n'), /KEPT AS IT WAS/)
    assert.deepEqual(await readRows(), rows)
  })

  test('are read behind everything else, by one workflow for each version of extractor or scanner', async () => {
    const expected = NODES.flatMap((nodeId) => [
      `reextract/${idOf(nodeId)}/${BELOW}`,
      `reextract/${idOf(nodeId)}/${EXTRACTOR_VERSION + 1}`,
      `rescan/${idOf(nodeId)}/${SCANNER_VERSION}`,
    ])
    const workflows = await waitFor('all are listed', async () => {
      const found = await listWorkflows()
      return found.length >= expected.length && found
    })
    assert.deepEqual(workflows.map(({ workflowId }) => workflowId).toSorted(), expected.toSorted())
    assert.deepEqual([...new Set(workflows.map(({ priorityKey }) => priorityKey))], [LOW_PRIORITY])
  })

  for (const args of [[], ['--below', '0'], ['--below', '2', '--limit', '-1']])
    test(`have to be asked for by a version: ${args.join(' ')}`, async () => {
      const { output, errors, code } = await operate(service, 'rescan', ...args)
      assert.deepEqual([output, code], ['', 1])
      assert.match(errors, /usage: kiln operate rescan --below <version>/)
    })

  const listWorkflows = async () => {
    const connection = await Connection.connect({ address: temporalAddress() })
    try {
      const { workflow } = new TemporalClient({ connection })
      const query = `TaskQueue = '${service.taskQueue}' and WorkflowType in ('reextractVersion', 'rescanVersion')`
      const found = []
      for await (const { workflowId } of workflow.list({ query })) {
        const { priority } = await workflow.getHandle(workflowId).describe()
        found.push({ workflowId, priorityKey: priority?.priorityKey })
      }
      return found
    } finally {
      await connection.close()
    }
  }
})

describe('the doctor', () => {
  let connection: Connection
  before(async () => {
    await startOnce()
    connection = await Connection.connect({ address: temporalAddress() })
    const options = { namespace: 'default', taskQueue: service.taskQueue }
    // An earlier release had another queue; what is there is given this one's.
    const earlier = { ...options, taskQueue: 'earlier' }
    assert.equal((await createSchedules(connection, earlier)).length, 2)
    assert.deepEqual(await createSchedules(connection, options), [])
    // Makes a secret, which is stored encrypted.
    await (await clientOf(service)).get('/webhook-secret')
  })
  after(async () => {
    await new TemporalClient({ connection }).schedule.getHandle('purge-expired').delete()
    await connection.close()
  })

  test('finds a service well', async () => {
    const { output, errors, code } = await operate(service, 'doctor')
    const lines = output.trim().split('\n')
    const wrong = lines.filter((line) => !line.startsWith('ok '))
    // The machine of the tests may have little room.
    const others = wrong.filter((line) => !line.includes(' are free in '))
    assert.deepEqual([errors, others], ['', []])
    assert.deepEqual([lines.length, code], [22, wrong.length > 0 ? 1 : 0])
  })

  /** Settings and facts that are wrong at once, and what their lines say. */
  type Illness = { settings: NodeJS.ProcessEnv; expected: Record<string, RegExp> }
  const ILLNESSES: Record<string, Illness> = {
    'that servers are away': {
      settings: {
        DATABASE_URL: 'postgres://kiln:hunter2hunter2@127.0.0.1:1/kiln',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        // `fetch` rejects port 1 by itself.
        AUTH_JWKS_URL: 'https://127.0.0.1:2/keys',
        STORAGE_PATH: '/proc/kiln',
        FFMPEG_PATH: '/nowhere/ffmpeg',
      },
      expected: {
        postgres: /start PostgreSQL, or correct DATABASE_URL/,
        schema: /not looked at: mend postgres$/,
        secrets: /not looked at: mend postgres$/,
        temporal:
          /127\.0\.0\.1:1 does not respond \(ECONNREFUSED\): start Temporal, or correct TEMPORAL_ADDRESS/,
        namespace: /not looked at: mend temporal$/,
        'search attributes': /not looked at: mend namespace$/,
        workers: /not looked at: mend namespace$/,
        'open work': /not looked at: mend postgres$/,
        store: /let this user write in STORAGE_PATH/,
        ffmpeg: /FFMPEG_PATH: \/nowhere\/ffmpeg does not run .*, or unset it$/,
        issuer: /connect ECONNREFUSED 127\.0\.0\.1:2: correct AUTH_JWKS_URL/,
        certificate: /renew the certificate of AUTH_JWKS_URL, or correct that/,
      },
    },
    'what does not belong together': {
      settings: { TASK_QUEUE: 'another', SECRETS_KEYS: Buffer.alloc(32, 'x').toString('base64') },
      expected: {
        schema: /lacks 0022_picture\.sql: run `npm run migrate`/,
        secrets:
          /SECRETS_KEYS do not open 1 of 1 of webhooks: put the key that was in use back into it/,
        schedules: /starts in the queue test-.*: run `npm run migrate`/,
        workers:
          /another \(workflow\).*another-media \(activity\).*start a core worker .*; start a media worker/,
      },
    },
    'servers that are others': {
      settings: {
        STORAGE: 's3',
        S3_BUCKET: 'kiln',
        S3_ACCESS_KEY_ID: 'id',
        S3_SECRET_ACCESS_KEY: 'hunter2hunter2',
        S3_PATH_STYLE: 'true',
      },
      expected: {
        postgres: /password authentication failed.*: correct user or password in DATABASE_URL$/,
        secrets: /not looked at: mend postgres$/,
        store: /the server at S3_ENDPOINT is no S3 server: correct S3_ENDPOINT$/,
        certificate: /no TLS there: correct PUBLIC_URL$/,
      },
    },
    'settings that cannot be': {
      settings: { DATABASE_URL: '', SIGNING_KEYS: 'c2hvcnQ=', TEMPORAL_NAMESPACE: 'nobodys' },
      expected: {
        settings: /SIGNING_KEYS must hold keys of 32 bytes in Base64/,
        postgres: /not looked at: mend DATABASE_URL/,
        namespace: /has no namespace nobodys: create it with .*, or correct TEMPORAL_NAMESPACE$/,
        workers: /not looked at: mend namespace$/,
      },
    },
  }
  for (const [what, { settings, expected }] of Object.entries(ILLNESSES))
    test(`the doctor reports ${what}, each in a line with the next step, and no secret`, async () => {
      const { sql } = service.database
      const [newest] = await sql`delete from migration where name = '0022_picture.sql' returning *`
      const given = { ...service.settings, ...settings }
      if (what === 'servers that are others') Object.assign(given, otherServers(service))
      const { output, code } = await operateWith(given, 'doctor').finally(
        () => sql`insert into migration ${sql(newest ?? {})}`,
      )
      assert.equal(code, 1)
      const errors = output.split('\n').filter((line) => line.startsWith('ERROR'))
      for (const [name, step] of Object.entries(expected))
        assert.ok(
          errors.some((line) => line.slice(7).startsWith(`${name} `) && step.test(line)),
          `${name}: ${String(step)} in\n${output}`,
        )
      for (const secret of ['hunter2', given['SIGNING_KEYS'], given['SECRETS_KEYS']])
        assert.ok(!output.includes(secret ?? ''), output)
    })
})

/** Servers that are there, and not what they should be. */
const otherServers = ({ settings, baseUrl }: Service): NodeJS.ProcessEnv => {
  const database = new URL(settings['DATABASE_URL'] ?? '')
  database.password = 'hunter2hunter2'
  return {
    DATABASE_URL: database.href,
    S3_ENDPOINT: `${baseUrl}/health/`,
    PUBLIC_URL: baseUrl.replace('http:', 'https:'),
  }
}

describe('an operator reads in a line', () => {
  const WRONG: [string[], RegExp][] = [
    [['bogus'], /^kiln: there is no command bogus\nusage: kiln operate <command>\n/],
    [['restart'], /^kiln: an id is absent\nusage: kiln operate restart <id>\n$/],
    [['stuck', 'extra'], /^kiln: extra is too much\n/],
    [['doctor', 'extra'], /^kiln: extra is too much\n/],
    [['purge', '--x'], /^kiln: Unknown option '--x'\nusage: kiln operate purge\n$/],
    [['reextract', '--below', 'abc'], /^kiln: --below must be a whole number from 1, got abc\n/],
    [['move-files', '--to', 'moon'], /^kiln: --to must be local or s3, got moon\n/],
  ]
  for (const [args, expected] of WRONG)
    test(`that ${args.join(' ')} is no command, before any setting is validated`, async () => {
      const { output, errors, code } = await operateWith({}, ...args)
      assert.deepEqual([output, code], ['', 1])
      assert.match(errors, expected)
    })

  test('how commands are used, whatever else is asked', async () => {
    const { output, code } = await operateWith({}, 'stuck', '--help')
    assert.match(output, /^usage: /)
    assert.equal(code, 0)
  })

  const AWAY: [string, NodeJS.ProcessEnv, RegExp][] = [
    [
      'stuck',
      { DATABASE_URL: 'postgres://kiln:hunter2@127.0.0.1:1/kiln' },
      /PostgreSQL does not respond \(connect ECONNREFUSED 127\.0\.0\.1:1\): start PostgreSQL, or correct DATABASE_URL/,
    ],
    [
      'purge',
      { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      /Temporal at 127\.0\.0\.1:1 does not respond \(ECONNREFUSED\): start Temporal, or correct TEMPORAL_ADDRESS/,
    ],
  ]
  for (const [command, settings, expected] of AWAY)
    test(`that a server is away, by ${command}`, async () => {
      const { errors, code } = await operateWith({ ...service.settings, ...settings }, command)
      assert.equal(code, 1)
      assert.match(errors, new RegExp(`^kiln: ${expected.source}; .* doctor. says more\n$`))
    })
  test('that the port of an api is taken', async () => {
    const env = service.settings
    const start = startEntry({ path: 'src/api.ts', readyMessage: 'api ready', env })
    await assert.rejects(start, /ended \(1\)[^]*port \d+ is taken: set PORT to another one/)
  })
})
