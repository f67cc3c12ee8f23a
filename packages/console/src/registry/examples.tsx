import { useQuery } from '@tanstack/react-query'

import { Link } from '../ui/link.tsx'
import { Show } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { examplesQuery, type Version } from './queries.ts'

interface ExamplesProps {
  version: Version
  /** Only those that use it. */
  hostNode?: string
}

/** Number of example workflows of a version, which opens their list; nothing where there is none. */
export const AllExamples = ({ version }: Pick<ExamplesProps, 'version'>) => {
  const { data } = useQuery(examplesQuery(version.node_id, version.version))
  const count = data?.example_workflows.length ?? 0
  if (count === 0) return null
  return (
    <details>
      <summary>
        {t('{count, plural, one {# example workflow} other {# example workflows}}', { count })}
      </summary>
      <Examples version={version} />
    </details>
  )
}

/** Example workflows in the archive of a version, or those that use a node, with what else each needs. */
export const Examples = ({ version: { node_id: node, version }, hostNode }: ExamplesProps) => (
  <Show query={useQuery(examplesQuery(node, version, hostNode))}>
    {({ example_workflows: examples }) => (
      <Rows
        label={t('Example workflows')}
        rows={examples}
        empty={t('No example workflow uses it.')}
        columns={{
          [t('Example workflow')]: ({ path }) => (
            <Link to="/workflows" search={{ node, version, path }}>
              {path.replace(/^.*\/|\.json$/g, '')}
            </Link>
          ),
          [t('Nodes')]: ({ nodes }) => nodes,
          [t('Other packs')]: ({ packs }) => (
            <Bdi>
              {packs
                .map(({ node_id: id }) => id)
                .filter((id) => id !== node)
                .join(', ')}
            </Bdi>
          ),
          [t('Unknown')]: ({ unknown_host_nodes: names }) =>
            names.length > 0 && (
              <span title={names.join(', ')}>
                {t('{count, plural, one {# node} other {# nodes}}', { count: names.length })}
              </span>
            ),
        }}
      />
    )}
  </Show>
)
