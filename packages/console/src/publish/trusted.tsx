import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send, type Schema } from '../api/client.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import type { FieldSpec, Values } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Code } from '../ui/code.tsx'
import { Select } from '../ui/fields.tsx'
import { LinkButton, publishPage } from '../ui/link.tsx'
import { Empty, Row, Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Signed } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { nodesQuery, type OfPublisher } from './queries.ts'
import { writeWorkflow } from './workflow.ts'

const TO_COME = '/publishers/{publisherId}/trusted-publishers'
const TRUSTED = '/publishers/{publisherId}/nodes/{nodeId}/trusted-publishers'
const ONE_TRUSTED = `${TRUSTED}/{trustedPublisherId}` as const

type Trusted = Schema<'TrustedPublisher'>

const field = (name: string, label: string, help?: FieldSpec['help']): FieldSpec => ({
  name,
  label,
  help,
})
const optional = (name: string, label: string, help?: string): FieldSpec => ({
  ...field(name, label, help),
  isOptional: true,
})
const ofServer = [
  optional('claims/environment', t('Environment'), t('Decides who may release. Recommended.')),
  { ...optional('issuer', t('Issuer URL (self-hosted)')), value: '' },
]

const NAME = /^[\w.-]+\/[\w.-]+$/

/** Command that prints the id of the repository whose name was typed: this page may call no other host. */
const idHelp = ({ 'claims/repository': name = '' }: Values) => (
  <>
    {rich(
      'The number GitHub gives it; unlike the name it never changes hands. Run <code>{command}</code>',
      {
        command: `gh api repos/${NAME.test(name) ? name : 'OWNER/NAME'} --jq .id`,
        code: (text) => <code>{text}</code>,
      },
    )}
    {NAME.test(name) && ' '}
    {NAME.test(name) &&
      rich('or look for “id” at {address}', {
        address: (
          <a
            href={`https://api.github.com/repos/${name}`}
            target="_blank"
            rel="noopener noreferrer"
          >
            {t('api.github.com')}
          </a>
        ),
      })}
  </>
)

/** Claims that each provider's jobs prove. */
const PROVIDERS: Record<Schema<'TrustProvider'>, { label: string; fields: FieldSpec[] }> = {
  github: {
    label: t('GitHub Actions'),
    fields: [
      field('claims/repository', t('Repository'), t('As owner/name.')),
      field('claims/repository_id', t('Repository ID'), idHelp),
      {
        ...field('claims/workflow_file', t('Workflow'), t('File name in .github/workflows.')),
        value: 'publish.yml',
      },
      ...ofServer,
    ],
  },
  gitlab: {
    label: t('GitLab CI/CD'),
    fields: [
      field('claims/project_id', t('Project ID'), t('On the project’s overview page.')),
      { ...field('claims/workflow_file', t('CI file')), value: '.gitlab-ci.yml' },
      ...ofServer,
    ],
  },
  oidc: {
    label: t('Another OpenID issuer'),
    fields: [
      field('issuer', t('Issuer URL'), t('The iss claim of its identity tokens.')),
      { ...field('claims', t('Claims'), t('One per line: name=value.')), rows: 3 },
    ],
  },
}
const OTHERS = ['gitlab', 'oidc'] as const

const FOLDER = '.github/workflows/'
const ADDRESS = /^https:\/\/github\.com\/|\.git$|\/$/g

/** Text of a person as the tokens of a provider have it: the path of a workflow, and the name of a repository without its host. */
const asClaimed = (name: string, value: string): string => {
  if (name === 'repository') return value.replace(ADDRESS, '')
  const isBare = name === 'workflow_file' && !value.startsWith('.') && !value.includes('/')
  return isBare ? FOLDER + value : value
}

/** The claims of a form: fields of their own, and lines `name=value`. */
const readClaims = ({ claims = '', ...fields }: Values): Record<string, string> => {
  const given = Object.entries(fields).filter(([, value]) => value)
  const lines = given.map(([name, value]) => `${name.replace('claims/', '')}=${value}`)
  const pairs = [...lines, ...claims.split('\n')].map((line) => {
    const [name = '', ...value] = line.split('=')
    return [name.trim(), asClaimed(name.trim(), value.join('=').trim())] as const
  })
  return Object.fromEntries(pairs.filter(([name]) => name !== ''))
}

/** CI jobs that may publish a pack without a stored token. */
export const TrustedPublishers = ({ id }: OfPublisher) => {
  const [chosen, setChosen] = useState<string>()
  const { data: toCome = [] } = useQuery(readQuery(TO_COME, { path: { publisherId: id } }))
  const first = (
    <Row>
      <AskButton {...addToCome(id, 'github')} label={t('Trust a pack to come')} />
      <Actions
        label={t('Other providers for a pack to come')}
        actions={OTHERS.map((kind) => addToCome(id, kind))}
      />
    </Row>
  )
  return (
    <Show query={useQuery(nodesQuery(id))}>
      {(list) => {
        const ids = [...list.map((node) => node.id), ...toCome.map((trust) => trust.node_id)]
        const options = [...new Set(ids)]
        const nodeId = chosen !== undefined && options.includes(chosen) ? chosen : options[0]
        if (nodeId === undefined)
          return (
            <Empty>
              <p>{t('No packs yet. A trusted job publishes one pack, and may create it.')}</p>
              <LinkButton {...publishPage(id)}>{t('Publish a pack')}</LinkButton>
              {first}
            </Empty>
          )
        return (
          <Stack>
            {first}
            {options.length > 1 && (
              <Select label={t('Pack')} options={options} value={nodeId} onChange={setChosen} />
            )}
            <OfNode publisherId={id} nodeId={nodeId} />
          </Stack>
        )
      }}
    </Show>
  )
}

type Path = { publisherId: string; nodeId: string }

const addTo = (path: Path, provider: Schema<'TrustProvider'>): Action => ({
  ...PROVIDERS[provider],
  title: t('Let {label} publish {nodeId}', {
    label: PROVIDERS[provider].label,
    nodeId: path.nodeId,
  }),
  action: t('Add'),
  write: ({ issuer, ...values }) => {
    const body = { provider, claims: readClaims(values), ...(issuer && { issuer }) }
    return send('POST', TRUSTED, { path, body })
  },
})

/** The same for a pack that its first publication makes. */
const addToCome = (publisherId: string, provider: Schema<'TrustProvider'>): Action => ({
  ...addTo({ publisherId, nodeId: t('a pack to come') }, provider),
  fields: [
    field('node_id', t('Pack ID'), t('It is not reserved: the first to publish gets it.')),
    ...PROVIDERS[provider].fields,
  ],
  write: ({ node_id: nodeId = '', ...values }) =>
    addTo({ publisherId, nodeId }, provider).write(values),
})

const OfNode = (path: Path) => (
  <>
    <Row>
      <AskButton {...addTo(path, 'github')} variant="primary" label={t('Add GitHub Actions')} />
      <Actions label={t('Other providers')} actions={OTHERS.map((kind) => addTo(path, kind))} />
    </Row>
    <Listing
      label={t('Trusted publishers')}
      query={useQuery(readQuery(TRUSTED, { path }))}
      empty={t('No trusted CI jobs yet')}
      columns={{
        [t('Provider')]: ({ provider }) => PROVIDERS[provider].label,
        [t('Conditions')]: (trust) => <Conditions trust={trust} />,
        [t('Added')]: ({ createdAt, created_by: maker }) => <Signed at={createdAt} by={maker} />,
        '': ({ id: trustedPublisherId }) => (
          <Actions
            label={t('More for this trusted publisher')}
            actions={[
              {
                label: t('Remove'),
                variant: 'danger',
                title: t('Remove this trusted publisher?'),
                write: () => send('DELETE', ONE_TRUSTED, { path: { ...path, trustedPublisherId } }),
                children: (
                  <p>{t('Its jobs can’t publish anymore, and their tokens are revoked.')}</p>
                ),
              },
            ]}
          />
        ),
      }}
      below={({ provider, claims }) =>
        provider === 'github' && (
          <details>
            <summary>{t('Workflow to copy')}</summary>
            <p>
              {rich(
                'Save it as {claims} in the repository. A pushed tag such as v1.2.0 publishes version 1.2.0.',
                { claims: <Bdi as="code">{claims['workflow_file']}</Bdi> },
              )}
            </p>
            <Code
              label={t('workflow')}
              text={writeWorkflow({
                ...path,
                url: location.origin,
                environment: claims['environment'],
              })}
            />
          </details>
        )
      }
    />
  </>
)

/** Hosts of the providers themselves, which need no mention. */
const HOSTED = ['https://token.actions.githubusercontent.com', 'https://gitlab.com']

const LABELS: Readonly<Record<string, string>> = {
  repository: '',
  repository_id: t('repository'),
  project_id: t('project'),
  workflow_file: '',
}

/** The claims in the words of their forms: "acme/tools · repository 12345 · publish.yml". */
const Conditions = ({ trust: { claims, issuer } }: { trust: Trusted }) => (
  <Row>
    {!HOSTED.includes(issuer) && <Bdi>{issuer}</Bdi>}
    {Object.entries(claims)
      .toSorted(([one], [other]) => rank(one) - rank(other))
      .map(([name, value]) => (
        <Badge key={name} title={name}>
          {`${LABELS[name] ?? name} ${value.replace(FOLDER, '')}`.trim()}
        </Badge>
      ))}
  </Row>
)

const rank = (name: string): number => {
  const place = Object.keys(LABELS).indexOf(name)
  return place === -1 ? 99 : place
}
