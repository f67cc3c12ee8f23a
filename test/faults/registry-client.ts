import assert from 'node:assert/strict'

import type { Client } from '../support/client.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { clientOf } from './calls.ts'

export interface PublishedVersion {
  id: string
  /** To be put to any api: the signature says nothing of the host. */
  signedUrl: string
}

export interface RegistryClient {
  alice: Client
  /** Of one node each, so that publications do not wait for each other; undefined when no 201 came. */
  publish(nodeId: string, baseUrl?: string): Promise<PublishedVersion | undefined>
  /** Repeats a publication until it is answered, as whoever publishes does. */
  publishUntilAnswered(nodeId: string): Promise<PublishedVersion>
  /** Status of one PUT; undefined when the connection broke before an answer. */
  upload(signedUrl: string, bytes: Buffer): Promise<number | undefined>
  uploadUntilTaken(signedUrl: string, bytes: Buffer): Promise<void>
  /** The version of a node as everybody reads it. */
  read(nodeId: string): Promise<{ status: string; status_reason: string; id: string }>
}

/** For whoever comes again while a process starts, which takes a busy machine ten seconds. */
const DEADLINE_MS = 120_000

export const VERSION = '1.0.0'
const PUBLISHER = 'acme'
export const PENDING = 'NodeVersionStatusPending'
export const ACTIVE = 'NodeVersionStatusActive'
export const DELETED = 'NodeVersionStatusDeleted'

/** Makes a publisher with a token, and who publishes with it. Needs a running api. */
export const makeRegistryClient = async (service: Service): Promise<RegistryClient> => {
  const alice = await clientOf(service)
  assert.equal((await alice.post('/publishers', { id: PUBLISHER })).status, 201)
  const made = await alice.post(`/publishers/${PUBLISHER}/tokens`, { name: 'test' })
  const body = {
    node: {},
    node_version: { version: VERSION },
    personal_access_token: String(made.body['token']),
  }
  const authorization = `Bearer ${await service.token('alice')}`

  const publish = async (
    nodeId: string,
    baseUrl = service.baseUrl,
  ): Promise<PublishedVersion | undefined> => {
    const url = `${baseUrl}/publishers/${PUBLISHER}/nodes/${nodeId}/versions`
    const headers = { authorization, 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(url, asked).then(readAnswer, () => undefined)
    if (answer === undefined || answer.status === 503) return undefined
    assert.equal(answer.status, 201, answer.text)
    const { node_version, signedUrl } = JSON.parse(answer.text) as Answered
    return { id: node_version.id, signedUrl }
  }
  const upload = async (signedUrl: string, bytes: Buffer): Promise<number | undefined> =>
    await fetch(signedUrl, { method: 'PUT', body: Uint8Array.from(bytes) }).then(
      ({ status }) => status,
      () => undefined,
    )

  return {
    alice,
    publish,
    upload,
    publishUntilAnswered: (nodeId) =>
      waitFor(`${nodeId} is published`, () => publish(nodeId), DEADLINE_MS),
    uploadUntilTaken: async (signedUrl, bytes) => {
      const { pathname, search } = new URL(signedUrl)
      await waitFor(
        'the archive is taken',
        async () => {
          const status = await upload(service.baseUrl + pathname + search, bytes)
          assert.ok(status === undefined || status === 200 || status === 503, `status ${status}`)
          return status === 200
        },
        DEADLINE_MS,
      )
    },
    read: async (nodeId) => {
      const { status, body } = await alice.get(`/nodes/${nodeId}/versions/${VERSION}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body as unknown as { status: string; status_reason: string; id: string }
    },
  }
}

interface Answered {
  node_version: { id: string }
  signedUrl: string
}

/** An answer whose body breaks off is none. */
const readAnswer = async (
  response: Response,
): Promise<{ status: number; text: string } | undefined> =>
  await response.text().then(
    (text) => ({ status: response.status, text }),
    () => undefined,
  )
