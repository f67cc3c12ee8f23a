import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'

import { answerOf, api } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Table } from '../ui/list.tsx'
import { Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'

const route = getRouteApi('/moderation')

/** What platform admins have changed, the newest first. */
export const AuditLog = () => {
  const { q } = route.useSearch()
  const navigate = useNavigate()
  const log = useInfiniteQuery({
    queryKey: ['audit-log', q],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/admin/audit-log', {
          params: { query: { page: pageParam, pageSize: 50, ...(q && { target: q }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
  })
  return (
    <Stack>
      <TextField
        label="Target"
        isSearch
        placeholder="version/node@1.0.0, node/…, publisher/…, task/…"
        value={q ?? ''}
        onChange={(text) =>
          void navigate({
            to: '/moderation',
            search: { tab: 'log', ...(text !== '' && { q: text }) },
            replace: true,
          })
        }
      />
      <Show query={log}>
        {({ pages }) =>
          pages[0]?.total === 0 ? (
            <Empty>No admin has changed anything{q && ' of that name'}.</Empty>
          ) : (
            <Table label="Audit log" columns={['What', 'When and who', 'Change']}>
              {pages
                .flatMap(({ entries }) => entries)
                .map((entry) => (
                  <tr key={entry.id}>
                    <td>
                      {entry.action} <Bdi>{entry.target}</Bdi>
                    </td>
                    <td>
                      <Time at={entry.at} /> by <Bdi>{entry.actor}</Bdi>
                    </td>
                    <td>
                      {entry.reason && (
                        <p>
                          <Bdi>{entry.reason}</Bdi>
                        </p>
                      )}
                      <code>
                        <Bdi>{describeChange(entry.before ?? {}, entry.after ?? {})}</Bdi>
                      </code>
                    </td>
                  </tr>
                ))}
            </Table>
          )
        }
      </Show>
      {log.hasNextPage && (
        <Button onPress={() => void log.fetchNextPage()} isPending={log.isFetchingNextPage}>
          Show older
        </Button>
      )}
    </Stack>
  )
}

/** `status: "a" → "b"`, a member each. */
const describeChange = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): string =>
  Object.keys({ ...before, ...after })
    .map((name) => `${name}: ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(', ')
