import { IMAGE_API, makeClient } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import type { Service } from '../support/service.ts'

export const CREATE = `${IMAGE_API}/image-upscaler`

export const clientOf = async (service: Service, subject = 'alice'): Promise<Client> =>
  makeClient(service.baseUrl, await service.token(subject))

export const createTask = async (client: Client, body: object = {}): Promise<string> => {
  const answer = await client.post(CREATE, { image: await base64(), ...body })
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  return answer.body.data.task_id
}
