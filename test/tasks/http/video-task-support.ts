import { TEXT, VIDEO_API, expectStatus } from '../../support/client.ts'
import type { Client, HttpResponse, VideoTask } from '../../support/client.ts'

export const EXTEND = `${VIDEO_API}/extend`
export const TASKS = `${VIDEO_API}/tasks`

/** Makes a video task, by default of the default model for 100 credits. */
export const create = (client: Client, body: object = {}, path = TEXT): Promise<HttpResponse> =>
  client.create(path, body)

export const idOf = ({ body }: HttpResponse): string => String(body['task_id'])

export const createId = (client: Client, body?: object): Promise<string> => client.createVideo(body)

export const read = async (client: Client, id: string): Promise<VideoTask> =>
  (await client.get(`${TASKS}/${id}/creations`)).body as unknown as VideoTask

export interface Page {
  tasks: (VideoTask & { created_at: string; model: string; resolution: string })[]
  next_page_token: string
}

export const list = async (client: Client, query = ''): Promise<Page> =>
  expectStatus(await client.get(`${TASKS}?${query}`), 200).body as unknown as Page

export const idsOf = ({ tasks }: Page): string[] => tasks.map(({ id }) => id)
