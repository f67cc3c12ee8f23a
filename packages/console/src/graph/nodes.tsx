import { useMemo, useState } from 'react'

import { SearchField, Select } from '../ui/fields.tsx'
import { Empty, Note, Stack } from '../ui/panels.tsx'
import { useMore } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { DRAWN_MAX, Drawing } from './drawing.tsx'
import { Legend, MarkIcon } from './mark-icon.tsx'
import { MARKS, type Marks } from './marks.ts'
import type { DrawnNode, Part } from './read-workflow.ts'
import styles from './graph.module.css'

interface NodesProps {
  parts: readonly Part[]
  marks: Marks
  onOpen(node: DrawnNode): void
}

/** A part of the workflow, drawn, beside the list of its nodes; a phone has the list alone. */
export const Nodes = ({ parts, marks, onOpen }: NodesProps) => {
  const [place, setPlace] = useState('0')
  const part = parts[Number(place)]
  if (!part) return null
  const names = parts.map(({ name = t('The workflow') }, index) => [String(index), name] as const)
  const isDrawn = part.nodes.length <= DRAWN_MAX
  return (
    <Stack>
      {parts.length > 1 && (
        <div className={styles.part}>
          <Select label={t('Part')} options={names} value={place} onChange={setPlace} />
        </div>
      )}
      <Legend />
      {!isDrawn && <Note>{t('It has more nodes than are drawn here: they are in the list.')}</Note>}
      <div className={isDrawn ? `split ${styles.graph}` : undefined}>
        {isDrawn && (
          <div className="screen">
            <Drawing key={place} part={part} marks={marks} onOpen={onOpen} />
          </div>
        )}
        <NodeList key={place} nodes={part.nodes} marks={marks} onOpen={onOpen} />
      </div>
    </Stack>
  )
}

const STEP = 50

type NodeListProps = Omit<NodesProps, 'parts'> & { nodes: readonly DrawnNode[] }

/** The worst first. */
const NodeList = ({ nodes, marks, onOpen }: NodeListProps) => {
  const [search, setSearch] = useState<string>()
  const sorted = useMemo(() => sortNodes(nodes, marks), [nodes, marks])
  const wanted = search?.toLowerCase() ?? ''
  const found = sorted.filter(({ title, type, id }) =>
    `${title}\n${type}\n${id}`.toLowerCase().includes(wanted),
  )
  const { shown, more } = useMore(found, STEP)
  return (
    <div className="stack tight">
      <SearchField label={t('Search nodes')} value={search} onChange={setSearch} />
      {found.length === 0 && <Empty>{t('No node has this in its name.')}</Empty>}
      <ul aria-label={t('Nodes')} className={styles.nodes}>
        {shown.map((node) => (
          <li key={node.key}>
            <button type="button" className="bare" onClick={() => onOpen(node)}>
              <Bdi as="span" className="cut">
                {node.title}
              </Bdi>
              <MarkIcon mark={marks.get(node.key)} />
              <Bdi as="span" className="cut soft small">
                {`${t('node {id}', { id: node.id })} · ${node.inner === undefined ? node.type : t('subgraph')}`}
              </Bdi>
            </button>
          </li>
        ))}
        {more && <li>{more}</li>}
      </ul>
    </div>
  )
}

const sortNodes = (nodes: readonly DrawnNode[], marks: Marks): DrawnNode[] => {
  const rankOf = ({ key }: DrawnNode): number => {
    const mark = marks.get(key)
    return mark ? MARKS.indexOf(mark) : MARKS.length
  }
  return nodes.toSorted((a, b) => rankOf(a) - rankOf(b))
}
