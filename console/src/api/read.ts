import { queryOptions } from '@tanstack/react-query'
import type { QueryKey } from '@tanstack/react-query'

import type { paths } from '../../../client/generated/openapi.ts'
import { answerOf, api } from './client.ts'
import type { Answer } from './client.ts'

type Params<Path extends keyof paths> = paths[Path] extends { get: { parameters: infer Given } }
  ? Omit<Given, 'header' | 'cookie'>
  : never

type Read = (path: string, init: object) => Promise<{ data?: unknown; response: Response }>

/** A GET: `read('/nodes/{nodeId}', { path: { nodeId } }, signal)`. */
export const read = <Path extends keyof paths>(
  path: Path,
  params: Params<Path>,
  signal?: AbortSignal,
): Promise<Answer<Path>> =>
  answerOf((api.GET as unknown as Read)(path, { params, signal })) as Promise<Answer<Path>>

/** A query of a GET: `readQuery(['node', id], '/nodes/{nodeId}', { path: { nodeId: id } })`. */
export const readQuery = <Path extends keyof paths>(
  queryKey: QueryKey,
  path: Path,
  params: Params<Path>,
) => queryOptions({ queryKey, queryFn: ({ signal }) => read(path, params, signal) })

/** The next one of pages that are numbered. */
export const nextPage = ({ page, totalPages }: { page: number; totalPages: number }) =>
  page < totalPages ? page + 1 : undefined
