import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeKiln } from '../../../packages/client/src/index.ts'
import { OF_REGISTRY } from '../../../src/registry/http/readers.ts'
import type { Document } from '../../support/contract.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { sha256Of } from '../../support/digest.ts'
import { makePicture } from '../../support/pictures.ts'
import { makeCli } from '../../support/registry-cli.ts'
import { waitFor } from '../../support/wait.ts'
import { makeZip } from '../../support/zip.ts'
import { ADMIN, unique, useRegistry } from './registry-support.ts'

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}\n', '__init__.py')
const NODE = 'readers-pack'
const OWNER = 'olga'
const PUBLISHER = 'readers'

const registry = useRegistry({
  roles: ['api', 'core', 'media'],
  env: { REGISTRY_READS: 'members', PUBLISH_AUTH: 'token', ADMIN_SUBJECTS: ADMIN },
})
const { service, place } = registry
/** Addresses of the same registry with other settings. */
const at = { members: '', 'signed-in': '', public: '' }
const credentials = {
  member: '',
  stranger: '',
  admin: '',
  key: '',
  imagesKey: '',
  token: '',
  nodeToken: '',
}

interface Got {
  status: number
  headers: Headers
  bytes: Buffer
  body: Record<string, string>
}

const send = async (
  url: string,
  { credential, ...init }: RequestInit & { credential?: string } = {},
): Promise<Got> => {
  const response = await fetch(url, {
    redirect: 'manual',
    ...init,
    headers: { ...(credential && { authorization: credential }), ...init.headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const { status, headers } = response
  // What has no end is not read.
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status, headers, bytes: Buffer.alloc(0), body: {} }
  }
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return {
    status,
    headers,
    bytes,
    body: isJson && bytes.length > 0 ? (JSON.parse(bytes.toString()) as Got['body']) : {},
  }
}

const get = (path: string, credential?: string, base = at.members): Promise<Got> =>
  send(base + path, credential === undefined ? {} : { credential })
const json = (path: string, credential: string, body: object, method = 'POST'): Promise<Got> =>
  send(at.members + path, {
    method,
    credential,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const basic = (secret: string): string =>
  `Basic ${Buffer.from(`kiln:${secret}`).toString('base64')}`
const addKey = async (scopes?: string[], owner = credentials.member): Promise<string> => {
  const { body } = await json('/users/api-keys', owner, {
    name: 'key',
    ...(scopes && { scopes }),
  })
  return `Bearer ${body['key']}`
}
const addToken = async (more: object = {}): Promise<string> => {
  const { body } = await json(`/publishers/${PUBLISHER}/tokens`, credentials.member, {
    name: 'ci',
    ...more,
  })
  return `Bearer ${body['token']}`
}

registry.prepare(async () => {
  at.members = service.baseUrl
  const own = { PUBLISH_AUTH: 'bearer+token' }
  for (const reads of ['signed-in', 'public'] as const)
    at[reads] = (await service.startSecondApi({ REGISTRY_READS: reads, ...own })).baseUrl
  await place.addPublisher(PUBLISHER, OWNER)
  const bearer = async (user: string) => `Bearer ${await service.token(user)}`
  credentials.member = await bearer(OWNER)
  credentials.stranger = await bearer(unique('stranger'))
  credentials.admin = await bearer(ADMIN)
  credentials.key = await addKey(['read'])
  credentials.imagesKey = await addKey(['images'])
  credentials.token = await addToken()
  await release(NODE)
  const icon = await send(`${at.members}/publishers/${PUBLISHER}/nodes/${NODE}/icon`, {
    method: 'PUT',
    credential: credentials.member,
    headers: { 'content-type': 'image/jpeg' },
    body: await makePicture({ width: 64, height: 64 }),
  })
  assert.equal(icon.status, 200, icon.bytes.toString())
  credentials.nodeToken = await addToken({ node_id: NODE })
})

const publish = async (nodeId: string): Promise<{ id: string; signedUrl: string }> => {
  const path = `/publishers/${PUBLISHER}/nodes/${nodeId}/versions`
  const published = await json(path, credentials.member, {
    node: { id: nodeId },
    node_version: { version: '1.0.0' },
    personal_access_token: credentials.token.slice('Bearer '.length),
  })
  assert.equal(published.status, 201, published.bytes.toString())
  const { node_version: version, signedUrl = '' } = published.body
  return { id: (version as unknown as { id: string }).id, signedUrl }
}

/** Publishes a version, and waits until the checks have passed it. */
const release = async (nodeId: string): Promise<void> => {
  const { signedUrl } = await publish(nodeId)
  assert.equal((await send(signedUrl, { method: 'PUT', body: ZIP })).status, 200)
  await waitFor('the version is active', async () => {
    const { body } = await get(`/nodes/${nodeId}/versions/1.0.0`, credentials.member)
    return body['status'] === 'NodeVersionStatusActive'
  })
}

const VERSION = `/nodes/${NODE}/versions/1.0.0`
const ARCHIVE = `/archives/${PUBLISHER}/${NODE}/1.0.0/node.zip`
const READS = [
  '/nodes',
  '/nodes/search',
  `/nodes/${NODE}`,
  `/nodes/${NODE}/versions`,
  VERSION,
  `${VERSION}/files`,
  `/publishers/${PUBLISHER}`,
  `/nodes/${NODE}/icon`,
  ARCHIVE,
]

/** Operations that need no credential, though the registry is not public, and why. */
const OPEN: Readonly<Record<string, string>> = {
  'GET /health': 'probes',
  'GET /ready': 'probes',
  'GET /service': 'a page must know how to sign in',
  'GET /': 'leads to the console or the documentation',
  'GET /docs': 'documentation',
  'GET /docs/{page}': 'documentation',
  'GET /docs/assets/{name}': 'documentation',
  'GET /openapi.json': 'documentation',
  'GET /openapi': 'documentation',
  'GET /openapi.yml': 'documentation',
  'GET /files/{id}/{name}': 'a signed link',
  'PUT /uploads/{id}': 'a signed link',
  'POST /engines/predictions/{id}/{secret}': 'a secret in the path',
  'POST /publishers/{publisherId}/nodes/{nodeId}/versions': 'a token in the body',
  'POST /publishers/{publisherId}/nodes/{nodeId}/token-exchange': 'an identity token in the body',
}
/** A video of a caller without a credential is read by its id, and of a template that is not there nothing is asked. */
const OF_TASKS = /^\/(tasks|templates|proxy)\//
/** Operations under paths of the registry that a user reads who is a member of nothing. */
const OF_CALLER = ['GET /users/publishers/']

interface Operation {
  name: string
  method: string
  path: string
}

/** All operations of an api, by its own document. */
const listOperations = async (base: string): Promise<Operation[]> => {
  const { paths } = (await get('/openapi.json', undefined, base)).body as unknown as Document
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((name) => {
      const method = name.toUpperCase()
      return { name: `${method} ${path}`, method, path }
    }),
  )
}

const call = (
  base: string,
  { method, path }: { method: string; path: string },
  credential?: string,
): Promise<Got> =>
  send(base + path.replaceAll(/\{\w+\}/g, NODE), {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'POST' || method === 'PUT' ? { body: '{}' } : {}),
    ...(credential === undefined ? {} : { credential }),
  })

describe('a registry that is not public', () => {
  for (const reads of ['signed-in', 'members'] as const)
    test(`needs a credential for each operation but those with a reason (${reads})`, async () => {
      const operations = await listOperations(at[reads])
      const names = operations.map(({ name }) => name)
      assert.deepEqual(
        Object.keys(OPEN).filter((name) => !names.includes(name)),
        [],
        'are there',
      )
      for (const operation of operations) {
        if (operation.name in OPEN || OF_TASKS.test(operation.path)) continue
        const { status, body } = await call(at[reads], operation)
        assert.deepEqual([status, body['error']], [401, 'unauthorized'], operation.name)
      }
    })

  test('of members rejects each operation of a user who is none', async () => {
    for (const operation of await listOperations(at.members)) {
      if (!OF_REGISTRY.test(operation.path) || operation.name in OPEN) continue
      const { status, body } = await call(at.members, operation, credentials.stranger)
      if (OF_CALLER.includes(operation.name)) assert.equal(status, 200, operation.name)
      else {
        assert.deepEqual([status, body['error']], [403, 'forbidden'], operation.name)
        assert.match(body['message'] ?? '', /REGISTRY_READS/, operation.name)
      }
    }
  })

  test('of those who sign in rejects none for being no member', async () => {
    for (const operation of await listOperations(at['signed-in'])) {
      if (!OF_REGISTRY.test(operation.path)) continue
      const { body } = await call(at['signed-in'], operation, credentials.stranger)
      assert.doesNotMatch(body['message'] ?? '', /REGISTRY_READS/, operation.name)
    }
  })

  test('is read by members, their keys and tokens, also as a password, and by platform admins', async () => {
    const { member, admin, key, token } = credentials
    const adminsKey = await addKey(['read'], admin)
    const all = [
      member,
      admin,
      adminsKey,
      key,
      await addKey(),
      token,
      await addToken({ scope: 'read' }),
    ]
    const passwords = [key, token].map((one) => basic(one.slice('Bearer '.length)))
    for (const credential of [...all, ...passwords])
      for (const path of READS)
        assert.equal(
          (await get(path, credential)).status,
          200,
          `${path} ${credential.slice(0, 20)}`,
        )
    for (const credential of [basic('nothing'), basic(member.slice('Bearer '.length)), 'Basic !'])
      assert.equal((await get('/nodes', credential)).status, 401, credential.slice(0, 20))
  })

  test('is not read by an API key without read or publish', async () => {
    for (const path of READS) {
      const { status, body } = await get(path, credentials.imagesKey)
      assert.deepEqual([status, body['error']], [403, 'key_scope_insufficient'], path)
    }
    const publishing = await addKey(['publish'])
    for (const path of READS) assert.equal((await get(path, publishing)).status, 200, path)
  })

  test('an archive is checked for a token of one node, and for no stranger', async () => {
    const check = (credential: string) =>
      send(`${at.members}/registry/check?node_id=${NODE}&version=1.0.0`, {
        method: 'POST',
        credential,
        body: ZIP,
      })
    const { status, body } = await check(credentials.nodeToken)
    assert.equal(status, 200)
    assert.match(String(body['issues']), /^The version "1\.0\.0" exists/)
    const rejected = await check(credentials.stranger)
    assert.deepEqual([rejected.status, rejected.body['error']], [403, 'forbidden'])
  })

  test('gives a token for one node that node, and nothing else', async () => {
    const { nodeToken } = credentials
    for (const path of [`/nodes/${NODE}`, VERSION, ARCHIVE, `/nodes/${NODE.toUpperCase()}`])
      assert.equal((await get(path, nodeToken)).status, 200, path)
    const others = ['/nodes', '/nodes/search', '/nodes/other', '/users/publishers/']
    for (const path of [...others, `/publishers/${PUBLISHER}`]) {
      const { status, body } = await get(path, nodeToken)
      assert.deepEqual([status, body['error']], [403, 'token_scope_insufficient'], path)
    }
  })

  test('shows a token what anybody may read, not what its member may', async () => {
    const nodeId = unique('node')
    const { id } = await publish(nodeId)
    await place.receive(id, id)
    await place.transition(id, 'flag', 'one finding')
    const path = `/nodes/${nodeId}/versions/1.0.0/files`
    assert.equal((await get(path, credentials.token)).body['error'], 'version_blocked')
    assert.equal((await get(path, credentials.member)).body['error'], 'archive_not_found')
  })

  test('lets no cache keep what is for few, and knows what a reader has', async () => {
    for (const base of [at.members, at['signed-in']])
      for (const path of READS) {
        const { headers } = await get(path, credentials.member, base)
        assert.match(headers.get('cache-control') ?? '', /^private/, path)
        const known = { 'if-none-match': headers.get('etag') ?? '' }
        const again = await send(base + path, { credential: credentials.member, headers: known })
        assert.equal(again.status, 304, path)
      }
    assert.match(
      (await get(ARCHIVE, undefined, at.public)).headers.get('cache-control') ?? '',
      /^public/,
    )
  })

  test('signs the archive of an install, which then needs no credential', async () => {
    const { status, body } = await get(`/nodes/${NODE}/install`, credentials.key)
    assert.equal(status, 200)
    const link = new URL(body['downloadUrl'] ?? '')
    assert.equal(link.pathname, ARCHIVE)
    const got = await send(link.href)
    assert.deepEqual([got.status, sha256Of(got.bytes)], [200, sha256Of(ZIP)])
    assert.match(got.headers.get('cache-control') ?? '', /^private/)
    assert.equal(got.headers.get('ignored-fields'), null)
    for (const [name, value] of [
      ['expires', '9999999999'],
      ['signature', 'a'.repeat(43)],
    ] as const) {
      const changed = new URL(link)
      changed.searchParams.set(name, value)
      assert.equal((await send(changed.href)).status, 401, name)
    }
    const other = link.href.replace('/1.0.0/', '/2.0.0/')
    assert.equal((await send(other)).status, 401)
    const plain = await get(VERSION, credentials.key)
    assert.equal(new URL(plain.body['downloadUrl'] ?? '').search, '')
  })

  test('takes a publisher only from members and platform admins, where members read', async () => {
    const id = unique('pub')
    assert.equal((await json('/publishers', credentials.stranger, { id })).status, 403)
    assert.equal((await json('/publishers', credentials.admin, { id })).status, 201)
    assert.equal((await json('/publishers', credentials.member, { id: unique('pub') })).status, 201)
  })

  test('is read by no member of a banned publisher alone', async () => {
    const user = unique('user')
    await place.addPublisher(unique('pub'), user)
    const credential = `Bearer ${await service.token(user)}`
    assert.equal((await get('/nodes', credential)).status, 200)
    await registry.sql`
      update publisher set status = 'PublisherStatusBanned'
      where id in (select publisher_id from publisher_member where user_id = ${user})
    `
    assert.equal((await get('/nodes', credential)).status, 403)
  })
})

describe('the publishing tool, which takes an API key from a file of passwords,', () => {
  test('publishes by the default PUBLISH_AUTH, and installs', async () => {
    const [base, nodeId] = [at['signed-in'], unique('node')]
    const authorization = basic((await addKey(['publish'])).slice('Bearer '.length))
    const cli = makeCli(base, undefined, { authorization })
    const token = credentials.token.slice('Bearer '.length)
    const { signedUrl } = await cli.publish({ publisherId: PUBLISHER, nodeId, token })
    await cli.upload(signedUrl, ZIP)
    const { archive } = await waitFor('it is installed', () =>
      cli.install(nodeId).catch(() => undefined),
    )
    assert.equal(sha256Of(archive.bytes), sha256Of(ZIP))
  })
})

describe('the client', () => {
  test('publishes with a token alone and reads the verdict, and reads by an API key', async () => {
    const [baseUrl, nodeId] = [at.members, unique('node')]
    const token = credentials.token.slice('Bearer '.length)
    const publication = { publisherId: PUBLISHER, nodeId, token, archive: ZIP }
    const { registry: publisher } = makeKiln({ baseUrl })
    const verdict = await publisher.publish({ ...publication, version: { version: '1.0.0' } })
    assert.equal(verdict.state, 'active')
    await assert.rejects(publisher.readNode(nodeId), { code: 'unauthorized' })
    const apiKey = credentials.key.slice('Bearer '.length)
    const { registry: reader, download } = makeKiln({ baseUrl, apiKey })
    const { nodes } = await reader.searchNodes({ search: nodeId })
    assert.deepEqual(
      nodes.map(({ id }) => id),
      [nodeId],
    )
    const { downloadUrl = '' } = await reader.install(nodeId)
    const archive = Buffer.from(await (await download(downloadUrl)).arrayBuffer())
    assert.equal(sha256Of(archive), sha256Of(ZIP))
  })
})

describe('a public registry', () => {
  test('is read without a credential, and by a token as by anybody', async () => {
    for (const path of READS)
      for (const credential of [undefined, credentials.token, credentials.nodeToken])
        assert.equal((await get(path, credential, at.public)).status, 200, path)
    const { body } = await get(`/nodes/${NODE}/install`, undefined, at.public)
    assert.equal(new URL(body['downloadUrl'] ?? '').search, '')
  })
})
