import { useQuery, useQueryClient } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { useMe, useWrite } from '../api/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Badge } from '../ui/badge.tsx'
import { Select } from '../ui/fields.tsx'
import { Table } from '../ui/list.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { ErrorPanel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import type { OfPublisher } from './publisher.tsx'
import { mayAs, membersQuery, publisherKey, PUBLISHERS_KEY } from './queries.ts'

type Role = Schema<'MemberRole'>

const ROLES = [
  { value: 'member', label: 'member' },
  { value: 'admin', label: 'admin' },
  { value: 'owner', label: 'owner' },
] as const

const setRole = (publisherId: string, userId: string, role: Role) =>
  answerOf(
    api.PUT('/publishers/{publisherId}/members/{userId}', {
      params: { path: { publisherId, userId } },
      body: { role },
    }),
  )

/** Who belongs to a publisher. Owners change roles; everybody may leave. */
export const Members = ({ id, role }: OfPublisher) => {
  const members = useQuery(membersQuery(id))
  const queries = useQueryClient()
  const me = useMe()?.id
  const isOwner = mayAs(role, 'owner')
  const change = useWrite(
    ({ userId, to }: { userId: string; to: Role }) => setRole(id, userId, to),
    { onSettled: () => queries.invalidateQueries({ queryKey: publisherKey(id) }) },
  )
  return (
    <Stack>
      {isOwner && (
        <Row>
          <AskButton
            label="Add a member"
            title="Add a member"
            action="Add member"
            fields={[
              {
                name: 'user',
                label: 'User id',
                help: 'They find it on their Account page, once they have signed in here.',
              },
              { name: 'role', label: 'Role', options: ROLES, value: 'member' },
            ]}
            write={({ user = '', role: given }) => setRole(id, user.trim(), given as Role)}
            refresh={[publisherKey(id)]}
          />
        </Row>
      )}
      {change.error && <ErrorPanel error={change.error} />}
      <Show query={members}>
        {(list) => (
          <Table label="Members" columns={['Member', 'Role', '']}>
            {list.map(({ id: key, role: theirs, user: { id: userId = '', name, email } }) => (
              <tr key={key}>
                <td>
                  <Bdi>{name}</Bdi> <code>{name === userId ? '' : userId}</code>{' '}
                  {email !== undefined && <Bdi>{email}</Bdi>} {userId === me && <Badge>you</Badge>}
                </td>
                <td>
                  {isOwner ? (
                    <Select
                      label={`Role of ${name}`}
                      isLabelHidden
                      options={ROLES}
                      value={
                        change.variables?.input.userId === userId && change.isPending
                          ? change.variables.input.to
                          : theirs
                      }
                      onChange={(to) => to !== theirs && change.press({ userId, to })}
                    />
                  ) : (
                    <Badge>{theirs}</Badge>
                  )}
                </td>
                <td>
                  {(isOwner || userId === me) && (
                    <AskButton
                      label={userId === me ? 'Leave' : 'Remove'}
                      look="danger"
                      title={userId === me ? `Leave ${id}?` : `Remove ${name}?`}
                      action={userId === me ? 'Leave publisher' : 'Remove member'}
                      write={() =>
                        api.DELETE('/publishers/{publisherId}/members/{userId}', {
                          params: { path: { publisherId: id, userId } },
                        })
                      }
                      refresh={[publisherKey(id), PUBLISHERS_KEY]}
                    >
                      <p>The tokens that they have made end with it.</p>
                    </AskButton>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Show>
    </Stack>
  )
}
