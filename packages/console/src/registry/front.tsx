import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { read, readQuery } from '../api/client.ts'
import { Link, nodePage } from '../ui/link.tsx'
import { Panel, Show } from '../ui/panels.tsx'
import { Tile, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { facetsQuery, iconOf, READ, type Node } from './queries.ts'
import styles from './registry.module.css'

const SHOWN = 4

const newQuery = readQuery('/nodes/search', { query: { sort: 'created_at;desc', limit: READ } })

/** Packs of the versions that were published last. */
const updatedQuery = queryOptions({
  queryKey: ['updated'],
  queryFn: async ({ signal }) => {
    const query = { statuses: ['NodeVersionStatusActive' as const], pageSize: 2 * READ }
    const { versions } = await read('/versions', { query }, signal)
    const ids = [...new Set(versions.map(({ node_id: id }) => id))].slice(0, SHOWN)
    if (ids.length === 0) return { nodes: [] }
    const { nodes } = await read('/nodes', { query: { node_id: ids } }, signal)
    const known = nodes.filter((node): node is Node => 'name' in node)
    return { nodes: ids.flatMap((id) => known.filter((node) => node.id === id)) }
  },
})

type FewProps = {
  title: string
  query: Parameters<typeof Show<{ nodes: Node[] }>>[0]['query']
  note(node: Node): ReactNode
}

/** The first packs of a list that can be installed. */
const Few = ({ title, query, note }: FewProps) => (
  <Panel title={title}>
    <Show query={query}>
      {({ nodes }) => (
        <ul>
          {nodes
            .filter(({ latest_version: latest }) => latest !== undefined)
            .slice(0, SHOWN)
            .map((node) => (
              <li key={node.id} className={styles.few}>
                <Tile src={iconOf(node)} name={node.name} size={32} />
                <Link {...nodePage(node.id)} className="cut">
                  {node.name}
                </Link>
                <span className="soft small">{note(node)}</span>
              </li>
            ))}
        </ul>
      )}
    </Show>
  </Panel>
)

/** The registry before anybody has asked for something. */
export const Front = () => (
  <div className={`columns ${styles.front}`}>
    <Few
      title={t('Popular')}
      query={useQuery(facetsQuery({}))}
      note={({ downloads }) =>
        t('{count, plural, one {# download} other {# downloads}}', { count: downloads })
      }
    />
    <Few
      title={t('New')}
      query={useQuery(newQuery)}
      note={({ created_at: at }) => at && <Time at={at} />}
    />
    <Few
      title={t('Recently updated')}
      query={useQuery(updatedQuery)}
      note={({ latest_version: latest }) => latest?.version}
    />
  </div>
)
