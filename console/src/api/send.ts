import type { paths } from '../../../client/generated/openapi.ts'
import { api } from './client.ts'

type Method = 'POST' | 'PUT' | 'DELETE'

type Operation<Of extends Method, Path extends keyof paths> = NonNullable<
  paths[Path][Lowercase<Of>]
>

type Sent<Given> = (Given extends { parameters: { path: infer Path } } ? { path: Path } : unknown) &
  (Given extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { body: Body }
    : Given extends { requestBody?: { content: { 'application/json': infer Body } } }
      ? { body?: Body }
      : unknown) & { headers?: Record<string, string>; signal?: AbortSignal }

type Answered<Given> = Given extends { responses: infer Answers }
  ? {
      [Status in keyof Answers & (200 | 201 | 202)]: Answers[Status] extends {
        content: { 'application/json': infer Body }
      }
        ? Body
        : undefined
    }[keyof Answers & (200 | 201 | 202)]
  : never

type Call = (path: string, init: object) => Promise<{ data?: unknown }>

/** A write: `send('PUT', '/publishers/{publisherId}', { path: { publisherId }, body })`. */
export const send = async <Of extends Method, Path extends keyof paths>(
  method: Of,
  route: Path,
  { path, ...init }: { path?: object } & Sent<Operation<Of, Path>>,
): Promise<Answered<Operation<Of, Path>>> => {
  const { data } = await (api[method] as unknown as Call)(route, { params: { path }, ...init })
  return data as Answered<Operation<Of, Path>>
}
