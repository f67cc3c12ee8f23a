import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { AskButton, SecretDialog } from '../ui/ask.tsx'
import { Badge } from '../ui/badge.tsx'
import { Table } from '../ui/list.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import type { OfPublisher } from './publisher.tsx'
import { nodesQuery, publisherKey, tokensQuery } from './queries.ts'

const SCOPES = [
  { value: 'publish', label: 'publish: new versions' },
  { value: 'read', label: 'read: what members read' },
]
const DAYS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'never' },
]
const DAY_MS = 86_400_000

/** The tokens by which tools and CI act for a publisher. A value is shown once, after it was made. */
export const Tokens = ({ id }: OfPublisher) => {
  const tokens = useQuery(tokensQuery(id))
  const nodes = useQuery(nodesQuery(id))
  const [secret, setSecret] = useState<string>()
  const forAll = { value: '', label: 'all nodes' }
  return (
    <Stack>
      <Row>
        <AskButton
          label="Make a token"
          title="Make a token"
          action="Make token"
          fields={[
            { name: 'name', label: 'Name', help: 'Says where it is used, such as “laptop”.' },
            { name: 'scope', label: 'May do', options: SCOPES, value: 'publish' },
            {
              name: 'node_id',
              label: 'For',
              isOptional: true,
              options: [
                forAll,
                ...(nodes.data ?? []).map((node) => ({ value: node.id, label: node.id })),
              ],
            },
            {
              name: 'expires_at',
              label: 'Ends after',
              isOptional: true,
              options: DAYS,
              value: '90',
            },
          ]}
          write={({ name = '', scope, node_id: node, expires_at: days }, headers) =>
            answerOf(
              api.POST('/publishers/{publisherId}/tokens', {
                params: { path: { publisherId: id } },
                headers,
                body: {
                  name,
                  scope: scope as Schema<'TokenScope'>,
                  ...(node && { node_id: node }),
                  ...(days && {
                    expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
                  }),
                },
              }),
            )
          }
          refresh={[publisherKey(id, 'tokens')]}
          onDone={({ token }) => setSecret(token)}
        />
      </Row>
      {secret !== undefined && (
        <SecretDialog title="The token" secret={secret} onClose={() => setSecret(undefined)}>
          <p>
            <code>kiln publish</code> takes it from KILN_PUBLISH_TOKEN.
          </p>
        </SecretDialog>
      )}
      <Show query={tokens}>
        {(list) =>
          list.length === 0 ? (
            <Empty>
              <p>No token is live. Publishing on this page needs none.</p>
            </Empty>
          ) : (
            <Table label="Tokens" columns={['Token', 'May', 'Last used', 'Ends', '']}>
              {list.map((token) => (
                <tr key={token.id}>
                  <td>
                    <Bdi>{token.name}</Bdi> <code>{token.token}</code> by{' '}
                    <Bdi>{token.created_by}</Bdi>
                  </td>
                  <td>
                    <Badge>{token.scope}</Badge> <Bdi>{token.node_id ?? 'all nodes'}</Bdi>
                  </td>
                  <td>{token.last_used_at ? <Time at={token.last_used_at} /> : 'never'}</td>
                  <td>{token.expires_at ? <Time at={token.expires_at} /> : 'never'}</td>
                  <td>
                    <AskButton
                      label="Revoke"
                      look="danger"
                      title={`Revoke ${token.name}?`}
                      action="Revoke token"
                      write={() =>
                        api.DELETE('/publishers/{publisherId}/tokens/{tokenId}', {
                          params: { path: { publisherId: id, tokenId: token.id } },
                        })
                      }
                      refresh={[publisherKey(id, 'tokens')]}
                    >
                      <p>Whatever uses it is refused from then on.</p>
                    </AskButton>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Show>
    </Stack>
  )
}
