import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ComponentType } from 'react'

import { send } from '../api/send.ts'
import { AskButton } from '../ui/ask.tsx'
import { Copied } from '../ui/code.tsx'
import { LinkButton, StrangersLink } from '../ui/link.tsx'
import { PageTitle, Row, Stack } from '../ui/page.tsx'
import { Fact, Facts, Note, Show } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, StateBadge, Tile, Time } from '../ui/values.tsx'
import { Endpoints } from './endpoints.tsx'
import { Members } from './members.tsx'
import { Nodes } from './nodes.tsx'
import { logoOf } from './publishers.tsx'
import { mayAs, publisherQuery, useRole } from './queries.ts'
import type { OfPublisher, Role } from './queries.ts'
import { Tokens } from './tokens.tsx'
import { TrustedPublishers } from './trusted.tsx'

const route = getRouteApi('/publishers/$publisher')

/** One publisher: what it owns, who may do what, and how it publishes. */
export const PublisherPage = () => {
  const { publisher: id } = route.useParams()
  const publisher = useQuery(publisherQuery(id))
  const { name = id, status } = publisher.data ?? {}
  const role = useRole(id)
  const tabs = TABS.filter(({ lowest }) => mayAs(role, lowest)).map(({ Content, ...tab }) => ({
    ...tab,
    content: <Content id={id} role={role} />,
  }))
  return (
    <>
      <PageTitle
        extra={
          <Row>
            <Tile src={logoOf(id)} name={name} size={32} />
            {role && <Badge>{role}</Badge>}
          </Row>
        }
        actions={
          mayAs(role, 'member') && (
            <LinkButton
              look="primary"
              to="/publishers/$publisher/publish"
              params={{ publisher: id }}
            >
              Publish a node
            </LinkButton>
          )
        }
      >
        {name}
      </PageTitle>
      <Show query={publisher}>
        {() => (
          <Stack>
            {status === 'PublisherStatusBanned' && (
              <Note tone="bad">
                A platform admin has banned this publisher: nobody sees or installs its nodes. Ask
                them for the reason.
              </Note>
            )}
            <Tabs label="Publisher" tabs={tabs} />
          </Stack>
        )}
      </Show>
    </>
  )
}

const TEXTS = [
  ['name', 'Name'],
  ['description', 'Description'],
  ['website', 'Website'],
  ['support', 'Support'],
  ['source_code_repo', 'Source code'],
  ['logo', 'Logo'],
] as const

const About = ({ id: publisherId, role }: OfPublisher) => {
  const { data: publisher } = useQuery(publisherQuery(publisherId))
  if (!publisher) return null
  return (
    <Stack>
      <Facts>
        <Fact name="Id">
          <Copied text={publisher.id} label="publisher id" />
        </Fact>
        <Fact name="Status">
          <StateBadge state={publisher.status} />
        </Fact>
        <Fact name="Created">
          <Time at={publisher.createdAt} />
        </Fact>
        {TEXTS.map(([name, label]) => (
          <Fact key={name} name={label}>
            <StrangersLink address={publisher[name] ?? '–'} />
          </Fact>
        ))}
      </Facts>
      {mayAs(role, 'admin') && (
        <Row>
          <AskButton
            label="Edit"
            title={`Edit ${publisher.id}`}
            action="Save"
            fields={TEXTS.map(([name, label]) => ({
              name,
              label,
              value: publisher[name] ?? '',
              isOptional: name !== 'name',
              ...(name === 'description' && { rows: 3 }),
            }))}
            write={(body) =>
              send('PUT', '/publishers/{publisherId}', { path: { publisherId }, body })
            }
          />
        </Row>
      )}
    </Stack>
  )
}

interface PublisherTab {
  id: string
  title: string
  Content: ComponentType<OfPublisher>
  /** The lowest role that sees it; without one everybody does. */
  lowest?: Role
}

const TABS: readonly PublisherTab[] = [
  { id: 'nodes', title: 'Nodes', Content: Nodes },
  { id: 'members', title: 'Members', Content: Members, lowest: 'member' },
  { id: 'tokens', title: 'Tokens', Content: Tokens, lowest: 'admin' },
  { id: 'trusted', title: 'Trusted publishers', Content: TrustedPublishers, lowest: 'admin' },
  { id: 'endpoints', title: 'Endpoints', Content: Endpoints, lowest: 'member' },
  { id: 'settings', title: 'About', Content: About },
]
