import { IMAGE_API, makeClient, type Client } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import type { Service } from '../support/service.ts'

/** Settings by which what a killed worker had begun goes on soon, while none that is slow loses its attempt: 2 s. */
export const HEARTBEAT = { OVERRIDE_HEARTBEAT_SECONDS: String(Math.ceil(PATIENCE_MS / 30_000)) }

/** Settings by which a service soon finds that an engine by HTTP has lost a task. */
export const ENGINE_SOON = {
  ...HEARTBEAT,
  OVERRIDE_ENGINE_QUIET_SECONDS: '1',
  OVERRIDE_ENGINE_LATE_SECONDS: '1',
  OVERRIDE_COMFYUI_LOST_SECONDS: '5',
}

export const CREATE = `${IMAGE_API}/image-upscaler`

export const clientOf = async (service: Service, subject = 'alice'): Promise<Client> =>
  makeClient(service.baseUrl, await service.token(subject))

export const createTask = async (client: Client, body: object = {}): Promise<string> => {
  const response = await client.post(CREATE, { image: await base64(), ...body })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return response.body.data.task_id
}
