import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { memo, useDeferredValue } from 'react'

import type { Schema } from '../api/client.ts'
import { HostNodeCard } from '../host-node/card.tsx'
import { ManageHostNode } from '../manage/host-node.tsx'
import { Code } from '../ui/code.tsx'
import { AddressField } from '../ui/fields.tsx'
import { Dialog } from '../ui/layers.tsx'
import type { EndlessQuery } from '../ui/list.tsx'
import { Empty, Note, Show, Stack } from '../ui/panels.tsx'
import { NextPage } from '../ui/rows.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { AllExamples, Examples } from './examples.tsx'
import { whenNear } from './parts.tsx'
import { hostNodeQuery, hostNodesQuery, type Version } from './queries.ts'
import styles from './registry.module.css'

const SEARCHED = t('Name, category or input/output type')

/** The host nodes of a version as cards, searched by name, category and type. */
export const HostNodes = ({ version }: { version: Version }) => {
  const { q, 'host-node': opened } = useSearch({ strict: false })
  const isHint = version.host_node_extract_status === 'reported'
  const isRead = isHint || version.host_node_extract_status === 'success'
  const list = useInfiniteQuery({ ...hostNodesQuery(version, q?.slice(0, 200)), enabled: isRead })
  if (!isRead) return <Unread version={version} />
  return (
    <Stack>
      {version.host_nodes?.partial && (
        <Note>{t('Some files could not be read, so nodes may be missing.')}</Note>
      )}
      {isHint && (
        <Note tone="warn">
          {t('Reported by a user and not verified. Search does not find them.')}
        </Note>
      )}
      <AllExamples version={version} />
      <AddressField label={t('Search nodes')} placeholder={SEARCHED} />
      <Show query={list}>
        {({ pages }) =>
          pages[0]?.total ? (
            <>
              <p className="soft" role="status">
                {t('{count, plural, one {# node} other {# nodes}}', { count: pages[0].total })}
              </p>
              <Cards pages={pages} list={list} />
            </>
          ) : (
            <Empty>
              {q === undefined
                ? t('No nodes in this version. It may only add to the interface.')
                : t('No matching nodes. Try part of a name, or a type such as IMAGE.')}
            </Empty>
          )
        }
      </Show>
      {opened !== undefined && <Opened version={version} name={opened} />}
    </Stack>
  )
}

type CardsProps = { pages: readonly Schema<'HostNodePage'>[]; list: EndlessQuery }

const Cards = ({ pages, list }: CardsProps) => {
  const readMore = (): void => void list.fetchNextPage()
  return (
    <div className={`stack ${styles.canvas}`}>
      {useDeferredValue(pages).map((page) => (
        <CardPage key={page.page} page={page} />
      ))}
      <div ref={whenNear(list.hasNextPage && !list.isFetchingNextPage ? readMore : undefined)}>
        <NextPage query={list} />
      </div>
    </div>
  )
}

const CardPage = memo(({ page }: { page: Schema<'HostNodePage'> }) => (
  <ul className={`row ${styles.cards}`} aria-label={t('Nodes, page {page}', { page: page.page })}>
    {page.host_nodes.map((node) => (
      <li key={node.host_node_name}>
        <HostNodeCard node={node} opens />
      </li>
    ))}
  </ul>
))

const RAW_MAX = 20_000

/** The one that the address names, in whole. */
const Opened = ({ version, name }: { version: Version; name: string }) => {
  const query = useQuery(hostNodeQuery(version.node_id, version.version, name))
  const change = useChangeSearch()
  const close = (): void => change({ 'host-node': undefined }, { replace: false })
  return (
    <Dialog title={<Bdi>{name}</Bdi>} onClose={close} wide>
      <Show query={query}>
        {(node) => (
          <Stack>
            <div className={`stack ${styles.canvas}`}>
              <HostNodeCard node={node} isWhole />
            </div>
            {node.example_workflows && <Examples version={version} hostNode={name} />}
            <ManageHostNode nodeId={version.node_id} hostNode={node} />
            {node.dynamic.length > 0 && (
              <p>
                {t('Filled in on the user’s machine:')} <Bdi>{node.dynamic.join(', ')}</Bdi>
              </p>
            )}
            <details>
              <summary>{t('Inputs as declared by the pack')}</summary>
              <Code text={(node.input_types ?? '').slice(0, RAW_MAX)} label={t('inputs')} />
            </details>
          </Stack>
        )}
      </Show>
    </Dialog>
  )
}

/** Host nodes that are not read, or not yet. */
const Unread = ({ version }: { version: Version }) => {
  if (version.host_node_extract_status === 'pending')
    return <Note>{t('Reading the nodes. They will appear in a moment.')}</Note>
  return (
    <Note tone="warn">
      <p>{t('The nodes could not be read. The version can still be installed.')}</p>
      <Reason version={version} />
    </Note>
  )
}

/** Why the host nodes were not read, and what its publisher can do. */
export const Reason = ({ version }: { version: Version }) => (
  <p>
    {version.host_node_extract_advice} <code>{version.host_node_extract_reason}</code>
  </p>
)
