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
import { Code, Copied } from '../ui/code.tsx'
import { Segments, Switch } from '../ui/fields.tsx'
import { Facts, PageTitle, Panel, Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, KeyEnd, Time } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { rich, t } from '../words/translate.ts'
import { Events } from './events.tsx'
import { Usage } from './usage.tsx'
import { LanguageChoice } from '../shell/language-choice.tsx'

export const Page = () => (
  <>
    <PageTitle actions={<Button onPress={() => void signOut()}>{t('Sign out')}</Button>}>
      {t('Account')}
    </PageTitle>
    <Tabs label={t('Account')} tabs={TABS} side />
  </>
)

const You = () => {
  const me = useMe()
  const { data: service } = useQuery(serviceQuery)
  if (me === undefined) return null
  const isBuiltin = service?.issuer === `${location.origin}/auth`
  return (
    <Panel
      title={t('You')}
      actions={me.isAdmin && <Badge tone="info">{t('platform admin')}</Badge>}
    >
      <Facts
        of={{
          [t('Name')]: <Bdi>{me.name}</Bdi>,
          [t('ID')]: <Copied text={me.id} label={t('ID')} />,
          [t('Email')]: me.email && <Bdi>{me.email}</Bdi>,
        }}
      />
      {isBuiltin && <a href="/auth/account">{t('Password, passkeys and sessions')}</a>}
    </Panel>
  )
}

const THEMES = { system: t('System'), light: t('Light'), dark: t('Dark') }

const ThisBrowser = () => {
  const { theme, shortcuts } = useSettings()
  return (
    <Panel title={t('This browser')}>
      <Segments
        label={t('Theme')}
        options={THEMES}
        value={theme}
        onChange={(next) => changeSettings({ theme: next })}
      />
      <LanguageChoice />
      <Switch
        label={t('Single-key shortcuts (press ? for the list)')}
        isSelected={shortcuts}
        onChange={(isOn) => changeSettings({ shortcuts: isOn })}
      />
    </Panel>
  )
}

/** The field of the end of a key, which must be given where the life of keys is limited. */
const endField = (days: number | undefined) => ({
  name: 'expires_at',
  label: t('Expires'),
  help:
    days === undefined
      ? t('Optional, YYYY-MM-DD. Leave empty for no expiry.')
      : t('YYYY-MM-DD, at most {count, plural, one {# day} other {# days}} from now.', {
          count: days,
        }),
  isOptional: days === undefined,
})

const ApiKeys = () => (
  <>
    <SecretButton
      label={t('Create API key')}
      action={t('Create key')}
      fields={[
        {
          name: 'name',
          label: t('Name'),
          help: t('What it is for, for example “nightly renders”.'),
        },
        endField(useQuery(serviceQuery).data?.limits.key_days),
        {
          name: 'scopes',
          label: t('Scopes'),
          many: { [t('Nothing chosen means everything.')]: SCOPES },
          isOptional: true,
        },
        { name: 'credit_cap', label: t('Most credits'), isNumber: true, isOptional: true },
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
      secretTitle={t('Your API key')}
      secretOf={({ key }) => key}
      about={(key) => (
        <>
          <p>{t('Try it in a terminal (a key with scopes needs “read” for it):')}</p>
          <Code
            text={`export KILN_API_KEY=${key}\ncurl ${location.origin}/users -H "X-API-KEY: $KILN_API_KEY"`}
            label={t('a first request')}
          />
        </>
      )}
    />
    <Listing
      label={t('API keys')}
      query={useQuery(readQuery('/users/api-keys', {}))}
      empty={t('No API keys. Create one to call the API from code.')}
      columns={{
        [t('Name')]: ({ name }) => <Bdi>{name}</Bdi>,
        [t('Key')]: ({ key }) => <code>{key}</code>,
        [t('Scopes')]: ({ scopes }) => scopes?.join(', ') ?? t('all'),
        [t('Credits')]: ({ credit_cap: cap, credits_used: used = 0 }) =>
          cap !== undefined &&
          t('{used} of {total}', { used: showNumber(used), total: showNumber(cap) }),
        [t('Created')]: ({ createdAt }) => <Time at={createdAt} />,
        [t('Last used')]: ({ last_used_at: used }) => <Time at={used} none={t('Never')} />,
        [t('Expires')]: ({ expires_at: end }) => <KeyEnd at={end} />,
        '': ({ id, name }) => (
          <Actions
            label={t('More for {name}', { name })}
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
  ['images', t('Image tasks')],
  ['videos', t('Video tasks')],
  ['read', t('Read everything')],
  ['publish', t('Publish packs')],
  ['webhooks', t('Webhook secret and endpoints')],
] as const satisfies readonly (readonly [Scope, string])[]

/** A day is its end where the person is; anything else goes to the service, which says what it expects. */
const toTime = (text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? new Date(`${text.trim()}T23:59:59`).toISOString() : text

const OVERLAP = {
  name: 'overlap_seconds',
  label: t('Overlap in seconds'),
  value: '86400',
}

const WebhookSecret = () => {
  const [isShown, setShown] = useState(false)
  return (
    <Panel
      title={t('Webhook secret')}
      actions={
        <>
          {!isShown && <Button onPress={() => setShown(true)}>{t('Show secret')}</Button>}
          <AskButton
            label={t('Rotate secret')}
            title={t('Rotate the webhook secret')}
            action={t('Rotate secret')}
            fields={[OVERLAP]}
            write={({ overlap_seconds: overlap }) => {
              const body = { overlap_seconds: Number(overlap) }
              return send('POST', '/webhook-secret/rotate', { body })
            }}
            onDone={() => setShown(true)}
          >
            <p>
              {t(
                'Events carry both signatures during the overlap. Update your servers before it ends.',
              )}
            </p>
          </AskButton>
        </>
      }
    >
      <p>
        {t(
          'Signs what is sent to the webhook URL of a task (Standard Webhooks). Each subscription has a secret of its own.',
        )}
      </p>
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
            <Copied text={secret} label={t('secret')} />
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
    t('Profile'),
    <Stack key="you">
      <You />
      <ThisBrowser />
    </Stack>,
    t('Owners of a publisher add you as a member by your ID.'),
    'registry#roles',
  ],
  keys: [
    t('API keys'),
    <ApiKeys key="keys" />,
    t('A key acts as you: send it as X-API-KEY, or as a bearer token.'),
    'first-task',
  ],
  webhooks: [
    t('Webhooks'),
    <Stack key="webhooks">
      <Endpoints of={OWN} />
      <WebhookSecret />
    </Stack>,
    t('A subscription receives the events of all your tasks.'),
    'webhooks#endpoints',
  ],
  events: [t('Events'), <Events key="events" />],
  usage: [
    t('Usage'),
    <Usage key="usage" />,
    t('Tasks by the UTC day on which they ended.'),
    'many-tasks#usage',
  ],
} as const
