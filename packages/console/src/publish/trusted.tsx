import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send, type Schema } from '../api/client.ts'
import { AskButton, type FieldSpec, type Values } from '../ui/ask.tsx'
import { Select } from '../ui/fields.tsx'
import { Empty, Row, Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi, Signed } from '../ui/values.tsx'
import { nodesQuery, type OfPublisher } from './queries.ts'

const TRUSTED = '/publishers/{publisherId}/nodes/{nodeId}/trusted-publishers'
const ONE_TRUSTED = `${TRUSTED}/{trustedPublisherId}` as const
const BY_NUMBER = 'gh api repos/OWNER/NAME --jq .id: a name can change hands, a number cannot.'

const field = (name: string, label: string, help?: string): FieldSpec => ({ name, label, help })
const optional = (name: string, label: string): FieldSpec => ({ name, label, isOptional: true })
const claims: FieldSpec = { ...field('claims', 'Claims', 'A line each: name=value.'), rows: 3 }
const ofServer = [
  optional('claims/environment', 'Environment'),
  optional('issuer', 'Issuer of a server of your own'),
]

/** Claims that each provider's jobs prove. */
const PROVIDERS: Record<Schema<'TrustProvider'>, { label: string; fields: FieldSpec[] }> = {
  github: {
    label: 'Trust a GitHub repository',
    fields: [
      field('claims/repository_id', 'Number of the repository', BY_NUMBER),
      field('claims/workflow_file', 'Workflow file', '.github/workflows/publish.yml'),
      ...ofServer,
    ],
  },
  gitlab: {
    label: 'Trust a GitLab project',
    fields: [
      field('claims/project_id', 'Number of the project'),
      field('claims/workflow_file', 'Workflow file', '.gitlab-ci.yml'),
      ...ofServer,
    ],
  },
  oidc: {
    label: 'Trust another issuer',
    fields: [field('issuer', 'Issuer', 'iss of its identity tokens.'), claims],
  },
}
const KINDS = Object.keys(PROVIDERS) as Schema<'TrustProvider'>[]

/** The claims of a form: fields of their own, and lines `name=value`. */
const readClaims = ({ claims = '', ...fields }: Values): Record<string, string> => {
  const given = Object.entries(fields).filter(([, value]) => value)
  const lines = given.map(([name, value]) => `${name.replace('claims/', '')}=${value}`)
  const pairs = [...lines, ...claims.split('\n')].map((line) => {
    const [name = '', ...value] = line.split('=')
    return [name.trim(), value.join('=').trim()] as const
  })
  return Object.fromEntries(pairs.filter(([name]) => name !== ''))
}

/** Whose CI jobs may publish a node without a stored token. */
export const TrustedPublishers = ({ id }: OfPublisher) => {
  const [chosen, setChosen] = useState<string>()
  return (
    <Show query={useQuery(nodesQuery(id))}>
      {(list) => {
        const nodeId = chosen ?? list[0]?.id
        if (nodeId === undefined)
          return <Empty>Publish a node first: trust is given for one node.</Empty>
        const options = list.map((node) => node.id)
        return (
          <Stack>
            <Select label="Node" options={options} value={nodeId} onChange={setChosen} />
            <OfNode publisherId={id} nodeId={nodeId} />
          </Stack>
        )
      }}
    </Show>
  )
}

const OfNode = (path: { publisherId: string; nodeId: string }) => (
  <>
    <Row>
      {KINDS.map((provider) => (
        <AskButton
          key={provider}
          {...PROVIDERS[provider]}
          title={`${PROVIDERS[provider].label} to publish ${path.nodeId}`}
          action="Trust its jobs"
          write={({ issuer, ...values }) => {
            const body = { provider, claims: readClaims(values), ...(issuer && { issuer }) }
            return send('POST', TRUSTED, { path, body })
          }}
        />
      ))}
    </Row>
    <Listing
      label="Trusted publishers"
      query={useQuery(readQuery(TRUSTED, { path }))}
      empty="No job is trusted. A trusted one proves who it is and needs no stored token."
      columns={{
        'Jobs of': ({ issuer }) => <Bdi>{issuer}</Bdi>,
        'That say': (trust) =>
          Object.entries(trust.claims).map(([name, value]) => (
            <div key={name}>
              <Bdi as="code">{`${name}=${value}`}</Bdi>
            </div>
          )),
        Since: ({ createdAt, created_by: maker }) => <Signed at={createdAt} by={maker} />,
        '': ({ id: trustedPublisherId }) => (
          <AskButton
            label="Trust no longer"
            variant="danger"
            title="Trust these jobs no longer?"
            write={() => send('DELETE', ONE_TRUSTED, { path: { ...path, trustedPublisherId } })}
          >
            <p>The tokens that its jobs hold end with it.</p>
          </AskButton>
        ),
      }}
    />
  </>
)
