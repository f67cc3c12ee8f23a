import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, responseOf } from '../api/client.ts'
import type { Saved } from './read-file.ts'
import type { Check, Chosen, Resolution } from './types.ts'

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
