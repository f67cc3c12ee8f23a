import { waitFor } from './wait.ts'

export interface Answer {
  status: number
  headers: Headers
  // A test reads members of answers whose shape is what it asserts.
  body: Record<string, never> & { data: TaskRecord; error?: string; details?: string[] }
}

export interface TaskRecord {
  task_id: string
  status: string
  generated: string[]
  error?: { code: string; message: string }
}

export const IMAGE_API = '/proxy/imgvendor/v1/ai'

/** A caller that speaks HTTP only. */
export const makeClient = (baseUrl: string, token: string) => {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Answer['body'],
    }
  }

  /** Reads a task until it has ended. */
  const untilEnded = async (family: string, id: string, deadlineMs?: number): Promise<TaskRecord> =>
    await waitFor(
      `task ${id} has ended`,
      async () => {
        const { status, body } = await call('GET', `${IMAGE_API}/${family}/${id}`)
        if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(body)}`)
        return ['COMPLETED', 'FAILED'].includes(body.data.status) ? body.data : undefined
      },
      deadlineMs,
    )

  return {
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body: unknown, headers?: Record<string, string>) =>
      call('POST', path, body, headers),
    untilEnded,
  }
}

export type Client = ReturnType<typeof makeClient>
