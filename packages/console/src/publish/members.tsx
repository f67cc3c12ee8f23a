import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import { readQuery, send } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { Actions } from '../ui/actions.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Select } from '../ui/fields.tsx'
import { ErrorPanel, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { ROLE_WORDS, mayAs, publisherQuery, type OfPublisher, type Role } from './queries.ts'

const MEMBERS = '/publishers/{publisherId}/members'
const MEMBER = `${MEMBERS}/{userId}` as const
const USER_HELP = t('It is on their Account page after their first sign-in.')

/** Members of a publisher. Owners change roles; everybody may leave. */
export const Members = ({ id, role }: OfPublisher) => {
  const queries = useQueryClient()
  const me = useMe()?.id
  const isOwner = mayAs(role, 'owner')
  const at = (userId: string) => ({ path: { publisherId: id, userId } })
  const change = useMutation({
    mutationFn: ({ userId, to }: { userId: string; to: Role }) =>
      send('PUT', MEMBER, { ...at(userId), body: { role: to } }),
    onSettled: () => queries.invalidateQueries(publisherQuery(id)),
  })
  const asked = change.isPending ? change.variables : undefined
  return (
    <Stack>
      {isOwner && (
        <AskButton
          label={t('Add member')}
          action={t('Add member')}
          fields={[
            { name: 'user', label: t('User ID'), help: USER_HELP },
            { name: 'role', label: t('Role'), options: ROLE_WORDS, value: 'member' },
          ]}
          write={({ user = '', role: given }) =>
            send('PUT', MEMBER, { ...at(user.trim()), body: { role: given as Role } })
          }
        />
      )}
      {change.error && <ErrorPanel error={change.error} />}
      <Listing
        label={t('Members')}
        query={useQuery(readQuery(MEMBERS, { path: { publisherId: id } }))}
        empty={t('No members')}
        columns={{
          [t('Member')]: ({ user: { id: userId, name, email } }) => (
            <>
              <Bdi>{name}</Bdi> <code>{name === userId ? '' : userId}</code> <Bdi>{email}</Bdi>{' '}
              {userId === me && <Badge>{t('you')}</Badge>}
            </>
          ),
          [t('Role')]: ({ role: theirs, user: { id: userId = '', name } }) =>
            isOwner ? (
              <Select
                label={t('Role of {name}', { name })}
                isLabelHidden
                options={ROLE_WORDS}
                value={asked?.userId === userId ? asked.to : theirs}
                onChange={(to) => to !== theirs && change.mutate({ userId, to })}
              />
            ) : (
              <Badge>{ROLE_WORDS[theirs]}</Badge>
            ),
          '': ({ user: { id: userId = '', name } }) =>
            (isOwner || userId === me) && (
              <Actions
                label={t('More for {name}', { name })}
                actions={[
                  {
                    label: userId === me ? t('Leave') : t('Remove'),
                    variant: 'danger',
                    title: userId === me ? t('Leave {id}?', { id }) : t('Remove {name}?', { name }),
                    action: userId === me ? t('Leave publisher') : t('Remove member'),
                    write: () => send('DELETE', MEMBER, at(userId)),
                    children: <p>{t('The tokens they created are revoked.')}</p>,
                  },
                ]}
              />
            ),
        }}
      />
    </Stack>
  )
}
