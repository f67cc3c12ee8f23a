import assert from 'node:assert/strict'

import { VIDEO_API } from '../support/client.ts'
import type { HttpResponse, Client, VideoTask } from '../support/client.ts'

export const TEXT = `${VIDEO_API}/text2video`
export const EXTEND = `${VIDEO_API}/extend`
export const TASKS = `${VIDEO_API}/tasks`

/** Makes a video task, by default of the default model for 100 credits. */
export const create = (client: Client, body: object = {}, path = TEXT): Promise<HttpResponse> =>
  client.create(path, body)

export const idOf = ({ body }: HttpResponse): string => String(body['task_id'])

export const createId = async (client: Client, body?: object): Promise<string> =>
  idOf(await create(client, body))

export const read = async (client: Client, id: string): Promise<VideoTask> =>
  (await client.get(`${TASKS}/${id}/creations`)).body as unknown as VideoTask

export interface Page {
  tasks: (VideoTask & { created_at: string; model: string; resolution: string })[]
  next_page_token: string
}

export const list = async (client: Client, query = ''): Promise<Page> => {
  const { status, body } = await client.get(`${TASKS}?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as Page
}

export const idsOf = ({ tasks }: Page): string[] => tasks.map(({ id }) => id)
