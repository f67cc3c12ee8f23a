import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, type ComponentType } from 'react'

import { send, sendFile, type Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { banOf } from '../moderation/bans.tsx'
import { BannedPublishers } from '../moderation/related.tsx'
import { logoOf } from '../registry/queries.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import { Actions } from '../ui/actions.tsx'
import { changesIn, filledWith } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Copied } from '../ui/code.tsx'
import { LinkButton, publishPage, StrangersLink } from '../ui/link.tsx'
import { Facts, Loading, Note, PageTitle, Row, Show, Stack } from '../ui/panels.tsx'
import type { PictureSpec } from '../ui/picture-field.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, StateBadge, Tile, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { PublisherEndpoints } from './endpoints.tsx'
import { Members } from './members.tsx'
import { Nodes } from './nodes.tsx'
import {
  mayAs,
  publisherQuery,
  type OfPublisher,
  type Role,
  ROLE_WORDS,
  useOffers,
  useRole,
} from './queries.ts'
import { Tokens } from './tokens.tsx'

const route = getRouteApi('/publishers/$publisher')

/** One publisher: what it owns, who may do what, and how it publishes. */
export const Page = () => {
  const { publisher: id } = route.useParams()
  const publisher = useQuery(publisherQuery(id))
  const { name = id, status } = publisher.data ?? {}
  const role = useRole(id)
  const isAdmin = useMe()?.isAdmin === true
  const offers = useOffers({ id, role })
  const seen = Object.entries(TABS).filter(([, [, , lowest]]) => mayAs(role, lowest))
  const tabs = Object.fromEntries(
    seen.map(([tab, [title, Content]]) => {
      return [
        tab,
        [
          tab === 'transfers' && offers > 0 ? `${title} (${offers})` : title,
          <Content key={tab} id={id} role={role} />,
          ...(ABOUT[tab] ?? []),
        ] as const,
      ]
    }),
  )
  const badge = (
    <Row>
      <Tile src={publisher.data && logoOf(publisher.data)} name={name} size={32} />
      {name !== id && <Bdi className="soft">{id}</Bdi>}
      {role && <Badge>{ROLE_WORDS[role]}</Badge>}
    </Row>
  )
  const actions = (
    <>
      {mayAs(role, 'member') && (
        <LinkButton variant="primary" {...publishPage(id)}>
          {t('Publish a pack')}
        </LinkButton>
      )}
      {isAdmin && status === 'PublisherStatusActive' && (
        <Actions label={t('More for {id}', { id })} actions={[banOf('publisher', id)]} />
      )}
    </>
  )
  return (
    <>
      <PageTitle extra={badge} actions={actions}>
        {name}
      </PageTitle>
      <Show query={publisher}>
        {(data) => (
          <Stack>
            {status === 'PublisherStatusBanned' && (
              <Note tone="bad">
                {t(
                  'A platform admin has banned this publisher. Its packs can’t be seen or installed.',
                )}
              </Note>
            )}
            {isAdmin && !role && (
              <Note>
                {t(
                  'You see this page as a visitor does. Only members see members, tokens and webhook subscriptions.',
                )}
              </Note>
            )}
            <BannedPublishers id={id} />
            <Intro publisher={data} />
            <Suspense fallback={<Loading />}>
              <Tabs label={t('Publisher')} tabs={tabs} side />
            </Suspense>
          </Stack>
        )}
      </Show>
    </>
  )
}

type Publisher = Schema<'Publisher'>

/** Description and links of the publisher, for everybody. */
const Intro = ({ publisher }: { publisher: Publisher }) => {
  const { description, website, support, source_code_repo: source } = publisher
  if (!description && !website && !support && !source) return null
  return (
    <>
      {description && <Bdi as="p">{description}</Bdi>}
      <Row>
        {website && <StrangersLink address={website}>{t('Website')}</StrangersLink>}
        {support && <StrangersLink address={support}>{t('Support')}</StrangersLink>}
        {source && <StrangersLink address={source}>{t('Source code')}</StrangersLink>}
      </Row>
    </>
  )
}

const TEXTS = [
  { name: 'name', label: t('Name') },
  { name: 'description', label: t('Description'), rows: 3, isOptional: true },
  { name: 'website', label: t('Website'), isOptional: true },
  { name: 'support', label: t('Support'), isOptional: true },
  { name: 'source_code_repo', label: t('Source code'), isOptional: true },
  { name: 'logo', label: t('Logo'), isOptional: true },
] as const

const About = ({ id: publisherId, role }: OfPublisher) => {
  const { data: publisher } = useQuery(publisherQuery(publisherId))
  if (!publisher) return null
  const logo: PictureSpec = {
    src: logoOf(publisher),
    send: async (file) =>
      (await sendFile('/publishers/{publisherId}/logo', { publisherId }, file)).logo,
  }
  const fields = filledWith(
    publisher,
    TEXTS.map((field) => (field.name === 'logo' ? { ...field, picture: logo } : field)),
  )
  return (
    <Stack>
      <Facts
        of={{
          [t('ID')]: <Copied text={publisher.id} label={t('publisher ID')} />,
          [t('Status')]: <StateBadge state={publisher.status} />,
          [t('Created')]: <Time at={publisher.createdAt} />,
          ...Object.fromEntries(
            TEXTS.map(({ name, label }) => [
              label,
              <StrangersLink key={name} address={publisher[name] ?? '–'} />,
            ]),
          ),
        }}
      />
      {mayAs(role, 'admin') && (
        <AskButton
          label={t('Edit')}
          title={t('Edit {id}', { id: publisher.id })}
          action={t('Save')}
          fields={fields}
          write={(values) =>
            send('PUT', '/publishers/{publisherId}', {
              path: { publisherId },
              body: changesIn(fields, values),
            })
          }
        />
      )}
    </Stack>
  )
}

// Few are set up, or have an offer.
const TrustedPublishers = lazyPart(async () => (await import('./trusted.tsx')).TrustedPublishers)
const Transfers = lazyPart(async () => (await import('./transfers.tsx')).Transfers)

type PublisherTab = readonly [title: string, Content: ComponentType<OfPublisher>, lowest?: Role]

/** With the lowest role that sees it; without one everybody does. */
const TABS: Readonly<Record<string, PublisherTab>> = {
  nodes: [t('Packs'), Nodes],
  members: [t('Members'), Members, 'member'],
  tokens: [t('Tokens'), Tokens, 'admin'],
  trusted: [t('Trusted publishers'), TrustedPublishers, 'admin'],
  endpoints: [t('Webhooks'), PublisherEndpoints, 'member'],
  transfers: [t('Transfers'), Transfers, 'member'],
  settings: [t('About'), About],
}

/** Purpose of each tab of settings, and its guide. */
const ABOUT: Readonly<Record<string, readonly [about: string, guide: string]>> = {
  members: [t('Members publish and edit packs; admins and owners may do more.'), 'registry#roles'],
  tokens: [t('For a command line or CI; publishing in the browser needs none.'), 'publishing'],
  trusted: [
    t('CI jobs that publish without a stored token.'),
    'publishing#from-ci-without-a-secret',
  ],
  endpoints: [t('Events of the publisher and its packs, sent to a URL.'), 'webhooks#endpoints'],
}
