import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Copied } from '../ui/code.tsx'
import { LinkButton, StrangersLink } from '../ui/link.tsx'
import { PageTitle, Row, Stack } from '../ui/page.tsx'
import { Fact, Facts, Note, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/values.tsx'
import { Endpoints } from './endpoints.tsx'
import { Members } from './members.tsx'
import { Nodes } from './nodes.tsx'
import { logoOf } from './publishers.tsx'
import { mayAs, publisherKey, publisherQuery, PUBLISHERS_KEY, useRole } from './queries.ts'
import { Tokens } from './tokens.tsx'
import { TrustedPublishers } from './trusted.tsx'

const route = getRouteApi('/publishers/$publisher')
type Role = Schema<'MemberRole'>

/** What a tab is given. */
export interface OfPublisher {
  id: string
  role: Role | undefined
}
type Of = OfPublisher

/** The tabs, and the lowest role that sees each. */
const TABS = [
  { id: 'nodes', title: 'Nodes', lowest: undefined, show: (of: Of) => <Nodes {...of} /> },
  { id: 'members', title: 'Members', lowest: 'member', show: (of: Of) => <Members {...of} /> },
  { id: 'tokens', title: 'Tokens', lowest: 'admin', show: (of: Of) => <Tokens {...of} /> },
  {
    id: 'trusted',
    title: 'Trusted publishers',
    lowest: 'admin',
    show: (of: Of) => <TrustedPublishers {...of} />,
  },
  {
    id: 'endpoints',
    title: 'Endpoints',
    lowest: 'member',
    show: (of: Of) => <Endpoints {...of} />,
  },
  { id: 'settings', title: 'About', lowest: undefined, show: (of: Of) => <Settings {...of} /> },
] as const

/** One publisher: what it owns, who may do what, and how it publishes. */
export const PublisherPage = () => {
  const { publisher: id } = route.useParams()
  const { tab } = route.useSearch()
  const navigate = useNavigate()
  const publisher = useQuery(publisherQuery(id))
  const role = useRole(id)
  const tabs = TABS.filter(({ lowest }) => lowest === undefined || mayAs(role, lowest)).map(
    ({ show, ...one }) => ({ ...one, content: () => show({ id, role }) }),
  )
  return (
    <>
      <PageTitle
        extra={
          <Row>
            <Tile src={logoOf(id)} name={publisher.data?.name ?? id} size={32} />
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
        {publisher.data?.name ?? id}
      </PageTitle>
      <Show query={publisher}>
        {({ status }) => (
          <Stack>
            {status === 'PublisherStatusBanned' && (
              <Note tone="bad">
                A platform admin has banned this publisher: nobody sees or installs its nodes. Ask
                them for the reason.
              </Note>
            )}
            <Tabs
              label="Publisher"
              tabs={tabs}
              selected={tabs.find((one) => one.id === tab)?.id ?? 'nodes'}
              onSelect={(next) =>
                void navigate({
                  to: '.',
                  search: next === 'nodes' ? {} : { tab: next },
                  replace: true,
                })
              }
            />
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

const Settings = ({ id, role }: OfPublisher) => {
  const { data: publisher } = useQuery(publisherQuery(id))
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
              answerOf(
                api.PUT('/publishers/{publisherId}', {
                  params: { path: { publisherId: publisher.id } },
                  body,
                }),
              )
            }
            refresh={[publisherKey(publisher.id), PUBLISHERS_KEY]}
          />
        </Row>
      )}
    </Stack>
  )
}
