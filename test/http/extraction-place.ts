import assert from 'node:assert/strict'

import { makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { ADMIN, expectStatus, makeToken, unique } from './registry-support.ts'

export const ACTIVE = 'NodeVersionStatusActive'
export const FLAGGED = 'NodeVersionStatusFlagged'

export interface Published {
  nodeId: string
  id: string
  signedUrl: string
  /** Of the version. */
  path: string
}

/** A zip of files by path. */
export const makePack = (files: Record<string, string>): Buffer =>
  writeZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 })))

/** A whole service in which packs are published as their publishers do it, of the publisher `acme`. */
export const openExtractionPlace = async (env: NodeJS.ProcessEnv = {}) => {
  const service: Service = await startService({ env: { ADMIN_SUBJECTS: ADMIN, ...env } })
  const { baseUrl } = service
  const owner: Client = makeClient(baseUrl, await service.token('olga'))
  const admin: Client = makeClient(baseUrl, await service.token(ADMIN))
  const anonymous: Client = makeClient(baseUrl)
  expectStatus(await owner.post('/publishers', { id: 'acme' }), 201)
  const token = await makeToken(owner, 'acme')

  const publish = async (nodeId = unique('pack')): Promise<Published> => {
    const { body } = expectStatus(
      await owner.post(`/publishers/acme/nodes/${nodeId}/versions`, {
        node: {},
        node_version: { version: '1.0.0' },
        personal_access_token: token,
      }),
      201,
    )
    const { id } = body['node_version'] as unknown as { id: string }
    const path = `/nodes/${nodeId}/versions/1.0.0`
    return { nodeId, id, signedUrl: String(body['signedUrl']), path }
  }
  /** Sends the archive of a version and waits for its verdict. */
  const send = async (
    { signedUrl, path }: Published,
    zip: Buffer,
  ): Promise<Record<string, unknown>> => {
    const { status } = await fetch(signedUrl, { method: 'PUT', body: Uint8Array.from(zip) })
    assert.equal(status, 200)
    return await waitFor('the version is decided on', async () => {
      const { body } = await anonymous.get(path)
      return body['status'] !== 'NodeVersionStatusPending' && body
    })
  }
  /** Publishes a pack and waits for its verdict. */
  const add = async (files: Record<string, string> | Buffer) => {
    const published = await publish()
    const zip = Buffer.isBuffer(files) ? files : makePack(files)
    return { ...published, version: await send(published, zip) }
  }

  return {
    service,
    owner,
    admin,
    anonymous,
    publish,
    send,
    add,
    /** What members are told of a version. */
    readFindings: async (path: string): Promise<Record<string, unknown>> =>
      expectStatus(await owner.get(`${path}/findings`), 200).body,
    readNames: async (path: string): Promise<string[]> => {
      const { body }: Answer = expectStatus(await anonymous.get(`${path}/host-nodes`), 200)
      const nodes = body['host_nodes'] as unknown as { host_node_name: string }[]
      assert.equal(body['total'], nodes.length)
      return nodes.map(({ host_node_name: name }) => name)
    },
  }
}

export type ExtractionPlace = Awaited<ReturnType<typeof openExtractionPlace>>
