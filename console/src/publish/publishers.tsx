import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { answerOf, api } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Link } from '../ui/link.tsx'
import { Table } from '../ui/list.tsx'
import { PageTitle, Row } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { PUBLISHERS_KEY, publishersQuery, roleIn } from './queries.ts'

/** The caller's publishers, with their role in each. */
export const PublishersPage = () => {
  const me = useMe()?.id
  const publishers = useQuery(publishersQuery)
  return (
    <>
      <PageTitle actions={<CreatePublisher />}>Publishers</PageTitle>
      <Show query={publishers}>
        {(list) =>
          list.length === 0 ? (
            <Empty>
              <p>A publisher owns nodes, and its members publish them. You belong to none yet.</p>
              <p>Create one, or give your id, which is on the Account page, to an owner.</p>
            </Empty>
          ) : (
            <Table label="My publishers" columns={['Publisher', 'My role', 'Status', 'Created']}>
              {list.map((publisher) => (
                <tr key={publisher.id}>
                  <td>
                    <Row>
                      <Tile src={logoOf(publisher.id)} name={publisher.name} size={32} />
                      <Link to="/publishers/$publisher" params={{ publisher: publisher.id }}>
                        <Bdi>{publisher.name}</Bdi>
                      </Link>
                      {publisher.name !== publisher.id && <code>{publisher.id}</code>}
                    </Row>
                  </td>
                  <td>
                    <Badge>{roleIn(publisher, me) ?? 'member'}</Badge>
                  </td>
                  <td>
                    <StateBadge state={publisher.status} />
                  </td>
                  <td>
                    <Time at={publisher.createdAt} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Show>
    </>
  )
}

export const logoOf = (publisherId: string): string =>
  `/publishers/${encodeURIComponent(publisherId)}/logo`

const CreatePublisher = () => {
  const navigate = useNavigate()
  return (
    <AskButton
      label="Create a publisher"
      look="primary"
      title="Create a publisher"
      action="Create publisher"
      fields={[
        {
          name: 'id',
          label: 'Id',
          help: 'Small letters, digits and hyphens. It stands in pyproject.toml as PublisherId and never changes.',
        },
        { name: 'name', label: 'Name', isOptional: true, help: 'Shown beside every node.' },
      ]}
      write={({ id = '', name = '' }, headers) =>
        answerOf(api.POST('/publishers', { body: { id, ...(name !== '' && { name }) }, headers }))
      }
      refresh={[PUBLISHERS_KEY]}
      onDone={({ id }) =>
        void navigate({ to: '/publishers/$publisher', params: { publisher: id } })
      }
    />
  )
}
