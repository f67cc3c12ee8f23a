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

interface Asked {
  method: string
  path: string
}

/** Reads a response of fetch and checks it against the OpenAPI document. */
export const readResponse = async (
  response: Response,
  { method, path }: Asked,
): Promise<HttpResponse> => {
  const text = await response.text()
  const { status, headers } = response
  const body = (text === '' ? undefined : JSON.parse(text)) as HttpResponse['body']
  const check = await readContract()
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
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return await readResponse(response, { method, path })
  }

  const read = async (path: string): Promise<HttpResponse['body']> => {
    const { status, body } = await call('GET', path)
    if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(body)}`)
    return body
  }

  /** Reads a task until it has ended. */
  const untilEnded = async (family: string, id: string, deadlineMs?: number) => {
    const readEnd = async (): Promise<TaskRecord | undefined> => {
      const { data } = await read(`${IMAGE_API}/${family}/${id}`)
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
    /** A POST that must return 200. */
    async create(path: string, body: object): Promise<HttpResponse> {
      const response = await call('POST', path, body)
      assert.equal(response.status, 200, JSON.stringify(response.body))
      return response
    },
    untilEnded,
    untilVideoEnded,
  }
}

export type Client = ReturnType<typeof makeClient>
