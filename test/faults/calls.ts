import { request } from 'node:http'
import type { ClientRequest } from 'node:http'

import { IMAGE_API, makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

export const CREATE = `${IMAGE_API}/image-upscaler`

export const clientOf = async (service: Service, subject = 'alice'): Promise<Client> =>
  makeClient(service.baseUrl, await service.token(subject))

/** One creation of a small task; undefined when the connection broke before an answer. */
export const tryCreate = async (
  client: Client,
  key: string,
  shade = 0,
): Promise<Answer | undefined> =>
  await client
    .post(CREATE, { image: await base64({ shade }) }, { 'idempotency-key': key })
    .catch(() => undefined)

/**
 * Repeats a creation with its key until it is answered with a task, as a caller does, and returns the task's id. The
 * claim of a process that died is ended instead of waited for.
 */
export const createUntilAnswered = async (
  service: Service,
  { client, key, shade = 0 }: { client: Client; key: string; shade?: number },
): Promise<string> =>
  await waitFor(`the creation ${key} is answered`, async () => {
    const answer = await tryCreate(client, key, shade)
    if (answer?.status === 409) await endClaims(service)
    if (answer && ![200, 409, 503].includes(answer.status))
      throw new Error(`status ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer?.status === 200 && answer.body.data.task_id
  })

export const createTask = async (client: Client, body: object = {}): Promise<string> => {
  const answer = await client.post(CREATE, { image: await base64(), ...body })
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  return answer.body.data.task_id
}

/** Lets the leases of all claims end now instead of in 30 seconds. */
const endClaims = async ({ database: { sql } }: Service): Promise<void> => {
  await sql`update idempotency set lease_until = clock_timestamp() where status is null`
}

/** Sends the first bytes of a body and leaves the rest out. */
export const sendPart = (
  url: string,
  { method, headers, part }: { method: string; headers: Record<string, string>; part: Buffer },
): ClientRequest => {
  const sending = request(url, { method, headers })
  // The other side is killed while we send.
  sending.on('error', () => {})
  sending.write(part)
  return sending
}
