import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, responseOf } from '../api/client.ts'
import { fileQuery } from '../ui/findings.tsx'
import { readSaved, type Saved } from './read-file.ts'
import type { Check, Chosen, Resolution } from './types.ts'

const ONCE = { staleTime: Infinity, placeholderData: keepPreviousData } as const

interface OfExample {
  nodeId: string
  version: string
  path: string
}

/** A workflow in the archive of a version. */
export const exampleQuery = ({ nodeId, version, path }: OfExample) =>
  queryOptions({
    queryKey: ['workflows', nodeId, version, path],
    queryFn: async ({ client }): Promise<Saved> => {
      const { text } = await client.fetchQuery(fileQuery(nodeId, version, path))
      return await readSaved(new File([text], path.replace(/^.*\//, '')))
    },
    staleTime: Infinity,
  })

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
