import { randomUUID } from 'node:crypto'

/** Calls a service in the name of the token's user. Throws its response when it rejects. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

export const makeCall =
  (baseUrl: string, token: string): Call =>
  async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok)
      throw new Error(`${method} ${path} responded with ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }
