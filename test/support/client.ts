import assert from 'node:assert/strict'

import { readContract } from './contract.ts'
import { PATIENCE_MS } from './patience.ts'
import { waitFor } from './wait.ts'

export interface HttpResponse {
  status: number
  headers: Headers
  // A test reads members of responses whose shape is what it asserts.
  body: Record<string, never> & {
    data: TaskRecord
    error?: string
    message?: string
    details?: string[]
    error_type?: string
    request_id?: string
  }
}

export interface TaskRecord {
  task_id: string
  status: string
  generated: string[]
  warnings?: string[]
  error?: { code: string; message: string }
}

/** A video task as its status route returns it. */
export interface VideoTask {
  id: string
  state: string
  err_code: string
  err_msg: string
  credits: number
  progress: number
  payload?: string
  bgm: boolean
  off_peak: boolean
  creations: {
    id: string
    url: string
    cover_url: string
    watermarked_url: string
    moderation_url: string[]
    video: { duration: number; fps: number; resolution: { width: number; height: number } }
  }[]
}

export const IMAGE_API = '/proxy/imgvendor/v1/ai'
export const VIDEO_API = '/proxy/vidvendor'
export const UPSCALE = `${IMAGE_API}/image-upscaler`
export const TEXT = `${VIDEO_API}/text2video`

/** A picture that is not fetched where nothing renders. */
export const IMAGE_URL = 'https://images.example.com/a.png'

interface Asked {
  method: string
  path: string
}

/** Returns a response that has this status and this error, or none: that of a task which failed is an object. */
export const expectStatus = <Response extends { status: number; body?: { error?: unknown } }>(
  response: Response,
  status: number,
  error?: string,
): Response => {
  const code = response.body?.error
  const seen = [response.status, typeof code === 'string' ? code : undefined]
  assert.deepEqual(seen, [status, error], JSON.stringify(response.body))
  return response
}

/** Returns the members of a response that is a list, or of the list in one of its members. */
export const listOf = <Item = Record<string, unknown>>(
  { body }: HttpResponse,
  member?: string,
): Item[] => (member === undefined ? body : body[member]) as unknown as Item[]

export const memberOf = (
  { body }: { body: object },
  name: string,
): Record<string, unknown> & { id?: string } => {
  const member = (body as Record<string, unknown>)[name]
  assert.ok(typeof member === 'object' && member !== null, name)
  return member as Record<string, unknown>
}

/** Lists the ids, or another member, of a list's entries. */
export const pluck = <Value = string>(list: readonly object[], name = 'id'): Value[] =>
  list.map((entry) => (entry as Record<string, Value>)[name] as Value)

/** Lists members of each entry, in the order of their names. */
export const columnsOf = <Entry extends object>(
  list: readonly Entry[],
  ...names: (keyof Entry & string)[]
): unknown[][] => list.map((entry) => names.map((name) => entry[name]))

/** Asserts that an object has these members, whatever else it has. */
export const assertMembers = (object: object | undefined, members: object): void => {
  const seen = Object.keys(members).map((name) => [
    name,
    (object as Record<string, unknown> | undefined)?.[name],
  ])
  assert.deepEqual(Object.fromEntries(seen), members)
}

export const statusesOf = (responses: readonly { status: number }[]): number[] =>
  responses.map(({ status }) => status)

/** Does the same so many times at once. */
export const atOnce = <Result>(
  times: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> => Promise.all(Array.from({ length: times }, (_, index) => work(index)))

/** Reads a response of fetch, of lines of JSON all of them, and checks it against the OpenAPI document. */
export const readResponse = async (
  response: Response,
  { method, path }: Asked,
): Promise<HttpResponse> => {
  const text = await response.text()
  const { status, headers } = response
  const check = await readContract()
  if (headers.get('content-type') === 'application/jsonl') {
    const lines = text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (JSON.parse(line) as object)))
    for (const body of lines) check({ method, path, status, body })
    return { status, headers, body: lines as unknown as HttpResponse['body'] }
  }
  const body = (text === '' ? undefined : JSON.parse(text)) as HttpResponse['body']
  check({ method, path, status, body })
  return { status, headers, body }
}

/**
 * A caller that speaks HTTP only. Each response must be documented: one whose status, code or body is not in the
 * OpenAPI document fails the test. Without a token it sends no credential. Address and token may be known later than
 * the client is made.
 */
export const makeClient = (
  baseUrl: string | (() => string),
  token?: string | (() => Promise<string>),
) => {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> => {
    const bearer = typeof token === 'function' ? await token() : token
    const response = await fetch((typeof baseUrl === 'string' ? baseUrl : baseUrl()) + path, {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return await readResponse(response, { method, path })
  }

  /** A POST that must return 200. */
  const create = async (path: string, body: object): Promise<HttpResponse> =>
    expectStatus(await call('POST', path, body), 200)

  const read = async (path: string): Promise<HttpResponse['body']> =>
    expectStatus(await call('GET', path), 200).body

  /** Reads a task of a path until it has ended. */
  const untilEndedAt = async (path: string, id: string, deadlineMs?: number) => {
    const readEnd = async (): Promise<TaskRecord | undefined> => {
      const { data } = await read(`${path}/${id}`)
      return ['COMPLETED', 'FAILED'].includes(data.status) ? data : undefined
    }
    return await waitFor(`task ${id} has ended`, readEnd, deadlineMs)
  }

  /** Reads a video task until it has ended. */
  const untilVideoEnded = async (id: string, deadlineMs?: number) => {
    const readEnd = async (): Promise<VideoTask | undefined> => {
      const task = (await read(`${VIDEO_API}/tasks/${id}/creations`)) as unknown as VideoTask
      return ['success', 'failed'].includes(task.state) ? task : undefined
    }
    return await waitFor(`video task ${id} has ended`, readEnd, deadlineMs)
  }

  return {
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body: unknown, headers?: Record<string, string>) =>
      call('POST', path, body, headers),
    put: (path: string, body: unknown, headers?: Record<string, string>) =>
      call('PUT', path, body, headers),
    delete: (path: string) => call('DELETE', path),
    create,
    /** Creates an image task, an upscale unless said; returns its id. */
    createImage: async (body: object = {}, path = UPSCALE): Promise<string> =>
      (await create(path, { image: IMAGE_URL, ...body })).body.data.task_id,
    /** Creates a video task; returns its id. */
    createVideo: async (body: object = {}, path = TEXT): Promise<string> =>
      String((await create(path, body)).body['task_id']),
    untilEndedAt,
    untilEnded: (family: string, id: string, deadlineMs?: number) =>
      untilEndedAt(`${IMAGE_API}/${family}`, id, deadlineMs),
    untilVideoEnded,
  }
}

export type Client = ReturnType<typeof makeClient>
