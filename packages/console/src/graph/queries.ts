import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, responseOf } from '../api/client.ts'
import type { Data } from '../api/schema.ts'
import type { Saved } from './read-file.ts'

export type Resolution = Data<'/workflows/resolve', 'post'>
export type Check = Data<'/workflows/check', 'post'>
export type Change = Check['changes'][number]

/** Versions by the id of the pack, where others are wanted than those that the service takes. */
export type Versions = Readonly<Record<string, string>>
export interface Chosen {
  from: Versions
  to: Versions
}

const ONCE = { staleTime: Infinity, placeholderData: keepPreviousData } as const

export const resolveQuery = ({ key, workflow }: Saved, { to: installed }: Chosen) =>
  queryOptions({
    queryKey: ['workflows', key, 'resolve', installed],
    queryFn: ({ signal }): Promise<Resolution> =>
      responseOf(api.POST('/workflows/resolve', { body: { workflow, installed }, signal })),
    ...ONCE,
  })

export const checkQuery = ({ key, workflow }: Saved, chosen: Chosen) =>
  queryOptions({
    queryKey: ['workflows', key, 'check', chosen],
    queryFn: ({ signal }): Promise<Check> =>
      responseOf(api.POST('/workflows/check', { body: { workflow, ...chosen }, signal })),
    ...ONCE,
  })
