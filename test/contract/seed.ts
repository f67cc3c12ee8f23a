import assert from 'node:assert/strict'

import { makeClient } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { base64, makePicture } from '../support/pictures.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'

/** The user of all requests, who is a platform admin: no route is closed to it. */
export const USER = 'contract'

/** Makes what requests can name, and returns the words that configuration, hooks and clients take from the environment. */
export const seed = async (service: Service): Promise<Record<string, string>> => {
  const token = await service.token(USER)
  const client = makeClient(service.baseUrl, token)
  const { body: key } = await client.post('/users/api-keys', { name: 'contract' })
  const image = await base64({ width: 64, height: 64 })
  return {
    KILN_URL: service.baseUrl,
    KILN_TOKEN: token,
    KILN_KEY: String(key['key']),
    KILN_IMAGE: image,
    KILN_PACK: makeZip('NODE_CLASS_MAPPINGS = {}\n').toString('base64'),
    ...(await uploadImage(client)),
    ...(await publish(client)),
  }
}

/** An upload whose links stay valid: requests may read it, and write it again. */
const uploadImage = async (client: Client): Promise<Record<string, string>> => {
  const { body } = await client.post('/customers/storage', { file_name: 'input.png' })
  const to = new URL(String(body['upload_url']))
  const from = new URL(String(body['download_url']))
  await put(to.href, await makePicture({ width: 64, height: 64 }))
  return {
    KILN_IMAGE_URL: from.href,
    KILN_FILE_ID: from.pathname.split('/')[2] ?? '',
    KILN_FILE_EXPIRES: from.searchParams.get('expires') ?? '',
    KILN_FILE_SIGNATURE: from.searchParams.get('signature') ?? '',
    KILN_UPLOAD_EXPIRES: to.searchParams.get('expires') ?? '',
    KILN_UPLOAD_MAX: to.searchParams.get('max') ?? '',
    KILN_UPLOAD_SIGNATURE: to.searchParams.get('signature') ?? '',
  }
}

const put = async (url: string, body: Buffer): Promise<void> => {
  const { status } = await fetch(url, { method: 'PUT', body: Uint8Array.from(body) })
  assert.equal(status, 200)
}

/** The publisher, node and version that the examples of the document name. */
const publish = async (client: Client): Promise<Record<string, string>> => {
  await client.post('/publishers', { id: 'acme' })
  const { body: made } = await client.post('/publishers/acme/tokens', { name: 'contract' })
  const token = String(made['token'])
  const { body } = await client.post('/publishers/acme/nodes/image-tools/versions', {
    node: { id: 'image-tools' },
    node_version: { version: '1.2.0' },
    personal_access_token: token,
  })
  await put(String(body['signedUrl']), makeZip('NODE_CLASS_MAPPINGS = {}\n'))
  await waitFor('the version is Active', async () => {
    const { body } = await client.get('/nodes/image-tools/versions/1.2.0')
    return body['status'] === 'NodeVersionStatusActive'
  })
  return { KILN_PERSONAL_ACCESS_TOKEN: token }
}
