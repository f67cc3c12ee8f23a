import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send } from '../api/client.ts'
import { serviceQuery, useMe } from '../api/queries.ts'
import type { Schema } from '../api/schema.ts'
import { signOut } from '../api/session.ts'
import { changeSettings, useSettings } from '../shell/settings.ts'
import { Endpoints } from '../publish/endpoints.tsx'
import { OWN } from '../publish/subscriber.ts'
import { Actions, revocation } from '../ui/actions.tsx'
import { linesOf } from '../ui/ask-field.tsx'
import { AskButton, SecretButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Copied } from '../ui/code.tsx'
import { Segments, Switch } from '../ui/fields.tsx'
import { Facts, PageTitle, Panel, Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, KeyEnd, Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { Events } from './events.tsx'
import { Usage } from './usage.tsx'

export const Page = () => (
  <>
    <PageTitle actions={<Button onPress={() => void signOut()}>Sign out</Button>}>
      Account
    </PageTitle>
    <Tabs label="Account" tabs={TABS} side />
  </>
)

const You = () => {
  const me = useMe()
  const { data: service } = useQuery(serviceQuery)
  if (me === undefined) return null
  const isBuiltin = service?.issuer === `${location.origin}/auth`
  return (
    <Panel title="You" actions={me.isAdmin && <Badge tone="info">platform admin</Badge>}>
      <Facts
        of={{
          Name: <Bdi>{me.name}</Bdi>,
          ID: <Copied text={me.id} label="ID" />,
          Email: me.email && <Bdi>{me.email}</Bdi>,
        }}
      />
      {isBuiltin && <a href="/auth/account">Password, passkeys and sessions</a>}
    </Panel>
  )
}

const THEMES = { system: t('System'), light: t('Light'), dark: t('Dark') }

const ThisBrowser = () => {
  const { theme, shortcuts } = useSettings()
  return (
    <Panel title="This browser">
      <Segments
        label="Theme"
        options={THEMES}
        value={theme}
        onChange={(next) => changeSettings({ theme: next })}
      />
      <LanguageChoice />
      <Switch
        label="Single-key shortcuts (press ? for the list)"
        isSelected={shortcuts}
        onChange={(isOn) => changeSettings({ shortcuts: isOn })}
      />
    </Panel>
  )
}

/** The field of the end of a key, which must be given where the life of keys is limited. */
const endField = (days: number | undefined) => ({
  name: 'expires_at',
  label: 'Expires',
  help:
    days === undefined
      ? 'Optional, YYYY-MM-DD. Leave empty for no expiry.'
      : `YYYY-MM-DD, at most ${counted(days, 'day')} from now.`,
  isOptional: days === undefined,
})

const ApiKeys = () => (
  <>
    <SecretButton
      label="Create API key"
      action="Create key"
      fields={[
        { name: 'name', label: 'Name', help: 'What it is for, for example “nightly renders”.' },
        endField(useQuery(serviceQuery).data?.limits.key_days),
        {
          name: 'scopes',
          label: 'Scopes',
          many: { 'Nothing chosen means everything.': SCOPES },
          isOptional: true,
        },
        { name: 'credit_cap', label: 'Most credits', isNumber: true, isOptional: true },
      ]}
      write={({ name = '', expires_at: end, scopes, credit_cap: cap }) => {
        const chosen = linesOf(scopes) as Scope[]
        const body = {
          name: name.trim(),
          ...(end && { expires_at: toTime(end) }),
          ...(chosen.length > 0 && { scopes: chosen }),
          ...(cap && { credit_cap: Number(cap) }),
        }
        return send('POST', '/users/api-keys', { body })
      }}
      secretTitle="Your API key"
      secretOf={({ key }) => key}
    />
    <Listing
      label="API keys"
      query={useQuery(readQuery('/users/api-keys', {}))}
      empty="No API keys. Create one to call the API from code."
      columns={{
        Name: ({ name }) => <Bdi>{name}</Bdi>,
        Key: ({ key }) => <code>{key}</code>,
        Scopes: ({ scopes }) => scopes?.join(', ') ?? 'all',
        Credits: ({ credit_cap: cap, credits_used: used = 0 }) =>
          cap !== undefined &&
          t('{used} of {total}', { used: showNumber(used), total: showNumber(cap) }),
        Created: ({ createdAt }) => <Time at={createdAt} />,
        'Last used': ({ last_used_at: used }) => <Time at={used} none="Never" />,
        Expires: ({ expires_at: end }) => <KeyEnd at={end} />,
        '': ({ id, name }) => (
          <Actions
            label={`More for ${name}`}
            actions={[
              revocation({
                name,
                credential: 'key',
                write: () => send('DELETE', '/users/api-keys/{id}', { path: { id } }),
              }),
            ]}
          />
        ),
      }}
    />
  </>
)

type Scope = Schema<'ApiKeyScope'>
const SCOPES = [
  ['images', 'Image tasks'],
  ['videos', 'Video tasks'],
  ['read', 'Read everything'],
  ['publish', 'Publish packs'],
  ['webhooks', 'Webhook secret and endpoints'],
] as const satisfies readonly (readonly [Scope, string])[]

/** A day is its end where the person is; anything else goes to the service, which says what it expects. */
const toTime = (text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? new Date(`${text.trim()}T23:59:59`).toISOString() : text

const OVERLAP = {
  name: 'overlap_seconds',
  label: 'Overlap in seconds',
  value: '86400',
}

const WebhookSecret = () => {
  const [isShown, setShown] = useState(false)
  return (
    <Panel
      title="Webhook secret"
      actions={
        <>
          {!isShown && <Button onPress={() => setShown(true)}>Show secret</Button>}
          <AskButton
            label="Rotate secret"
            title="Rotate the webhook secret"
            action="Rotate secret"
            fields={[OVERLAP]}
            write={({ overlap_seconds: overlap }) => {
              const body = { overlap_seconds: Number(overlap) }
              return send('POST', '/webhook-secret/rotate', { body })
            }}
            onDone={() => setShown(true)}
          >
            <p>
              Events carry both signatures during the overlap. Update your servers before it ends.
            </p>
          </AskButton>
        </>
      }
    >
      <p>Signs the webhooks you receive (Standard Webhooks).</p>
      {isShown && <Secrets />}
    </Panel>
  )
}

/** A secret: not kept once nobody shows it. */
const secretsQuery = readQuery('/webhook-secret', {}, { gcTime: 0 })

const Secrets = () => (
  <Show query={useQuery(secretsQuery)}>
    {({ secrets }) => (
      <ul>
        {secrets.map(({ secret, expires_at: end }) => (
          <li key={secret}>
            <Copied text={secret} label="secret" />
            {end && ' '}
            {end && rich('valid until {time}', { time: <Time at={end} /> })}
          </li>
        ))}
      </ul>
    )}
  </Show>
)

const TABS = {
  you: [
    'Profile',
    <Stack key="you">
      <You />
      <ThisBrowser />
    </Stack>,
    'Owners of a publisher add you as a member by your ID.',
    'registry#roles',
  ],
  keys: [
    'API keys',
    <ApiKeys key="keys" />,
    'A key acts as you: send it as X-API-Key.',
    'first-task',
  ],
  webhooks: [
    'Webhooks',
    <Stack key="webhooks">
      <Endpoints of={OWN} />
      <WebhookSecret />
    </Stack>,
    'A subscription receives the events of all your tasks.',
    'webhooks#endpoints',
  ],
  events: ['Events', <Events key="events" />],
  usage: [
    'Usage',
    <Usage key="usage" />,
    'Ended tasks by the UTC day of their end.',
    'many-tasks#usage',
  ],
} as const
