import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { signOut } from '../api/session.ts'
import { changeSettings, useSettings } from '../shell/settings.ts'
import { AskButton, SecretButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Copied } from '../ui/code.tsx'
import { Segments, Switch } from '../ui/fields.tsx'
import { Columns, Facts, PageTitle, Panel, Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'

export const Page = () => (
  <>
    <PageTitle actions={<Button onPress={() => void signOut()}>Sign out</Button>}>
      Account
    </PageTitle>
    <Stack>
      <Columns>
        <You />
        <ThisBrowser />
      </Columns>
      <ApiKeys />
      <WebhookSecret />
    </Stack>
  </>
)

const You = () => {
  const me = useMe()
  if (me === undefined) return null
  return (
    <Panel title="You" actions={me.isAdmin && <Badge tone="info">platform admin</Badge>}>
      <Facts
        of={{
          Name: <Bdi>{me.name}</Bdi>,
          Id: <Copied text={me.id} label="id" />,
          'E-mail': me.email && <Bdi>{me.email}</Bdi>,
        }}
      />
      <p>Owners of a publisher add you as a member by your id.</p>
    </Panel>
  )
}

const THEMES = { system: 'As the system', light: 'Light', dark: 'Dark' }

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
      <Switch
        label="Keys of one letter (? lists them)"
        isSelected={shortcuts}
        onChange={(isOn) => changeSettings({ shortcuts: isOn })}
      />
    </Panel>
  )
}

const END_HELP = 'As 2027-01-31; without it the key has no end.'

const ApiKeys = () => (
  <Panel
    title="API keys"
    actions={
      <SecretButton
        label="New key …"
        title="New API key"
        action="Make key"
        fields={[
          { name: 'name', label: 'Name', help: 'What it is for, such as nightly renders.' },
          { name: 'expires_at', label: 'Ends on', help: END_HELP, isOptional: true },
        ]}
        write={({ name = '', expires_at: end }) => {
          const body = { name: name.trim(), ...(end && { expires_at: toTime(end) }) }
          return send('POST', '/users/api-keys', { body })
        }}
        secretTitle="Your API key"
        secretOf={({ key }) => key}
      >
        <p>A key acts as you in programs: it is sent as the header X-API-Key.</p>
      </SecretButton>
    }
  >
    <Listing
      label="API keys"
      query={useQuery(readQuery('/users/api-keys', {}))}
      empty="You have no API keys. Programs of yours need one."
      columns={{
        Name: ({ name }) => <Bdi>{name}</Bdi>,
        Key: ({ key }) => <code>{key}</code>,
        Made: ({ createdAt }) => <Time at={createdAt} />,
        'Last used': ({ last_used_at: used }) => <Time at={used} none="never" />,
        Ends: ({ expires_at: end }) => <Time at={end} none="never" />,
        '': ({ id, name }) => (
          <AskButton
            label="Revoke …"
            variant="danger"
            title={`Revoke ${name}`}
            action="Revoke key"
            write={() => send('DELETE', '/users/api-keys/{id}', { path: { id } })}
          >
            <p>Programs that use it are rejected at once.</p>
          </AskButton>
        ),
      }}
    />
  </Panel>
)

/** A day is its end where the person is; anything else goes to the service, which says what it expects. */
const toTime = (text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? new Date(`${text.trim()}T23:59:59`).toISOString() : text

const OVERLAP = {
  name: 'overlap_seconds',
  label: 'Seconds for which the old one goes on signing',
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
            label="Replace …"
            title="Replace the webhook secret"
            action="Replace secret"
            fields={[OVERLAP]}
            write={({ overlap_seconds: overlap }) => {
              const body = { overlap_seconds: Number(overlap) }
              return send('POST', '/webhook-secret/rotate', { body })
            }}
            onDone={() => setShown(true)}
          >
            <p>
              Events carry both signatures until then. Give your servers the new secret in time.
            </p>
          </AskButton>
        </>
      }
    >
      <p>Signs the events that are sent to your webhook URLs, by Standard Webhooks.</p>
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
            {end && ' signs until '}
            {end && <Time at={end} />}
          </li>
        ))}
      </ul>
    )}
  </Show>
)
