import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { read, readQuery, send } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, publisherPage } from '../ui/link.tsx'
import { PageTitle, Row } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, StateBadge, Tile, Time } from '../ui/values.tsx'
import { logoOf } from '../registry/queries.ts'
import { t } from '../words/translate.ts'
import { ROLE_WORDS, roleIn } from './queries.ts'

/** The caller's publishers, with their role in each. */
export const Page = () => {
  const me = useMe()?.id
  const query = useQuery(readQuery('/users/publishers/', { query: { limit: 1000 } }))
  return (
    <>
      <PageTitle actions={query.data?.[0] && <CreatePublisher />}>{t('Publishers')}</PageTitle>
      <Listing
        label={t('My publishers')}
        query={query}
        empty={
          <>
            <p>
              {t(
                'To publish a pack you need a publisher: it owns packs, and its members publish them. Reserve its ID first; the ID of the pack comes next.',
              )}
            </p>
            <CreatePublisher />
          </>
        }
        columns={{
          [t('Publisher')]: ({ id, name, logo }) => (
            <Row>
              <Tile src={logoOf({ id, logo })} name={name} size={32} />
              <Link {...publisherPage(id)}>{name}</Link>
              {name !== id && <code>{id}</code>}
            </Row>
          ),
          [t('Role')]: (publisher) => (
            <Badge>{ROLE_WORDS[roleIn(publisher, me) ?? 'member']}</Badge>
          ),
          [t('Status')]: ({ status }) => <StateBadge state={status} />,
          [t('Created')]: ({ createdAt }) => <Time at={createdAt} />,
        }}
      />
    </>
  )
}

const ID_HELP = t(
  'Lowercase letters, digits and hyphens. Used as PublisherId in pyproject.toml; can’t be changed.',
)

const CreatePublisher = () => {
  const navigate = useNavigate()
  return (
    <AskButton
      label={t('Create a publisher')}
      variant="primary"
      action={t('Create publisher')}
      fields={[
        {
          name: 'id',
          label: t('ID'),
          help: ID_HELP,
          check: (username, signal) =>
            read('/publishers/validate', { query: { username } }, signal),
        },
        { name: 'name', label: t('Name'), isOptional: true, help: t('Shown on every pack.') },
      ]}
      write={({ id = '', name }) =>
        send('POST', '/publishers', { body: { id, ...(name && { name }) } })
      }
      onDone={({ id }) => void navigate(publisherPage(id))}
    />
  )
}
