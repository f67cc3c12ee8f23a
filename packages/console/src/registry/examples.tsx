import { useQuery } from '@tanstack/react-query'

import { Link } from '../ui/link.tsx'
import { Show } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { examplesQuery, type Version } from './queries.ts'

interface ExamplesProps {
  version: Version
  hostNode: string
}

/** Example workflows in the archive of a version that use a node, with what else each needs. */
export const Examples = ({ version: { node_id: node, version }, hostNode }: ExamplesProps) => (
  <Show query={useQuery(examplesQuery(node, version, hostNode))}>
    {({ example_workflows: examples }) => (
      <Rows
        label="Example workflows"
        rows={examples}
        empty="No example workflow uses it."
        columns={{
          'Example workflow': ({ path }) => (
            <Link to="/workflows" search={{ node, version, path }}>
              {path.replace(/^.*\/|\.json$/g, '')}
            </Link>
          ),
          Nodes: ({ nodes }) => nodes,
          'Other packs': ({ packs }) => (
            <Bdi>
              {packs
                .map(({ node_id: id }) => id)
                .filter((id) => id !== node)
                .join(', ')}
            </Bdi>
          ),
          Unknown: ({ unknown_host_nodes: names }) =>
            names.length > 0 && (
              <span title={names.join(', ')}>{counted(names.length, 'node')}</span>
            ),
        }}
      />
    )}
  </Show>
)
