import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Schema } from '../api/client.ts'
import { AskButton, SecretButton } from '../ui/ask.tsx'
import { Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { nodesQuery, type OfPublisher } from './queries.ts'

const TOKENS = '/publishers/{publisherId}/tokens'
const SCOPES = { publish: 'publish: new versions', read: 'read: what members read' }
const DAYS = { 30: '30 days', 90: '90 days', 365: 'a year', '': 'never' }
const DAY_MS = 86_400_000

/** The tokens by which tools and CI act for a publisher. A value is shown once, after it was made. */
export const Tokens = ({ id }: OfPublisher) => {
  const { data: nodes = [] } = useQuery(nodesQuery(id))
  const options = [['', 'all nodes'] as const, ...nodes.map((node) => node.id)]
  return (
    <Stack>
      <SecretButton
        label="Make a token"
        action="Make token"
        fields={[
          { name: 'name', label: 'Name', help: 'Says where it is used, such as “laptop”.' },
          { name: 'scope', label: 'May do', options: SCOPES, value: 'publish' },
          { name: 'node_id', label: 'For', isOptional: true, options },
          { name: 'expires_at', label: 'Ends after', isOptional: true, options: DAYS, value: '90' },
        ]}
        write={({ name = '', scope, node_id: node, expires_at: days }) => {
          const end = days && new Date(Date.now() + Number(days) * DAY_MS).toISOString()
          const body = {
            name,
            scope: scope as Schema<'TokenScope'>,
            node_id: node || undefined,
            expires_at: end || undefined,
          }
          return send('POST', TOKENS, { path: { publisherId: id }, body })
        }}
        secretTitle="The token"
        secretOf={({ token }) => token}
        about={
          <p>
            <code>kiln publish</code> takes it from KILN_PUBLISH_TOKEN.
          </p>
        }
      />
      <Listing
        label="Tokens"
        query={useQuery(readQuery(TOKENS, { path: { publisherId: id } }))}
        empty="No token is live. Publishing on this page needs none."
        columns={{
          Token: ({ name, token, created_by: maker }) => (
            <>
              <Bdi>{name}</Bdi> <code>{token}</code> by <Bdi>{maker}</Bdi>
            </>
          ),
          May: ({ scope, node_id: node }) => (
            <>
              <Badge>{scope}</Badge> <Bdi>{node ?? 'all nodes'}</Bdi>
            </>
          ),
          'Last used': ({ last_used_at: used }) => <Time at={used} none="never" />,
          Ends: ({ expires_at: end }) => <Time at={end} none="never" />,
          '': ({ id: tokenId, name }) => (
            <AskButton
              label="Revoke"
              variant="danger"
              title={`Revoke ${name}?`}
              action="Revoke token"
              write={() =>
                send('DELETE', `${TOKENS}/{tokenId}`, { path: { publisherId: id, tokenId } })
              }
            >
              <p>Requests with it are rejected from then on.</p>
            </AskButton>
          ),
        }}
      />
    </Stack>
  )
}
