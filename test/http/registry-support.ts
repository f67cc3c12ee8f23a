import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import type { TestDatabase } from '../support/stack.ts'
import { makeRegistryPlace } from '../db/registry-place.ts'
import type { RegistryPlace } from '../db/registry-place.ts'

export const ADMIN = 'root'

/** A service without workers, so that nothing moves unless a test moves it. */
export interface Registry {
  service: Service
  /** Ways that uploads and checks take, without them. */
  place: RegistryPlace
  /** Sends no credential. */
  anonymous: Client
  /** A platform admin. */
  admin: Client
  client(user: string): Promise<Client>
  stop(): Promise<void>
}

export const startRegistry = async (
  env: NodeJS.ProcessEnv = {},
  database?: TestDatabase,
): Promise<Registry> => {
  const service = await startService({
    roles: ['api'],
    env: { ADMIN_SUBJECTS: ADMIN, ...env },
    ...(database && { database }),
  })
  const client = async (user: string) => makeClient(service.baseUrl, await service.token(user))
  return {
    service,
    place: makeRegistryPlace(service.database),
    anonymous: makeClient(service.baseUrl),
    admin: await client(ADMIN),
    client,
    stop: () => service.stop(),
  }
}

/** An id that no other test uses. */
export const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`

export const expectStatus = (answer: Answer, status: number, error?: string): Answer => {
  const seen = [answer.status, answer.body?.error]
  assert.deepEqual(seen, [status, error], JSON.stringify(answer.body))
  return answer
}

/** A publisher of its own, with its owner and a token. */
export interface Owned {
  id: string
  user: string
  owner: Client
  token: string
}

export const makePublisher = async (
  registry: Registry,
  { id = unique('pub'), user = unique('owner') } = {},
): Promise<Owned> => {
  const owner = await registry.client(user)
  expectStatus(await owner.post('/publishers', { id }), 201)
  return { id, user, owner, token: await makeToken(owner, id) }
}

export const makeToken = async (client: Client, id: string): Promise<string> => {
  const { body } = expectStatus(await client.post(`/publishers/${id}/tokens`, { name: 'x' }), 201)
  return String(body['token'])
}

export const makeNode = async ({ id, owner }: Owned, fields: object = {}): Promise<string> => {
  const nodeId = unique('node')
  expectStatus(await owner.post(`/publishers/${id}/nodes`, { id: nodeId, ...fields }), 201)
  return nodeId
}

export interface PublishOptions {
  nodeId: string
  version?: string
  node?: object
  given?: object
}

export const publish = (
  { id, owner, token }: Owned,
  { nodeId, version = '1.0.0', node = {}, given = {} }: PublishOptions,
): Promise<Answer> =>
  owner.post(`/publishers/${id}/nodes/${nodeId}/versions`, {
    node: { id: nodeId, ...node },
    node_version: { version, ...given },
    personal_access_token: token,
  })

/** The id of a version that awaits its archive. */
export const addVersion = async (owned: Owned, options: PublishOptions): Promise<string> => {
  const { body } = expectStatus(await publish(owned, options), 201)
  return (body['node_version'] as unknown as { id: string }).id
}

/** The id of a version that has passed its checks. */
export const addActive = async (
  { place }: Registry,
  owned: Owned,
  options: PublishOptions,
): Promise<string> => {
  const id = await addVersion(owned, options)
  await place.receive(id, id)
  assert.ok(await place.accept(id, id), 'accepted')
  assert.ok(await place.move(id, 'pass'), 'passed')
  return id
}

/** The id of a version that its checks have flagged. */
export const addFlagged = async (
  { place }: Registry,
  owned: Owned,
  options: PublishOptions,
): Promise<string> => {
  const id = await addVersion(owned, options)
  await place.receive(id, id)
  assert.ok(await place.move(id, 'flag', '1 finding flags this version'), 'flagged')
  return id
}

/** The members of an answer that is a list. */
export const listOf = <Item = Record<string, unknown>>({ body }: Answer): Item[] =>
  body as unknown as Item[]
