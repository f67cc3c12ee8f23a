import { queryOptions } from '@tanstack/react-query'

import { read } from '../api/client.ts'

const FEW = 6

/** A workflow of the first nodes of the most popular pack, as if saved with the version before its latest; null where there is none. */
export const sampleQuery = queryOptions({
  queryKey: ['workflows', 'sample'],
  queryFn: async ({ signal }) => {
    const query = { sort: 'downloads;desc', limit: 8 } as const
    const { nodes } = await read('/nodes/search', { query }, signal)
    const pack = nodes.find(({ latest_version: latest }) => (latest?.host_nodes?.count ?? 0) > 0)
    if (!pack?.latest_version) return null
    const { id: nodeId, latest_version: latest } = pack
    const versions = await read('/nodes/{nodeId}/versions', { path: { nodeId } }, signal)
    const { version } = versions.find((one) => isOlder(one, latest)) ?? latest
    const found = await read(
      '/nodes/{nodeId}/versions/{version}/host-nodes',
      { path: { nodeId, version }, query: { limit: FEW } },
      signal,
    )
    const workflow = {
      nodes: found.host_nodes.map(({ host_node_name: type, display_name: title }, index) => ({
        id: index + 1,
        type,
        ...(title && { title }),
        pos: [(index % 3) * 300, Math.floor(index / 3) * 180],
        size: [240, 80],
        properties: { cnr_id: nodeId, ver: version },
      })),
      links: [],
    }
    return { name: `${nodeId}.json`, workflow }
  },
  staleTime: Infinity,
})

type Published = { id: string; status: string; host_nodes?: { count: number } }

const isOlder = ({ id, status, host_nodes }: Published, latest: Published): boolean =>
  id !== latest.id && status === 'NodeVersionStatusActive' && (host_nodes?.count ?? 0) > 0
