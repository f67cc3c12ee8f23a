import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { nextPage, read } from '../api/client.ts'
import { AddressField } from '../ui/fields.tsx'
import { Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi, Signed } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'

const route = getRouteApi('/moderation')

/** Changes by platform admins, the newest first. */
export const AuditLog = () => {
  const { q } = route.useSearch()
  const log = useInfiniteQuery({
    queryKey: ['audit-log', q],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) =>
      read('/admin/audit-log', { query: { page, pageSize: 50, ...(q && { target: q }) } }, signal),
    getNextPageParam: nextPage,
    select: ({ pages }) => pages.flatMap(({ entries }) => entries),
  })
  return (
    <Stack>
      <AddressField label="Target" placeholder="version/node@1.0.0, node/…, publisher/…, task/…" />
      <Listing
        label="Audit log"
        query={log}
        empty={`No admin has changed anything${q ? ' of that name' : ''}.`}
        columns={{
          What: ({ action, target }) => (
            <>
              {action} <Bdi>{target}</Bdi>
            </>
          ),
          'When and who': ({ at, actor }) => <Signed at={at} by={actor} />,
          Change: ({ reason, before, after }) => (
            <>
              {reason && <Bdi as="p">{reason}</Bdi>}
              <Bdi as="code">{describeChange(before ?? {}, after ?? {})}</Bdi>
            </>
          ),
        }}
      />
    </Stack>
  )
}

type Members = Readonly<Record<string, unknown>>

/** `status: live → banned`, a member each. */
const describeChange = (before: Members, after: Members): string =>
  Object.keys({ ...before, ...after })
    .map((name) => `${name}: ${wordOf(name, before[name])} → ${wordOf(name, after[name])}`)
    .join(', ')

const wordOf = (name: string, value: unknown): string =>
  name === 'status' && typeof value === 'string' ? wordsOf(value).word : JSON.stringify(value)
