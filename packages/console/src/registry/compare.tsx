import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ArrowLeftRight } from 'lucide-react'
import { useRef, useState } from 'react'

import { useKeys } from '../shell/keys.ts'
import { IconButton } from '../ui/button.tsx'
import { AddressField, Segments, Select } from '../ui/fields.tsx'
import { Link, nodePage } from '../ui/link.tsx'
import { Empty, Note, PageTitle, Show, Stack } from '../ui/panels.tsx'
import { useMore } from '../ui/rows.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Badge, Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { BothCards } from './both-cards.tsx'
import { groupChanges, type Comparison, type HostNodeChanges } from './changes.ts'
import { LEVEL_WORDS, LEVELS, whenNear } from './parts.tsx'
import { compareQuery, versionsQuery, type Range } from './queries.ts'
import styles from './registry.module.css'
import { byNumber } from './standing.ts'

const route = getRouteApi('/registry/$node/compare/$range')

export const Page = () => {
  const { node, range } = route.useParams()
  const [from = '', to = ''] = range.split('...')
  const query = useQuery(compareQuery(node, { from, to }))
  const back = <Link {...nodePage(node)}>{t('All versions')}</Link>
  return (
    <>
      <PageTitle actions={back}>{t('{node} {from} to {to}', { node, from, to })}</PageTitle>
      <Stack>
        <RangePicker from={from} to={to} />
        <Show query={query}>{(found) => <Changes found={found} />}</Show>
      </Stack>
    </>
  )
}

const RangePicker = ({ from, to }: Range) => {
  const { node } = route.useParams()
  const navigate = route.useNavigate()
  const { data = [] } = useQuery(versionsQuery(node))
  const options = [...new Set([...data.map(({ version }) => version), from, to])].toSorted(byNumber)
  const go = (range: Range): void =>
    void navigate({ params: { node, range: `${range.from}...${range.to}` }, search: {} })
  return (
    <div className={`stack tight ${styles.range}`}>
      <Select
        label={t('From')}
        options={options}
        value={from}
        onChange={(from) => go({ from, to })}
      />
      <IconButton label={t('Swap')} onPress={() => go({ from: to, to: from })}>
        <ArrowLeftRight aria-hidden />
      </IconButton>
      <Select
        label={t('To|version')}
        options={options}
        value={to}
        onChange={(to) => go({ from, to })}
      />
    </div>
  )
}

const ALL = 'all'
const STEP = 24

const Changes = ({ found }: { found: Comparison }) => {
  const { level, q } = route.useSearch()
  const change = useChangeSearch()
  const list = useRef<HTMLUListElement>(null)
  const { verdict, counts, changes, partial, from, to } = found
  const chosen = LEVELS.find((one) => one === level)
  const groups = groupChanges(changes, { level: chosen, search: q })
  const { shown, more } = useMore(groups, STEP)
  const step = (by: 1 | -1): void => {
    const titles = [...(list.current?.querySelectorAll<HTMLElement>('h2') ?? [])]
    const at = titles.findIndex((title) => title === document.activeElement)
    titles[Math.max(0, at + by)]?.focus()
  }
  useKeys({ n: () => step(1), p: () => step(-1) })
  if (verdict === 'none')
    return (
      <Note>
        {t('The nodes of one version have not been read, so nothing can be compared yet.')}
      </Note>
    )
  const total = counts.breaks + counts.may_break + counts.safe
  if (total === 0) return <Empty>{t('{from} and {to} have the same nodes.', { from, to })}</Empty>
  const levels = LEVELS.map((one) => [one, `${LEVEL_WORDS[one].word} ${counts[one]}`] as const)
  return (
    <>
      {partial && (
        <Note>{t('Some nodes could not be read: those shown as removed may still be there.')}</Note>
      )}
      <div className={`row ${styles.filters}`}>
        <Segments
          label={t('Level')}
          isLabelHidden
          options={[[ALL, t('All {total}', { total })], ...levels]}
          value={chosen ?? ALL}
          onChange={(next) => change({ level: next === ALL ? undefined : next })}
        />
        <AddressField label={t('Search nodes')} placeholder={t('Node or input')} />
      </div>
      <p className="soft" role="status">
        {t('{count, plural, one {# node} other {# nodes}}', { count: groups.length })}
        {total > changes.length &&
          ` · ${t('of the first {count} changes', { count: changes.length })}`}
        <span className={styles.keys}> · {t('Press N / P for next / previous')}</span>
      </p>
      <ul ref={list} aria-label={t('Changed nodes')}>
        {shown.map((group) => (
          <Group key={group.name} group={group} range={found} />
        ))}
      </ul>
      {more}
    </>
  )
}

const Group = ({ group, range }: { group: HostNodeChanges; range: Range }) => {
  const { node } = route.useParams()
  const [isNear, setIsNear] = useState(false)
  const { word, tone } = LEVEL_WORDS[group.level]
  return (
    <li
      ref={whenNear(isNear ? undefined : () => setIsNear(true))}
      className={`stack tight ${styles.group}`}
    >
      <h2 tabIndex={-1}>
        <Bdi>{group.name}</Bdi> <Badge tone={tone}>{word}</Badge>
      </h2>
      <ul className={styles.changes}>
        {group.changes.map(({ code, level, message, input, output }) => (
          <li key={`${code} ${input} ${output} ${message}`} className={LEVEL_WORDS[level].tone}>
            <Bdi>{message}</Bdi>
          </li>
        ))}
      </ul>
      <div className={`stack ${styles.canvas} ${styles.both}`}>
        {isNear && <BothCards node={node} group={group} range={range} />}
      </div>
    </li>
  )
}
