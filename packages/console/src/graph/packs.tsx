import { useQuery } from '@tanstack/react-query'

import { serviceQuery } from '../api/queries.ts'
import { chooseInstall, writeInstall } from '../registry/standing.ts'
import { Code } from '../ui/code.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Link, nodePage, versionPage } from '../ui/link.tsx'
import { Note, Panel } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import { listSome } from '../words/text.ts'
import { t } from '../words/translate.ts'
import type { Resolution } from './types.ts'

interface PacksProps {
  found: Resolution
  /** Name of the file. */
  name: string
}

/** The packs to install for a workflow, and what stands in the way. */
export const Packs = ({ found, name }: PacksProps) => {
  const { packs, host_nodes: hostNodes, models, conflicts, warnings } = found
  const { data: service } = useQuery(serviceQuery)
  const template = chooseInstall(service)
  const unknown = hostNodes.filter(({ origin }) => origin === 'unknown')
  return (
    <div className="stack">
      {conflicts.map(({ package: of, message }) => (
        <Note key={of} tone="warn">
          <Bdi>{message}</Bdi>
        </Note>
      ))}
      {warnings.map((warning) => (
        <Note key={warning}>
          <Bdi>{warning}</Bdi>
        </Note>
      ))}
      <Rows
        label={t('Packs')}
        rows={packs}
        empty={t('This workflow needs no packs.')}
        columns={{
          [t('Pack')]: ({ node_id: id, name: title }) => <Link {...nodePage(id)}>{title}</Link>,
          [t('Version')]: ({ node_id: id, version }) =>
            version ? <Link {...versionPage(id, version)}>{version}</Link> : t('none fits'),
          [t('Nodes')]: ({ host_nodes: names }) => (
            <Bdi as="span" className="small" title={names.join(', ')}>
              {listSome(names, 5)}
            </Bdi>
          ),
          [t('Reason')]: ({ node_id: id }) => <Bdi>{reasonsOf(hostNodes, id)}</Bdi>,
        }}
        below={(pack) => (
          <div className="stack tight">
            {pack.message && (
              <Note tone="warn">
                <Bdi>{pack.message}</Bdi>
              </Note>
            )}
            <Install pack={pack} found={found} template={template} />
          </div>
        )}
      />
      {unknown.length > 0 && <Unknown hostNodes={unknown} />}
      {models.length > 0 && <Models models={models} />}
      {packs.length > 0 && <Lock found={found} name={name} />}
    </div>
  )
}

type HostNodes = Resolution['host_nodes']

/** Why the nodes are taken from this pack: each reason once. */
const reasonsOf = (hostNodes: HostNodes, id: string): string =>
  [...new Set(hostNodes.flatMap((one) => (one.node_id === id ? one.message : [])))].join(' ')

type InstallProps = { pack: Resolution['packs'][number]; found: Resolution; template: string }

const Install = ({ pack: { node_id, version }, found, template }: InstallProps) => {
  const locked = found.lock.find(({ node }) => node === node_id)
  if (version === undefined) return null
  const given = { node_id, version, ...(locked && { downloadUrl: locked.url }) }
  const text = writeInstall(template, given, location.origin)
  return <Code text={text} label={t('install command of {node_id}', { node_id })} />
}

const Unknown = ({ hostNodes }: { hostNodes: HostNodes }) => (
  <Panel
    title={t('{count, plural, one {# unknown node} other {# unknown nodes}}', {
      count: hostNodes.length,
    })}
  >
    <ul aria-label={t('Unknown nodes')} className="stack tight">
      {hostNodes.map(({ host_node: name, count, message }) => (
        <li key={name}>
          <Bdi as="strong">{name}</Bdi>{' '}
          {count > 1 && <Badge>{t('{count} times', { count })}</Badge>} <Bdi>{message}</Bdi>
        </li>
      ))}
    </ul>
  </Panel>
)

const Models = ({ models }: Pick<Resolution, 'models'>) => (
  <Panel title={t('{count, plural, one {# model} other {# models}}', { count: models.length })}>
    <Rows
      label={t('Models')}
      empty={t('This workflow names no models.')}
      rows={models}
      columns={{
        [t('File')]: ({ file }) => <Bdi as="strong">{file}</Bdi>,
        [t('Folder')]: ({ folder }) => folder && <Bdi as="code">{`models/${folder}`}</Bdi>,
        [t('From')]: ({ url }) => url && <Bdi as="code">{url}</Bdi>,
        [t('Instances')]: ({ instances }) =>
          instances && <Bdi>{instances.join(', ') || t('none')}</Bdi>,
        [t('Digest')]: ({ digest }) => digest && <Bdi as="code">{digest}</Bdi>,
      }}
    />
  </Panel>
)

const Lock = ({ found: { lock, host_nodes, models }, name }: PacksProps) => {
  const stem = name.replace(/\.[^.]*$/, '')
  const [file, locked] = [JSON.stringify(`${stem}.json`), JSON.stringify(`${stem}.lock.json`)]
  const write = (): string => {
    const names = host_nodes.flatMap((one) => (one.origin === 'unknown' ? one.host_node : []))
    const missing = names.length > 0 && { unknown_host_nodes: names }
    const named = models.length > 0 && { models }
    return `${JSON.stringify({ packs: lock, ...named, ...missing }, null, 2)}\n`
  }
  const commands = [
    `kiln workflow lock ${file} -o ${locked}`,
    `kiln workflow check ${file} --from ${locked}`,
  ]
  return (
    <Panel title={t('Lock file')}>
      <p>
        {t(
          'The exact archives of these packs, with their SHA-256. With it, the command line says later what newer versions break.',
        )}
      </p>
      <DownloadButton
        label={t('Download lock file')}
        name={`${stem}.lock.json`}
        type="application/json"
        read={write}
      />
      <Code text={commands.join('\n')} label={t('the same on the command line')} />
    </Panel>
  )
}
