import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { signOut } from '../api/session.ts'
import { changeSettings, useSettings } from '../shell/settings.ts'
import type { Theme } from '../shell/settings.ts'
import { AskButton, SecretDialog } from '../ui/ask.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Copied } from '../ui/code.tsx'
import { Segments, Switch } from '../ui/fields.tsx'
import { Table } from '../ui/list.tsx'
import { Columns, PageTitle, Stack } from '../ui/page.tsx'
import { Empty, Fact, Facts, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { API_KEYS, apiKeysQuery, WEBHOOK_SECRET, webhookSecretQuery } from './queries.ts'

export const AccountPage = () => (
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
      <Facts>
        <Fact name="Name">
          <Bdi>{me.name}</Bdi>
        </Fact>
        <Fact name="Id">
          <Copied text={me.id} label="id" />
        </Fact>
        {me.email !== undefined && (
          <Fact name="E-mail">
            <Bdi>{me.email}</Bdi>
          </Fact>
        )}
      </Facts>
      <p>Owners of a publisher add you as a member by your id.</p>
    </Panel>
  )
}

const THEMES: { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

const ThisBrowser = () => {
  const { theme, shortcuts } = useSettings()
  return (
    <Panel title="This browser">
      <Segments
        label="Theme"
        options={THEMES}
        value={theme}
        onChange={(value) => changeSettings({ theme: value })}
      />
      <Switch
        label="Keys of one letter (? lists them)"
        isSelected={shortcuts}
        onChange={(isOn) => changeSettings({ shortcuts: isOn })}
      />
    </Panel>
  )
}

const ApiKeys = () => {
  const keys = useQuery(apiKeysQuery)
  const [secret, setSecret] = useState<string>()
  return (
    <Panel
      title="API keys"
      actions={
        <AskButton
          label="New key …"
          title="New API key"
          action="Make key"
          fields={[
            { name: 'name', label: 'Name', help: 'What it is for, such as nightly renders.' },
            {
              name: 'expires_at',
              label: 'Ends on',
              help: 'As 2027-01-31; without it the key has no end.',
              isOptional: true,
            },
          ]}
          write={({ name = '', expires_at: end = '' }, headers) =>
            answerOf(
              api.POST('/users/api-keys', {
                body: { name: name.trim(), ...(end !== '' && { expires_at: toTime(end) }) },
                headers,
              }),
            )
          }
          refresh={[API_KEYS]}
          onDone={({ key }) => setSecret(key)}
        >
          <p>A key acts as you in programs: it is sent as the header X-API-Key.</p>
        </AskButton>
      }
    >
      <Show query={keys}>
        {(list) =>
          list.length === 0 ? (
            <Empty>You have no API keys. Programs of yours need one.</Empty>
          ) : (
            <Table
              label="API keys"
              columns={['Name', 'Key', 'Made', 'Last used', 'Ends', 'Actions']}
            >
              {list.map(({ id, name, key, createdAt, last_used_at: used, expires_at: end }) => (
                <tr key={id}>
                  <td>
                    <Bdi>{name}</Bdi>
                  </td>
                  <td>
                    <code>{key}</code>
                  </td>
                  <td>
                    <Time at={createdAt} />
                  </td>
                  <td>{used === undefined ? 'never' : <Time at={used} />}</td>
                  <td>{end === undefined ? 'never' : <Time at={end} />}</td>
                  <td>
                    <AskButton
                      label="Revoke …"
                      look="danger"
                      title={`Revoke ${name}`}
                      action="Revoke key"
                      write={() => api.DELETE('/users/api-keys/{id}', { params: { path: { id } } })}
                      refresh={[API_KEYS]}
                    >
                      <p>Programs that use it are refused at once.</p>
                    </AskButton>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Show>
      {secret !== undefined && (
        <SecretDialog title="Your API key" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Panel>
  )
}

/** A day is its end where the person is; anything else goes to the service, which says what it expects. */
const toTime = (text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? new Date(`${text.trim()}T23:59:59`).toISOString() : text

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
            fields={[
              {
                name: 'overlap_seconds',
                label: 'Seconds for which the old one goes on signing',
                value: '86400',
              },
            ]}
            write={({ overlap_seconds: overlap = '' }, headers) =>
              answerOf(
                api.POST('/webhook-secret/rotate', {
                  body: { overlap_seconds: Number(overlap) },
                  headers,
                }),
              )
            }
            refresh={[WEBHOOK_SECRET]}
            onDone={() => setShown(true)}
          >
            <p>Receivers take both signatures until then. Give them the new secret in time.</p>
          </AskButton>
        </>
      }
    >
      <p>Signs what your receivers are told, by Standard Webhooks.</p>
      {isShown && <Secrets />}
    </Panel>
  )
}

const Secrets = () => (
  <Show query={useQuery(webhookSecretQuery)}>
    {({ secrets }) => (
      <ul>
        {secrets.map(({ secret, expires_at: end }) => (
          <li key={secret}>
            <Copied text={secret} label="secret" />
            {end !== undefined && (
              <>
                {' '}
                signs until <Time at={end} />
              </>
            )}
          </li>
        ))}
      </ul>
    )}
  </Show>
)
