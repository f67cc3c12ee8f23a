import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before } from 'node:test'

import { makeLocalStorage } from '../../../src/platform/storage/local.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import { expectStatus, makeClient, memberOf } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { startService, type Role, type Service } from '../../support/service.ts'
import { planDatabase, type TestDatabase } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'
import { makeRegistryPlace, type RegistryPlace } from '../db/registry-place.ts'

export const ADMIN = 'root'

export interface Registry {
  service: Service
  /** Moves versions without uploads and checks. */
  place: RegistryPlace
  anonymous: Client
  admin: Client
  client(user: string): Client
  /** A user of a new name, who has signed in once. */
  addUser(name?: string): Promise<{ user: string; client: Client }>
  addPublisher(options?: { id?: string; user?: string }): Promise<Owned>
}

/** A publisher of its own, with its owner and a token. */
export interface Owned {
  id: string
  path: string
  user: string
  owner: Client
  token: string
  addMember(role: string): Promise<{ user: string; client: Client }>
  addNode(fields?: object): Promise<string>
  publish(publishing?: Publishing): Promise<HttpResponse>
  /** Publishes a version, which awaits its archive. */
  addVersion(publishing?: Publishing): Promise<Added>
  /** Publishes a version that passes its checks. */
  addActive(publishing?: Publishing): Promise<Added>
  /** Publishes a version that its checks flag. */
  addFlagged(publishing?: Publishing): Promise<Added>
}

export interface Publishing {
  /** A node of its own unless it is named. */
  nodeId?: string
  version?: string
  /** Members of `node` and of `node_version`. */
  node?: object
  given?: object
  /** In place of the owner, and of the publisher's token. */
  client?: Client
  token?: string
}

/** A version, and the paths by which everybody reads it and its publisher writes it. */
export interface Added {
  id: string
  nodeId: string
  node: string
  version: string
  ownNode: string
  ownVersion: string
  /** Link for the upload of its archive. */
  signedUrl: string
}

/** Makes ways into the registry of a service, which may start later than they are made. */
export const makeRegistry = (
  service: Service,
  database: Pick<TestDatabase, 'sql'> = service.database,
): Registry => {
  const client = (user: string) =>
    makeClient(
      () => service.baseUrl,
      () => service.token(user),
    )
  const registry: Registry = {
    service,
    place: makeRegistryPlace(database),
    anonymous: makeClient(() => service.baseUrl),
    admin: client(ADMIN),
    client,
    addUser: async (name = 'user') => {
      const user = unique(name)
      const signedIn = client(user)
      expectStatus(await signedIn.get('/users'), 200)
      return { user, client: signedIn }
    },
    addPublisher: (named) => createOwned(planOwned(registry, named)),
  }
  return registry
}

/** Creates a publisher that was planned, and a token of it. */
const createOwned = async (owned: Owned): Promise<Owned> => {
  const { owner, id } = owned
  expectStatus(await owner.post('/publishers', { id }), 201)
  return Object.assign(owned, { token: await makeToken(owner, id) })
}

/** Plans a publisher: all of it is known but its token. */
const planOwned = (
  registry: Registry,
  { id = unique('pub'), user = unique('owner') }: { id?: string; user?: string } = {},
): Owned => {
  const owner = registry.client(user)
  const path = `/publishers/${id}`
  const publish = (publishing: Publishing = {}): Promise<HttpResponse> => {
    const { nodeId = unique('node'), version = '1.0.0', node, given, client = owner } = publishing
    return client.post(`${path}/nodes/${nodeId}/versions`, {
      node: { id: nodeId, ...node },
      node_version: { version, ...given },
      personal_access_token: publishing.token ?? owned.token,
    })
  }
  const addVersion = async ({ nodeId = unique('node'), ...publishing }: Publishing = {}) => {
    const { version = '1.0.0' } = publishing
    const response = expectStatus(await publish({ nodeId, ...publishing }), 201)
    const { id } = memberOf(response, 'node_version')
    const ownNode = `${path}/nodes/${nodeId}`
    return {
      id: String(id),
      nodeId,
      node: `/nodes/${nodeId}`,
      version: `/nodes/${nodeId}/versions/${version}`,
      ownNode,
      ownVersion: `${ownNode}/versions/${String(id)}`,
      signedUrl: String(response.body['signedUrl']),
    }
  }
  const addReceived = async (publishing: Publishing = {}): Promise<Added> => {
    const added = await addVersion(publishing)
    await registry.place.receive(added.id, added.id)
    return added
  }
  const owned: Owned = {
    id,
    path,
    user,
    owner,
    token: '',
    publish,
    addVersion,
    addMember: async (role) => {
      const member = await registry.addUser(role)
      expectStatus(await owner.put(`${path}/members/${member.user}`, { role }), 200)
      return member
    },
    addNode: async (fields = {}) => {
      const nodeId = unique('node')
      expectStatus(await owner.post(`${path}/nodes`, { id: nodeId, ...fields }), 201)
      return nodeId
    },
    addActive: async (publishing) => {
      const added = await addReceived(publishing)
      assert.ok(await registry.place.accept(added.id, added.id), 'accepted')
      assert.ok(await registry.place.transition(added.id, 'pass'), 'passed')
      return added
    },
    addFlagged: async (publishing) => {
      const added = await addReceived(publishing)
      assert.ok(
        await registry.place.transition(added.id, 'flag', '1 finding flags this version'),
        'flagged',
      )
      return added
    },
  }
  return owned
}

interface RegistryOptions {
  env?: NodeJS.ProcessEnv
  database?: TestDatabase
  /** The api alone unless others are named: without workers nothing moves but by the test. */
  roles?: Role[]
}

export const startRegistry = async ({
  env = {},
  database,
  roles = ['api'],
}: RegistryOptions = {}): Promise<Registry> =>
  makeRegistry(
    await startService({
      roles,
      env: { ADMIN_SUBJECTS: ADMIN, ...env },
      ...(database && { database }),
    }),
  )

/** A registry that starts before the tests of a file and stops after them. Its clients and `sql` may be taken out of it before. */
export interface UsedRegistry extends Registry {
  sql: Sql
  /** Does this before the tests, after what was asked for before. `before` of node:test would not wait for the start. */
  prepare(work: () => Promise<unknown>): void
}

/** Without options it is one with what other files of the process have put into it; else it is empty. */
export const useRegistry = (options?: RegistryOptions): UsedRegistry => {
  const works: (() => Promise<unknown>)[] = []
  const source = options ? makeSource(options) : SHARED
  const service = {} as Service
  source.users += 1
  before(async () => {
    source.started ??= startSource(source)
    Object.assign(service, (await source.started).service)
    for (const work of works) await work()
  })
  after(async () => {
    source.users -= 1
    if (source.users > 0) return
    // One whose start has failed is gone.
    await source.started?.then(
      ({ service }) => service.stop(),
      () => {},
    )
  })
  return Object.assign(makeRegistry(service, source.database), {
    sql: source.database.sql,
    prepare: (work: () => Promise<unknown>) => works.push(work),
  })
}

/** A registry for those that use it: the first starts it, the last stops it. */
interface Source {
  options: RegistryOptions
  database: ReturnType<typeof planDatabase>
  users: number
  started?: Promise<Registry>
}

const makeSource = (options: RegistryOptions): Source => {
  return { options, database: planDatabase(), users: 0 }
}

const startSource = async ({ options, database }: Source): Promise<Registry> => {
  await database.create()
  return await startRegistry({ ...options, database })
}

/** With what some of them ask for, and the others do not mind. */
const SHARED = makeSource({
  env: {
    OVERRIDE_MAX_PUBLISHERS_PER_USER: '3',
    ADMIN_CLAIM: 'roles=moderator',
    CORS_ORIGINS: 'https://registry.example.com',
  },
})

/** A publisher of it, which is there before the tests. */
export const usePublisher = (
  registry: UsedRegistry,
  named?: { id?: string; user?: string },
): Owned => {
  const owned = planOwned(registry, named)
  registry.prepare(() => createOwned(owned))
  return owned
}

/** Stores the archive that `addActive` says was stored: its bytes are the id, and in it is the file `x` of the same. */
export const storeArchive = async ({ service }: Registry, id: string): Promise<void> => {
  const storage = makeLocalStorage({ root: service.storagePath })
  await storage.putStream(`archives/${id}`, Readable.from([id]), { maxBytes: 100 })
  const place = { dataOffset: 0, packedBytes: 36, isDeflated: false }
  const files = [{ path: 'x', bytes: 36, sha256: 'a', ...place }]
  const { sql } = service.database
  await sql`update archive set files = ${sql.json(files)} where version_id = ${id}`
}

/** Puts the archive of a version to its signed URL. */
export const upload = (signedUrl: string, zip: Buffer): Promise<Response> =>
  fetch(signedUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip' },
    body: Uint8Array.from(zip),
  })

/** The version at a path once its checks have decided on it. */
export const untilDecided = (
  { anonymous }: Registry,
  path: string,
): Promise<Record<string, unknown>> =>
  waitFor(`${path} is decided on`, async () => {
    const { body } = await anonymous.get(path)
    return body['status'] !== 'NodeVersionStatusPending' && body
  })

/** An id that no other test uses. */
export const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`

export const makeToken = async (client: Client, id: string): Promise<string> => {
  const { body } = expectStatus(await client.post(`/publishers/${id}/tokens`, { name: 'x' }), 201)
  return String(body['token'])
}
