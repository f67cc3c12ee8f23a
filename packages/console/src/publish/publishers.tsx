import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { readQuery, send } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, publisherPage } from '../ui/link.tsx'
import { PageTitle, Row } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, StateBadge, Tile, Time } from '../ui/values.tsx'
import { roleIn } from './queries.ts'

/** The caller's publishers, with their role in each. */
export const Page = () => {
  const me = useMe()?.id
  return (
    <>
      <PageTitle actions={<CreatePublisher />}>Publishers</PageTitle>
      <Listing
        label="My publishers"
        query={useQuery(readQuery('/users/publishers/', { query: { limit: 1000 } }))}
        empty={
          <>
            <p>A publisher owns nodes, and its members publish them. You belong to none yet.</p>
            <p>Create one, or give your id, which is on the Account page, to an owner.</p>
          </>
        }
        columns={{
          Publisher: ({ id, name }) => (
            <Row>
              <Tile src={logoOf(id)} name={name} size={32} />
              <Link {...publisherPage(id)}>{name}</Link>
              {name !== id && <code>{id}</code>}
            </Row>
          ),
          'My role': (publisher) => <Badge>{roleIn(publisher, me) ?? 'member'}</Badge>,
          Status: ({ status }) => <StateBadge state={status} />,
          Created: ({ createdAt }) => <Time at={createdAt} />,
        }}
      />
    </>
  )
}

export const logoOf = (publisherId: string): string =>
  `/publishers/${encodeURIComponent(publisherId)}/logo`

const ID_HELP =
  'Small letters, digits and hyphens. It stands in pyproject.toml as PublisherId and never changes.'

const CreatePublisher = () => {
  const navigate = useNavigate()
  return (
    <AskButton
      label="Create a publisher"
      variant="primary"
      action="Create publisher"
      fields={[
        { name: 'id', label: 'Id', help: ID_HELP },
        { name: 'name', label: 'Name', isOptional: true, help: 'Shown beside every node.' },
      ]}
      write={({ id = '', name }) =>
        send('POST', '/publishers', { body: { id, ...(name && { name }) } })
      }
      onDone={({ id }) => void navigate(publisherPage(id))}
    />
  )
}
