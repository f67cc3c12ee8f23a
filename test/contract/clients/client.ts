/** Uses the generated types as a caller would: it makes and reads each kind of task, publishes a version and reads it. */
import createClient from 'openapi-fetch'

import type { components, paths } from './kiln.js'

declare const process: { env: Record<string, string | undefined> }
declare const Buffer: { from(text: string, form: 'base64'): Uint8Array }

type Schemas = components['schemas']

const { KILN_URL = '', KILN_TOKEN = '', KILN_IMAGE = '', KILN_PACK = '' } = process.env
const kiln = createClient<paths>({
  baseUrl: KILN_URL,
  headers: { authorization: `Bearer ${KILN_TOKEN}` },
})

const must = <T>({ data, error }: { data?: T; error?: Schemas['Error'] }): T => {
  if (data === undefined) throw new Error(`${error?.error}: ${error?.message}`)
  return data
}

/** Returns the task of a creation that is no dry run. */
const made = <T extends object>(response: { data?: T; error?: Schemas['Error'] }) => {
  const task = must(response)
  if ('dry_run' in task) throw new Error('no task was made')
  return task as Exclude<T, Schemas['DryRun']>
}

const API = '/proxy/imgvendor/v1/ai'
const image = KILN_IMAGE
const WAIT = { Prefer: 'wait=20' }

const makeImageTasks = async (): Promise<void> => {
  const relit = await kiln.POST(`${API}/image-relight`, {
    body: { image, style: 'clean', advanced_settings: { whites: 60 } },
  })
  const tasks: Schemas['ImageTask'][] = [
    made(relit).data,
    made(await kiln.POST(`${API}/image-upscaler`, { body: { image, scale_factor: '2x' } })).data,
    made(await kiln.POST(`${API}/image-upscaler-precision-v2`, { body: { image } })).data,
    made(await kiln.POST(`${API}/skin-enhancer/flexible`, { body: { image } })).data,
    made(await kiln.POST(`${API}/skin-enhancer/creative`, { body: { image } })).data,
    made(await kiln.POST(`${API}/skin-enhancer/faithful`, { body: { image } })).data,
  ]
  const read = async (task_id: string, at: number): Promise<Schemas['ImageTask']> => {
    const params = { path: { task_id }, header: WAIT }
    if (at === 0) return must(await kiln.GET(`${API}/image-relight/{task_id}`, { params })).data
    if (at === 1) return must(await kiln.GET(`${API}/image-upscaler/{task_id}`, { params })).data
    if (at === 2)
      return must(await kiln.GET(`${API}/image-upscaler-precision-v2/{task_id}`, { params })).data
    return must(await kiln.GET(`${API}/skin-enhancer/{task_id}`, { params })).data
  }
  for (const [at, { task_id }] of tasks.entries()) {
    const ended = await until(
      () => read(task_id, at),
      ({ status }) => status === 'COMPLETED' || status === 'FAILED',
    )
    if (ended.status !== 'COMPLETED') throw new Error(ended.error?.message)
  }
}

const until = async <T>(read: () => Promise<T>, isOver: (value: T) => boolean): Promise<T> => {
  for (let attempts = 0; attempts < 600; attempts += 1) {
    const value = await read()
    if (isOver(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it does not end')
}

declare const setTimeout: (run: (value?: unknown) => void, ms: number) => unknown

const makeVideoTasks = async (): Promise<void> => {
  const VIDEO = '/proxy/vidvendor'
  const body = { duration: 4, resolution: '540p' as const, model: 'videoq3-pro' as const }
  const drawn = made(await kiln.POST(`${VIDEO}/text2video`, { body: { ...body, prompt: 'sea' } }))
  const others = [
    made(await kiln.POST(`${VIDEO}/img2video`, { body: { ...body, images: [image] } })),
    made(
      await kiln.POST(`${VIDEO}/start-end2video`, { body: { ...body, images: [image, image] } }),
    ),
  ]
  const end = async (task_id: string): Promise<Schemas['VideoCreation']> => {
    const path = `${VIDEO}/tasks/{task_id}/creations` as const
    const params = { path: { task_id }, header: WAIT }
    const task = await until(
      async (): Promise<Schemas['VideoTask']> => must(await kiln.GET(path, { params })),
      ({ state }) => state === 'success' || state === 'failed',
    )
    const [creation] = task.creations
    if (creation === undefined) throw new Error(`${task.err_code}: ${task.err_msg}`)
    return creation
  }
  const { id, url } = await end(drawn.task_id)
  for (const { task_id } of others) await end(task_id)
  const longer = made(
    await kiln.POST(`${VIDEO}/extend`, {
      body: { model: 'videoq2-turbo', duration: 1, video_creation_id: id, video_url: url },
    }),
  )
  await end(longer.task_id)
}

const publish = async (): Promise<void> => {
  const publisherId = 'typescript'
  must(await kiln.POST('/publishers', { body: { id: publisherId } }))
  const made = must(
    await kiln.POST('/publishers/{publisherId}/tokens', {
      params: { path: { publisherId } },
      body: { name: 'contract' },
    }),
  )
  const nodeId = 'typescript-node'
  const { signedUrl } = must(
    await kiln.POST('/publishers/{publisherId}/nodes/{nodeId}/versions', {
      params: { path: { publisherId, nodeId } },
      body: {
        node: { id: nodeId, tags: ['contract'] },
        node_version: { version: '1.0.0' },
        personal_access_token: made.token,
      },
    }),
  )
  const { pathname, searchParams } = new URL(signedUrl)
  const query = {
    expires: searchParams.get('expires') ?? '',
    max: searchParams.get('max') ?? '',
    signature: searchParams.get('signature') ?? '',
  }
  must(
    await kiln.PUT('/uploads/{id}', {
      params: { path: { id: pathname.split('/').pop() ?? '' }, query },
      body: KILN_PACK,
      bodySerializer: (text: string) => Buffer.from(text, 'base64'),
      headers: { 'content-type': 'application/octet-stream' },
    }),
  )
  const path = { nodeId, version: '1.0.0' }
  const version = await until(
    async (): Promise<Schemas['NodeVersion']> =>
      must(
        await kiln.GET('/nodes/{nodeId}/versions/{version}', { params: { path, header: WAIT } }),
      ),
    ({ status }) => status !== 'NodeVersionStatusPending',
  )
  if (version.status !== 'NodeVersionStatusActive') throw new Error(version.status_reason)
  const node = must(await kiln.GET('/nodes/{nodeId}', { params: { path } }))
  if (node.latest_version?.version !== '1.0.0') throw new Error('it has no latest version')
}

await makeImageTasks()
await makeVideoTasks()
await publish()
