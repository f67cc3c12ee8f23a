import { expectStatus, listOf, UPSCALE } from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { waitFor } from '../../support/wait.ts'

export interface Bulk {
  state: string
  total: number
  counts: Record<string, number>
  error?: { code: string; message: string }
}

const ENDS: readonly string[] = ['done', 'cancelled', 'failed']

export const readBulk = async (client: Client, path: string): Promise<Bulk> =>
  expectStatus(await client.get(path), 200).body as unknown as Bulk

/** Waits until a batch or an operation has ended. */
export const untilBulkEnded = (client: Client, path: string): Promise<Bulk> =>
  waitFor(`the end of ${path}`, async () => {
    const bulk = await readBulk(client, path)
    return ENDS.includes(bulk.state) && bulk
  })

export interface Line {
  index: number
  state: string
  custom_id?: string
  task_id?: string
  replayed?: boolean
  ignored_fields?: string[]
  new_task_id?: string
  redeliveries?: number
  links?: string[]
  path?: string
  error?: { code: string; message: string }
}

/** Reads the lines of the results of a batch or an operation. */
export const linesOf = async (client: Client, path: string): Promise<Line[]> =>
  listOf<Line>(expectStatus(await client.get(`${path}/results`), 200))

/** Makes a batch; returns its path. */
export const postBatch = async (client: Client, body: object): Promise<string> => {
  const response = expectStatus(await client.post('/batches', body), 202)
  return `/batches/${response.body['batch_id']}`
}

/** Body of an operation on all tasks, or on those that a filter finds. */
export const operationOf = (action: string, filter: object = {}): object => ({
  action,
  filter,
  ...(Object.keys(filter).length === 0 && { all: true }),
})

/** Makes an operation; returns its path. */
export const postOperation = async (
  client: Client,
  action: string,
  filter?: object,
): Promise<string> => {
  const response = expectStatus(await client.post('/operations', operationOf(action, filter)), 202)
  return `/operations/${response.body['operation_id']}`
}

/** A good request. Its image is fetched only where a media worker renders. */
export const makeRequest = (prompt: string, image = 'https://images.example.com/a.png') => ({
  path: UPSCALE,
  body: { image, prompt },
})
