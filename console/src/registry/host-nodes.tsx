import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

import type { Schema } from '../api/client.ts'
import { HostNodeCard } from '../host-node/card.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { TextField } from '../ui/fields.tsx'
import { Stack } from '../ui/page.tsx'
import { Empty, Fact, Facts, Note, Panel, Show } from '../ui/panels.tsx'
import { findingsQuery } from '../ui/findings.tsx'
import { Bdi } from '../ui/text.tsx'
import { counted } from '../words/text.ts'
import { hostNodeQuery, hostNodesQuery } from './queries.ts'
import type { Version } from './queries.ts'
import styles from './registry.module.css'
import { useTyped } from './use-typed.ts'

/** The host nodes of a version, 24 at a time, searched by name, category and type. */
export const HostNodes = ({ version }: { version: Version }) => {
  const { q, 'host-node': chosen } = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = (change: Record<string, string | undefined>, replace: boolean): void =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...change }),
      replace,
      resetScroll: false,
    })
  const [text, type] = useTyped(q, (next) => set({ q: next }, true))
  const { node_id: nodeId, version: number, host_node_extract_status: extraction } = version
  const isSettled = version.status === 'NodeVersionStatusActive' && extraction === 'success'
  const list = useInfiniteQuery({
    ...hostNodesQuery({ nodeId, version: number, search: q?.slice(0, 200) }, isSettled),
    enabled: extraction === 'success',
  })
  if (extraction !== 'success') return <Unread version={version} />
  return (
    <Stack>
      {version.host_nodes?.partial && (
        <Note>Not all of the pack could be read: some host nodes may be missing.</Note>
      )}
      {chosen !== undefined && (
        <Chosen
          key={chosen}
          version={version}
          name={chosen}
          onClose={() => set({ 'host-node': undefined }, false)}
        />
      )}
      <TextField
        label="Search host nodes"
        placeholder="Name, category or type of an input or output"
        isLabelHidden
        isSearch
        type="search"
        maxLength={200}
        value={text}
        onChange={type}
      />
      <Show query={list}>
        {({ pages }) => {
          const [first] = pages
          return !first || first.total === 0 ? (
            <Empty>
              {q === undefined
                ? 'This version brings no host nodes: it may have interface files alone.'
                : 'No host node is found. Try a part of a name, or a type such as IMAGE.'}
            </Empty>
          ) : (
            <>
              <p className={styles.soft} role="status">
                {counted(first.total, 'host node')}
              </p>
              <Cards
                pages={pages}
                hasMore={list.hasNextPage}
                isLoading={list.isFetchingNextPage}
                onMore={() => void list.fetchNextPage()}
                onOpen={(name) => set({ 'host-node': name }, false)}
              />
            </>
          )
        }}
      </Show>
    </Stack>
  )
}

const Cards = ({
  pages,
  hasMore,
  isLoading,
  onMore,
  onOpen,
}: {
  pages: readonly Schema<'HostNodePage'>[]
  hasMore: boolean
  isLoading: boolean
  onMore(): void
  onOpen(name: string): void
}) => {
  const end = useRef<HTMLDivElement>(null)
  const canMore = hasMore && !isLoading
  useEffect(() => {
    if (!canMore || !end.current) return
    // Before the end is in sight, so that nobody waits for it.
    const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && onMore(), {
      rootMargin: '800px',
    })
    watch.observe(end.current)
    return () => watch.disconnect()
  }, [canMore, onMore])
  return (
    <>
      <div className={styles.canvas}>
        {pages.map(({ page, host_nodes: cards }) => (
          <ul key={page} className={styles.cards} aria-label={`Host nodes, page ${page}`}>
            {cards.map((node) => (
              <li key={node.host_node_name}>
                <HostNodeCard node={node} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        ))}
      </div>
      <div ref={end}>
        {hasMore && (
          <Button isPending={isLoading} onPress={onMore}>
            Show more
          </Button>
        )}
      </div>
    </>
  )
}

/** The one that the address names, in whole. */
const Chosen = ({
  version: { node_id: nodeId, version },
  name,
  onClose,
}: {
  version: Version
  name: string
  onClose(): void
}) => {
  const query = useQuery(hostNodeQuery(nodeId, version, name))
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' })
    box.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div ref={box} tabIndex={-1} className={styles.opened}>
      <Panel title={<Bdi>{name}</Bdi>} actions={<Button onPress={onClose}>Close</Button>}>
        <Show query={query}>
          {(node) => (
            <div className={styles.chosen}>
              <HostNodeCard node={node} isWhole />
              <Facts>
                <Fact name="Category">
                  <Bdi>{node.category || '–'}</Bdi>
                </Fact>
                {node.function && (
                  <Fact name="Function">
                    <code>
                      <Bdi>{node.function}</Bdi>
                    </code>
                  </Fact>
                )}
                {node.dynamic.length > 0 && (
                  <Fact name="By the machine">
                    <Bdi>{node.dynamic.join(', ')}</Bdi>
                  </Fact>
                )}
                <Fact name="Inputs">
                  <Raw text={node.input_types} label="inputs" />
                </Fact>
              </Facts>
            </div>
          )}
        </Show>
      </Panel>
    </div>
  )
}

const RAW_MAX = 20_000

const Raw = ({ text = '', label }: { text: string | undefined; label: string }) => (
  <details>
    <summary>As the pack declares them</summary>
    <Code text={text.slice(0, RAW_MAX)} label={label} />
  </details>
)

/** Host nodes that are not read, or not yet. */
const Unread = ({ version }: { version: Version }) => {
  const { data } = useQuery(findingsQuery(version.node_id, version.version))
  if (version.host_node_extract_status === 'pending')
    return <Note>The host nodes are being read. They are here in a moment.</Note>
  const reason = data?.extraction?.reason
  return (
    <Note tone="warn">
      <p>The host nodes could not be read. The version can be installed all the same.</p>
      {reason !== undefined && (
        <p>
          {EXTRACTION_WORDS[reason] ?? 'The reason is'} <code>{reason}</code>
        </p>
      )}
    </Note>
  )
}

/** What a publisher can do about it. */
const EXTRACTION_WORDS: Record<string, string> = {
  no_init: 'Put __init__.py at the root of the archive, or into its one folder:',
  no_mapping: 'Define NODE_CLASS_MAPPINGS, comfy_entrypoint or WEB_DIRECTORY:',
  mapping_unknown: 'The mapping is made at run time. List the names in node_list.json:',
  crashed: 'Reading takes too much. Make the pack smaller or simpler:',
  timed_out: 'This is a fault of the service. An operator can have it read again:',
}
