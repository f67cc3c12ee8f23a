import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import type { FieldSpec, Values } from '../ui/ask.tsx'
import { Select } from '../ui/fields.tsx'
import { Table } from '../ui/list.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import type { OfPublisher } from './publisher.tsx'
import { nodesQuery, publisherKey, trustedQuery } from './queries.ts'

type Provider = Schema<'TrustProvider'>

const workflow = (help: string): FieldSpec => ({
  name: 'claims/workflow_file',
  label: 'Workflow file',
  help,
})
const issuer: FieldSpec = {
  name: 'issuer',
  label: 'Issuer of a server of your own',
  isOptional: true,
}
const environment: FieldSpec = {
  name: 'claims/environment',
  label: 'Environment',
  isOptional: true,
}

/** What each provider's jobs prove. */
const PROVIDERS: readonly { provider: Provider; label: string; fields: FieldSpec[] }[] = [
  {
    provider: 'github',
    label: 'Trust a GitHub repository',
    fields: [
      {
        name: 'claims/repository_id',
        label: 'Number of the repository',
        help: 'gh api repos/OWNER/NAME --jq .id: a name can change hands, a number cannot.',
      },
      workflow('.github/workflows/publish.yml'),
      environment,
      issuer,
    ],
  },
  {
    provider: 'gitlab',
    label: 'Trust a GitLab project',
    fields: [
      { name: 'claims/project_id', label: 'Number of the project' },
      workflow('.gitlab-ci.yml'),
      environment,
      issuer,
    ],
  },
  {
    provider: 'oidc',
    label: 'Trust another issuer',
    fields: [
      { ...issuer, label: 'Issuer', isOptional: false, help: 'iss of its identity tokens.' },
      { name: 'claims', label: 'Claims', rows: 3, help: 'A line each: name=value.' },
    ],
  },
]

/** The claims of a form: fields of their own, or lines `name=value`. */
const readClaims = (values: Values): Record<string, string> => {
  const lines = (values['claims'] ?? '').split('\n').map((line) => /^([^=]+)=(.*)$/.exec(line))
  return Object.fromEntries([
    ...lines.flatMap((line) => (line ? [[line[1]?.trim(), line[2]?.trim()] as const] : [])),
    ...Object.entries(values)
      .filter(([name, value]) => name.startsWith('claims/') && value !== '')
      .map(([name, value]) => [name.slice('claims/'.length), value.trim()] as const),
  ]) as Record<string, string>
}

/** Whose CI jobs may publish a node without a stored token. */
export const TrustedPublishers = ({ id }: OfPublisher) => {
  const nodes = useQuery(nodesQuery(id))
  const [chosen, setChosen] = useState<string>()
  return (
    <Show query={nodes}>
      {(list) => {
        const nodeId = chosen ?? list[0]?.id
        if (nodeId === undefined)
          return <Empty>Publish a node first: trust is given for one node.</Empty>
        return (
          <Stack>
            <Select
              label="Node"
              options={list.map((node) => ({ value: node.id, label: node.id }))}
              value={nodeId}
              onChange={setChosen}
            />
            <OfNode id={id} nodeId={nodeId} />
          </Stack>
        )
      }}
    </Show>
  )
}

const OfNode = ({ id, nodeId }: { id: string; nodeId: string }) => {
  const trusted = useQuery(trustedQuery(id, nodeId))
  const path = { publisherId: id, nodeId }
  const refresh = [publisherKey(id, 'trusted')]
  return (
    <>
      <Row>
        {PROVIDERS.map(({ provider, label, fields }) => (
          <AskButton
            key={provider}
            label={label}
            title={`${label} to publish ${nodeId}`}
            action="Trust its jobs"
            fields={fields}
            write={(values, headers) =>
              answerOf(
                api.POST('/publishers/{publisherId}/nodes/{nodeId}/trusted-publishers', {
                  params: { path },
                  headers,
                  body: {
                    provider,
                    claims: readClaims(values),
                    ...(values['issuer'] && { issuer: values['issuer'] }),
                  },
                }),
              )
            }
            refresh={refresh}
          />
        ))}
      </Row>
      <Show query={trusted}>
        {(list) =>
          list.length === 0 ? (
            <Empty>
              No job is trusted. A trusted one proves who it is and needs no stored token.
            </Empty>
          ) : (
            <Table label="Trusted publishers" columns={['Jobs of', 'That say', 'Since', '']}>
              {list.map((trust) => (
                <tr key={trust.id}>
                  <td>
                    <Bdi>{trust.issuer}</Bdi>
                  </td>
                  <td>
                    {Object.entries(trust.claims).map(([name, value]) => (
                      <div key={name}>
                        <code>
                          <Bdi>{`${name}=${value}`}</Bdi>
                        </code>
                      </div>
                    ))}
                  </td>
                  <td>
                    <Time at={trust.createdAt} /> by <Bdi>{trust.created_by}</Bdi>
                  </td>
                  <td>
                    <AskButton
                      label="Trust no longer"
                      look="danger"
                      title="Trust these jobs no longer?"
                      action="Trust no longer"
                      write={() =>
                        api.DELETE(
                          '/publishers/{publisherId}/nodes/{nodeId}/trusted-publishers/{trustedPublisherId}',
                          { params: { path: { ...path, trustedPublisherId: trust.id } } },
                        )
                      }
                      refresh={refresh}
                    >
                      <p>The tokens that its jobs hold end with it.</p>
                    </AskButton>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Show>
    </>
  )
}
