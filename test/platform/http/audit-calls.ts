import { IMAGE_API, VIDEO_API, expectStatus, makeClient } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { makePicture } from '../../support/pictures.ts'
import { addAccount, BUILTIN, signIn } from '../../support/sign-in.ts'
import { CLAIMS } from '../../registry/http/trusted-publishing-support.ts'
import {
  ADMIN,
  unique,
  type Owned,
  type UsedRegistry,
} from '../../registry/http/registry-support.ts'

export type Actor = 'owner' | 'admin' | 'reader'

/** Name of who makes the change, and the request that makes it, after those that prepare it. */
export type AuditedCall = [by: Actor, call: (client: Client) => Promise<HttpResponse>]

/** Address of a webhook URL whose query is a secret. */
const HOOK = { url: 'https://hooks.example.com/kiln?key=hidden-key' }

const idOf = ({ body }: HttpResponse, name = 'id'): string => String(body[name])

/** A call of each route whose changes are in the audit log, by method and path. */
export const makeAuditedCalls = (
  registry: UsedRegistry,
  { owned, other, reader }: { owned: Owned; other: Owned; reader: Client },
): Record<string, AuditedCall> => {
  const { admin, sql } = registry
  const { owner, path: own } = owned
  return {
    ...taskCalls(owner),
    ...bulkCalls(owner),
    ...publisherCalls(registry, owned),
    ...nodeCalls({ registry, owned, other }),
    ...endpointCalls(owner, { route: '', path: '', events: ['image_task.completed'] }),
    ...endpointCalls(admin, {
      route: '/admin',
      path: '/admin',
      events: ['report.made'],
      by: 'admin',
    }),
    ...endpointCalls(owner, {
      route: '/publishers/:publisherId',
      path: own,
      events: ['version.active'],
    }),
    ...versionCalls(owned),
    ...reviewCalls(owned, reader),
    'POST /admin/reports/:reportId/close': [
      'admin',
      async (client) => {
        const node = `/nodes/${await owned.addNode()}`
        const made = await reader.post(`${node}/reports`, { reason: 'malware', text: 'x' })
        return await client.post(`/admin/reports/${idOf(made)}/close`, { decision: 'none' })
      },
    ],
    'POST /admin/nodes/:nodeId/versions/:version/retry': [
      'admin',
      async (client) => {
        const { id, version } = await owned.addActive()
        await sql`update version set host_node_extract_status = 'failed' where id = ${id}`
        return await client.post(`/admin${version}/retry`, {})
      },
    ],
    'POST /admin/versions/:id/restart': [
      'admin',
      async (client) =>
        await client.post(`/admin/versions/${(await owned.addVersion()).id}/restart`, {}),
    ],
    'POST /admin/publishers/:publisherId/ban': [
      'admin',
      (client) => client.post(`/admin${other.path}/ban`, { reason: 'spam' }),
    ],
    'POST /admin/publishers/:publisherId/unban': [
      'admin',
      async (client) => {
        await admin.post(`/admin${other.path}/ban`, { reason: 'spam' })
        return await client.post(`/admin${other.path}/unban`, {})
      },
    ],
    'PUT /admin/pauses/:scope': [
      'admin',
      (client) => client.put('/admin/pauses/kind:relight', { reason: 'x' }),
    ],
    'DELETE /admin/pauses/:scope': [
      'admin',
      async (client) => {
        await admin.put('/admin/pauses/kind:upscale', { reason: 'x' })
        return await client.delete('/admin/pauses/kind:upscale')
      },
    ],
    'PUT /admin/owners/:owner': [
      'admin',
      (client) => client.put('/admin/owners/limited', { slots: 2 }),
    ],
    'DELETE /admin/owners/:owner': [
      'admin',
      async (client) => {
        await admin.put('/admin/owners/limited', { slots: 3 })
        return await client.delete('/admin/owners/limited')
      },
    ],
    'POST /admin/invitations': [
      'admin',
      async () => {
        const { baseUrl } = await registry.service.startSecondApi(BUILTIN)
        const email = await addAccount({ baseUrl, sql }, { isAdmin: true })
        await sql`update sign_in_account set id = ${ADMIN} where email = ${email}`
        const { tokens } = await signIn({ baseUrl }, email)
        const client = makeClient(baseUrl, tokens.access_token)
        return await client.post('/admin/invitations', { email: 'guest@example.com' })
      },
    ],
    'POST /admin/instances/:id/drain': [
      'admin',
      async (client) => {
        await sql`insert into instance (name, state) values ('drained', 'up')`
        return await client.post('/admin/instances/drained/drain', {})
      },
    ],
    'POST /admin/instances/:id/resume': [
      'admin',
      async (client) => {
        await sql`insert into instance (name, state, drained_at) values ('resumed', 'up', now())`
        return await client.post('/admin/instances/resumed/resume', {})
      },
    ],
  }
}

const bulkCalls = (owner: Client): Record<string, AuditedCall> => {
  const operation = { action: 'cancel', filter: { q: 'nothing has this' } }
  const request = { path: `${VIDEO_API}/text2video`, body: { prompt: 'a sea' } }
  return {
    'POST /operations': ['owner', (client) => client.post('/operations', operation)],
    'POST /operations/:id/cancel': [
      'owner',
      async (client) => {
        const made = await owner.post('/operations', operation)
        return await client.post(`/operations/${idOf(made, 'operation_id')}/cancel`, {})
      },
    ],
    'POST /batches/:id/cancel': [
      'owner',
      async (client) => {
        const made = await owner.post('/batches', { requests: [request] })
        return await client.post(`/batches/${idOf(made, 'batch_id')}/cancel`, {})
      },
    ],
  }
}

/** Calls for tasks, uploads and keys of a user. */
const taskCalls = (owner: Client): Record<string, AuditedCall> => {
  const addTask = async (): Promise<string> => await owner.createImage()
  const cancel = (family: string, kind = family): AuditedCall => [
    'owner',
    async (client) => {
      const id = await owner.createImage(KINDS[kind] ?? {}, `${IMAGE_API}/${kind}`)
      return await client.post(`${IMAGE_API}/${family}/${id}/cancel`, {})
    },
  ]
  const route = (family: string) => `POST ${IMAGE_API}/${family}/:task_id/cancel`
  return {
    [route('image-relight')]: cancel('image-relight'),
    [route('image-upscaler')]: cancel('image-upscaler'),
    [route('image-upscaler-precision-v2')]: cancel('image-upscaler-precision-v2'),
    [route('skin-enhancer')]: cancel('skin-enhancer', 'skin-enhancer/faithful'),
    [`POST ${VIDEO_API}/tasks/:task_id/cancel`]: [
      'owner',
      async (client) => {
        const body = { model: 'videoq2-turbo', duration: 1, prompt: 'sea' }
        return await client.post(`${VIDEO_API}/tasks/${await owner.createVideo(body)}/cancel`, {})
      },
    ],
    'POST /tasks/:task_id/tokens': [
      'owner',
      async (client) => await client.post(`/tasks/${await addTask()}/tokens`, {}),
    ],
    'DELETE /tasks/:task_id': [
      'owner',
      async (client) => await client.delete(`/tasks/${await addTask()}`),
    ],
    'POST /admin/tasks/:id/restart': [
      'admin',
      async (client) => await client.post(`/admin/tasks/${await addTask()}/restart`, {}),
    ],
    'POST /admin/tasks/:id/fail': [
      'admin',
      async (client) =>
        await client.post(`/admin/tasks/${await addTask()}/fail`, { reason: 'its input is gone' }),
    ],
    'DELETE /customers/storage/:id': [
      'owner',
      async (client) => {
        const file = { file_name: 'a.png', content_type: 'image/png' }
        const made = await owner.post('/customers/storage', file)
        const { pathname } = new URL(idOf(made, 'upload_url'))
        return await client.delete(`/customers/storage/${pathname.split('/').at(-1)}`)
      },
    ],
    'POST /users/api-keys': ['owner', (client) => client.post('/users/api-keys', { name: 'x' })],
    'DELETE /users/api-keys/:id': [
      'owner',
      async (client) => {
        const made = await owner.post('/users/api-keys', { name: 'x' })
        return await client.delete(`/users/api-keys/${idOf(made)}`)
      },
    ],
    'POST /webhook-secret/rotate': ['owner', (client) => client.post('/webhook-secret/rotate', {})],
  }
}

/** Members that a kind needs beside its image. */
const KINDS: Record<string, object> = {
  'image-relight': { prompt: 'evening' },
  'image-upscaler-precision-v2': { scale_factor: 2 },
}

const publisherCalls = (registry: UsedRegistry, owned: Owned): Record<string, AuditedCall> => {
  const { owner, path: own } = owned
  const picture = () => makePicture({ width: 64, height: 64 })
  const putPicture = async (client: Client, path: string) =>
    await client.call('PUT', path, Uint8Array.from(await picture()), PNG)
  const pictures = (route: string, add: () => Promise<string>): Record<string, AuditedCall> => ({
    [`PUT ${route}`]: ['owner', async (client) => await putPicture(client, await add())],
    [`DELETE ${route}`]: [
      'owner',
      async (client) => {
        const path = await add()
        expectStatus(await putPicture(owner, path), 200)
        return await client.delete(path)
      },
    ],
  })
  const addNode = async () => `${own}/nodes/${await owned.addNode()}`
  return {
    'POST /publishers': ['owner', (client) => client.post('/publishers', { id: unique('pub') })],
    'PUT /publishers/:publisherId': [
      'owner',
      (client) => client.put(own, { name: unique('name') }),
    ],
    'PUT /publishers/:publisherId/members/:userId': [
      'owner',
      async (client) => {
        const { user } = await registry.addUser()
        return await client.put(`${own}/members/${user}`, { role: 'member' })
      },
    ],
    'DELETE /publishers/:publisherId/members/:userId': [
      'owner',
      async (client) =>
        await client.delete(`${own}/members/${(await owned.addMember('admin')).user}`),
    ],
    'POST /publishers/:publisherId/tokens': [
      'owner',
      (client) => client.post(`${own}/tokens`, { name: 'pipeline' }),
    ],
    'DELETE /publishers/:publisherId/tokens/:tokenId': [
      'owner',
      async (client) => {
        const [token] = (await owner.get(`${own}/tokens`)).body as unknown as { id: string }[]
        return await client.delete(`${own}/tokens/${token?.id}`)
      },
    ],
    'POST /publishers/:publisherId/nodes/:nodeId/publish-tokens': [
      'owner',
      async (client) => await client.post(`${await addNode()}/publish-tokens`, {}),
    ],
    'POST /publishers/:publisherId/nodes/:nodeId/trusted-publishers': [
      'owner',
      async (client) => await client.post(`${await addNode()}/trusted-publishers`, TRUST),
    ],
    'DELETE /publishers/:publisherId/nodes/:nodeId/trusted-publishers/:trustedPublisherId': [
      'owner',
      async (client) => {
        const path = `${await addNode()}/trusted-publishers`
        return await client.delete(`${path}/${idOf(await owner.post(path, TRUST))}`)
      },
    ],
    ...pictures('/publishers/:publisherId/logo', () => Promise.resolve(`${own}/logo`)),
    ...pictures(
      '/publishers/:publisherId/nodes/:nodeId/icon',
      async () => `${await addNode()}/icon`,
    ),
    ...pictures(
      '/publishers/:publisherId/nodes/:nodeId/banner',
      async () => `${await addNode()}/banner`,
    ),
  }
}

const PNG = { 'content-type': 'image/png' }
const TRUST = { provider: 'github', claims: CLAIMS }

interface Nodes {
  registry: UsedRegistry
  owned: Owned
  other: Owned
}

const nodeCalls = ({ registry, owned, other }: Nodes): Record<string, AuditedCall> => {
  const { owner, path: own } = owned
  const offer = async () => {
    const nodeId = await owned.addNode()
    return idOf(await owner.post(`${own}/nodes/${nodeId}/transfer`, { to: other.id }))
  }
  return {
    'POST /publishers/:publisherId/nodes': [
      'owner',
      (client) => client.post(`${own}/nodes`, { id: unique('node') }),
    ],
    'PUT /publishers/:publisherId/nodes/:nodeId': [
      'owner',
      async (client) =>
        await client.put(`${own}/nodes/${await owned.addNode()}`, { description: 'Light.' }),
    ],
    'DELETE /publishers/:publisherId/nodes/:nodeId': [
      'owner',
      async (client) => await client.delete(`${own}/nodes/${await owned.addNode()}`),
    ],
    'POST /publishers/:publisherId/nodes/:nodeId/transfer': [
      'owner',
      async (client) =>
        await client.post(`${own}/nodes/${await owned.addNode()}/transfer`, { to: other.id }),
    ],
    'POST /publishers/:publisherId/transfers/:transferId/accept': [
      'owner',
      async (client) => {
        const nodeId = await other.addNode()
        const made = await other.owner.post(`${other.path}/nodes/${nodeId}/transfer`, {
          to: owned.id,
        })
        return await client.call('POST', `${own}/transfers/${idOf(made)}/accept`)
      },
    ],
    'DELETE /publishers/:publisherId/transfers/:transferId': [
      'owner',
      async (client) => await client.delete(`${own}/transfers/${await offer()}`),
    ],
    'POST /admin/nodes/:nodeId/transfer': [
      'admin',
      async (client) => {
        const body = { to: other.id, reason: 'squatted' }
        return await client.post(`/admin/nodes/${await owned.addNode()}/transfer`, body)
      },
    ],
    'PUT /admin/nodes/:nodeId': [
      'admin',
      async (client) =>
        await client.put(`/admin/nodes/${await owned.addNode()}`, { search_ranking: 7 }),
    ],
    'PUT /admin/nodes/:nodeId/versions/:version': [
      'admin',
      async (client) => {
        const { version } = await owned.addActive()
        const body = { status: 'NodeVersionStatusFlagged', status_reason: 'x' }
        return await client.put(`/admin${version}`, body)
      },
    ],
    'PUT /admin/nodes/:nodeId/host-nodes/:hostNodeName': [
      'admin',
      async (client) => {
        const path = `/admin/nodes/${await owned.addNode()}/host-nodes/Cut`
        return await client.put(path, { policy: 'HostNodePolicyBanned', reason: 'x' })
      },
    ],
    'POST /publishers/:publisherId/nodes/:nodeId/versions': ['owner', () => owned.publish()],
    'POST /nodes/:nodeId/versions/:version/host-nodes': [
      'owner',
      async (client) => {
        const { version } = await owned.addVersion()
        return await client.post(`${version}/host-nodes`, { success: true, nodes: { Cut: {} } })
      },
    ],
    'POST /publishers/:publisherId/nodes/:nodeId/versions/:versionId/confirm-host-nodes': [
      'owner',
      async (client) => {
        const { version, ownVersion } = await owned.addVersion()
        const nodes = { [unique('Cut')]: {} }
        await registry.anonymous.post(`${version}/host-nodes`, { success: true, nodes })
        return await client.call('POST', `${ownVersion}/confirm-host-nodes`)
      },
    ],
  }
}

const versionCalls = (owned: Owned): Record<string, AuditedCall> => ({
  'PUT /publishers/:publisherId/nodes/:nodeId/versions/:versionId': [
    'owner',
    async (client) =>
      await client.put((await owned.addVersion()).ownVersion, { changelog: 'New.' }),
  ],
  'DELETE /publishers/:publisherId/nodes/:nodeId/versions/:versionId': [
    'owner',
    async (client) => await client.delete((await owned.addVersion()).ownVersion),
  ],
  'POST /publishers/:publisherId/nodes/:nodeId/versions/:versionId/review': [
    'owner',
    async (client) =>
      await client.post(`${(await owned.addFlagged()).ownVersion}/review`, { note: 'A test.' }),
  ],
})

const reviewCalls = (owned: Owned, reader: Client): Record<string, AuditedCall> => {
  const add = async (): Promise<[nodeId: string, review: string]> => {
    const nodeId = await owned.addNode()
    const made = await reader.put(`/nodes/${nodeId}/reviews/mine`, { stars: 4, text: 'Fast.' })
    return [nodeId, idOf(made)]
  }
  return {
    'PUT /nodes/:nodeId/reviews/mine': [
      'reader',
      async (client) =>
        await client.put(`/nodes/${await owned.addNode()}/reviews/mine`, { stars: 5 }),
    ],
    'POST /nodes/:nodeId/reviews': [
      'reader',
      async (client) => await client.call('POST', `/nodes/${await owned.addNode()}/reviews?star=3`),
    ],
    'DELETE /nodes/:nodeId/reviews/mine': [
      'reader',
      async (client) => await client.delete(`/nodes/${(await add())[0]}/reviews/mine`),
    ],
    'PUT /publishers/:publisherId/nodes/:nodeId/reviews/:reviewId/reply': [
      'owner',
      async (client) => {
        const [nodeId, review] = await add()
        const path = `${owned.path}/nodes/${nodeId}/reviews/${review}/reply`
        return await client.put(path, { text: 'Thank you.' })
      },
    ],
    'PUT /admin/nodes/:nodeId/reviews/:reviewId': [
      'admin',
      async (client) => {
        const [nodeId, review] = await add()
        const body = { status: 'hidden', reason: 'an advertisement' }
        return await client.put(`/admin/nodes/${nodeId}/reviews/${review}`, body)
      },
    ],
  }
}

/** Calls of the endpoints of an owner, or of a publisher at a path. */
const endpointCalls = (
  owner: Client,
  { events, by = 'owner', ...scope }: { route: string; path: string; events: string[]; by?: Actor },
): Record<string, AuditedCall> => {
  const [route, path] = [`${scope.route}/endpoints`, `${scope.path}/endpoints`]
  const add = async () => `${path}/${idOf(await owner.post(path, { ...HOOK, events }))}`
  return {
    [`POST ${route}`]: [by, (client) => client.post(path, { ...HOOK, events })],
    [`PUT ${route}/:endpoint_id`]: [
      by,
      async (client) => await client.put(await add(), { url: `${HOOK.url}2`, status: 'disabled' }),
    ],
    [`DELETE ${route}/:endpoint_id`]: [by, async (client) => await client.delete(await add())],
    [`POST ${route}/:endpoint_id/webhook-secret/rotate`]: [
      by,
      async (client) => await client.post(`${await add()}/webhook-secret/rotate`, {}),
    ],
  }
}
