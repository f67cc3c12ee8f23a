import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Schema } from '../api/client.ts'
import { serviceQuery } from '../api/queries.ts'
import { Actions, revocation } from '../ui/actions.tsx'
import { SecretButton } from '../ui/ask.tsx'
import { Show, Stack } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi, KeyEnd, Signed, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { nodesQuery, type OfPublisher } from './queries.ts'

const TOKENS = '/publishers/{publisherId}/tokens'
const SCOPES = { publish: t('Publish versions'), read: t('Read only') }
const DAYS = [30, 90, 365]
const DAY_MS = 86_400_000
/** The clock here may be ahead of the service's. */
const CLOCKS_MS = 60_000
/** A publication in the browser and a job of CI get theirs for minutes. */
const SHORT_MS = 3_600_000

/** The tokens by which tools and CI act for a publisher. A value is shown once, after it was made. */
export const Tokens = ({ id }: OfPublisher) => {
  const { data: nodes = [] } = useQuery(nodesQuery(id))
  const options = [['', t('All packs')] as const, ...nodes.map((node) => node.id)]
  const longest = useQuery(serviceQuery).data?.limits.key_days
  return (
    <Stack>
      <SecretButton
        label={t('Create token')}
        action={t('Create token')}
        fields={[
          { name: 'name', label: t('Name'), help: t('Where it is used, for example “laptop”.') },
          { name: 'description', label: t('Description'), rows: 2, isOptional: true },
          { name: 'scope', label: t('Permission'), options: SCOPES, value: 'publish' },
          { name: 'node_id', label: t('Applies to'), isOptional: true, options, value: '' },
          { name: 'expires_at', label: t('Expires'), isOptional: true, ...endChoices(longest) },
        ]}
        write={({ name = '', description, scope, node_id: node, expires_at: days }) => {
          const end = days && new Date(Date.now() + Number(days) * DAY_MS - CLOCKS_MS).toISOString()
          const body = {
            name,
            description: description || undefined,
            scope: scope as Schema<'TokenScope'>,
            node_id: node || undefined,
            expires_at: end || undefined,
          }
          return send('POST', TOKENS, { path: { publisherId: id }, body })
        }}
        secretTitle={t('Your token')}
        secretOf={({ token }) => token}
        about={
          <p>
            {rich('Set it as KILN_PUBLISH_TOKEN for <code>kiln publish</code>.', {
              code: (text) => <code>{text}</code>,
            })}
          </p>
        }
      />
      <Show query={useQuery(readQuery(TOKENS, { path: { publisherId: id } }))}>
        {(tokens) => {
          const [short = [], own = []] = [true, false].map((isShort) =>
            tokens.filter((token) => isShortLived(token) === isShort),
          )
          return (
            <>
              <Rows
                label={t('Tokens')}
                rows={own}
                columns={columnsOf(id)}
                empty={t('No tokens yet')}
              />
              {short.length > 0 && (
                <details>
                  <summary>
                    {t('{count, plural, one {# short-lived token} other {# short-lived tokens}}', {
                      count: short.length,
                    })}
                  </summary>
                  <p className="soft">
                    {t('Each publishes once, from this page or a CI job, and expires in minutes.')}
                  </p>
                  <Rows
                    label={t('Short-lived tokens')}
                    rows={short}
                    columns={columnsOf(id)}
                    empty={null}
                  />
                </details>
              )}
            </>
          )
        }}
      </Show>
    </Stack>
  )
}

/** Ends to choose from, in days, up to the longest that the service takes. */
const endChoices = (longest: number | undefined) => {
  const days = DAYS.filter((one) => one < (longest ?? Infinity))
  const ends = [...days, ...(longest === undefined ? [] : [longest])]
  return {
    options: [
      ...ends.map(
        (one) =>
          [
            String(one),
            t('In {count, plural, one {# day} other {# days}}', { count: one }),
          ] as const,
      ),
      ...(longest === undefined ? [['', t('Never')] as const] : []),
    ],
    value: String(ends.includes(90) ? 90 : ends.at(-1)),
  }
}

type Token = Schema<'PersonalAccessToken'>

const isShortLived = ({ createdAt, expires_at: end }: Token): boolean =>
  end !== undefined && Date.parse(end) - Date.parse(createdAt) <= SHORT_MS

const columnsOf = (publisherId: string) => ({
  [t('Token')]: ({ name, token, description }: Token) => (
    <>
      <Bdi as="strong">{name}</Bdi> <code>{token}</code>
      {description && (
        <Bdi as="p" className="soft small">
          {description}
        </Bdi>
      )}
    </>
  ),
  [t('Permission')]: ({ scope, node_id: node }: Token) => (
    <>
      {SCOPES[scope]} <Bdi as="span">{`(${node ?? t('all packs')})`}</Bdi>
    </>
  ),
  [t('Created')]: ({ createdAt, created_by: maker }: Token) => <Signed at={createdAt} by={maker} />,
  [t('Last used')]: ({ last_used_at: used }: Token) => <Time at={used} none={t('Never')} />,
  [t('Expires')]: (token: Token) =>
    isShortLived(token) ? <Time at={token.expires_at} /> : <KeyEnd at={token.expires_at} />,
  '': ({ id: tokenId, name }: Token) => (
    <Actions
      label={t('More for {name}', { name })}
      actions={[
        revocation({
          name,
          credential: 'token',
          write: () => send('DELETE', `${TOKENS}/{tokenId}`, { path: { publisherId, tokenId } }),
        }),
      ]}
    />
  ),
})
