import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { LEVEL_WORDS, VERDICT_WORDS } from '../registry/parts.tsx'
import { versionsQuery } from '../registry/queries.ts'
import { byNumber } from '../registry/standing.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/fields.tsx'
import { comparisonPage, Link, nodePage } from '../ui/link.tsx'
import { Empty, Note, Row } from '../ui/panels.tsx'
import { Rows, useMore } from '../ui/rows.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import type { Change, Check, Chosen } from './types.ts'
import styles from './graph.module.css'

interface UpdatesProps {
  check: Check
  chosen: Chosen
  onChoose(chosen: Chosen): void
  onOpen(node: Change['node']): void
}

type CheckedPack = Check['packs'][number]

/** Changes of the workflow with other versions of its packs. */
export const Updates = ({ check, chosen, onChoose, onOpen }: UpdatesProps) => {
  const choose = ({ node_id: id }: CheckedPack, side: keyof Chosen, version: string): void =>
    onChoose({ ...chosen, [side]: { ...chosen[side], [id]: version } })
  const unknown = check.unknown.map(({ host_node: name, message }) => `${name}: ${message}`)
  return (
    <div className="stack">
      {[...check.warnings, ...unknown].map((warning) => (
        <Note key={warning}>
          <Bdi>{warning}</Bdi>
        </Note>
      ))}
      {(check.verdict === 'safe' || check.changes.length > 0) && (
        <Changes changes={check.changes} onOpen={onOpen} />
      )}
      <Rows
        label={t('Packs and their versions')}
        rows={check.packs}
        empty={t('No pack of this registry is in this workflow.')}
        columns={{
          [t('Pack')]: ({ node_id: id }) => <Link {...nodePage(id)}>{id}</Link>,
          [t('Update')]: (pack) => <Versions pack={pack} />,
          [t('Effect')]: ({ verdict }) => <Effect verdict={verdict} />,
          [t('Newest that breaks nothing')]: (pack) =>
            pack.newest_safe && (
              <Button onPress={() => choose(pack, 'to', pack.newest_safe ?? '')}>
                {t('Take {newest_safe}', { newest_safe: pack.newest_safe })}
              </Button>
            ),
          '': (pack) => <Picker pack={pack} onChoose={(...to) => choose(pack, ...to)} />,
        }}
        below={({ message }) => message && <Bdi>{message}</Bdi>}
      />
    </div>
  )
}

const Versions = ({ pack: { node_id: id, from, to } }: { pack: CheckedPack }) => {
  if (from !== undefined && from === to) return from
  const words = `${from ?? t('unknown')} → ${to ?? t('none fits')}`
  if (from === undefined || to === undefined) return words
  return <Link {...comparisonPage(id, from, to)}>{words}</Link>
}

const Effect = ({ verdict }: Pick<CheckedPack, 'verdict'>) => (
  <Badge tone={VERDICT_WORDS[verdict].tone}>{VERDICT_WORDS[verdict].word}</Badge>
)

interface PickerProps {
  pack: CheckedPack
  onChoose(side: keyof Chosen, version: string): void
}

/** Both versions of a pack; the list of them is asked for once somebody wants it. */
const Picker = ({ pack, onChoose }: PickerProps) => {
  const { node_id: id, from, to } = pack
  const [isOpen, setIsOpen] = useState(false)
  const { data = [] } = useQuery({ ...versionsQuery(id), enabled: isOpen })
  if (!isOpen)
    return (
      <Button aria-label={t('Choose versions of {id}', { id })} onPress={() => setIsOpen(true)}>
        {t('Choose versions')}
      </Button>
    )
  const active = data.filter(({ status }) => status === 'NodeVersionStatusActive')
  const known = [...active.map(({ version }) => version), from, to]
  const options = [...new Set(known.filter((one) => one !== undefined))].toSorted(byNumber)
  const select = (side: keyof Chosen, label: string, value: string | undefined) => (
    <Select
      label={label}
      options={options}
      value={value}
      onChange={(next) => onChoose(side, next)}
    />
  )
  return (
    <Row>
      {select('from', t('From'), from)}
      {select('to', t('To|version'), to)}
    </Row>
  )
}

const STEP = 50

const Changes = ({ changes, onOpen }: Pick<UpdatesProps, 'onOpen'> & Pick<Check, 'changes'>) => {
  const { shown, more } = useMore(changes, STEP)
  if (changes.length === 0)
    return <Empty>{t('No update changes anything of this workflow.')}</Empty>
  return (
    <>
      <ul aria-label={t('Changes')} className={`stack tight ${styles.changes}`}>
        {shown.map((change, index) => (
          <li key={index} className={LEVEL_WORDS[change.level].tone}>
            <Row>
              <Badge tone={LEVEL_WORDS[change.level].tone}>{LEVEL_WORDS[change.level].word}</Badge>
              <button type="button" className="bare" onClick={() => onOpen(change.node)}>
                <Bdi>{change.node.title ?? change.host_node}</Bdi>
              </button>
              <span className="soft small">
                <Bdi>{aboutNode(change)}</Bdi>
              </span>
            </Row>
            <Bdi>{change.message}</Bdi>
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}

const aboutNode = ({ node: { id, within, title }, host_node, pack }: Change): string =>
  [
    t('node {id}', { id }),
    title !== undefined && host_node,
    within && t('in {within}', { within }),
    pack,
  ]
    .filter(Boolean)
    .join(' · ')
