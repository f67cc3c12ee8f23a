import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ArrowLeftRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'

import { HostNodeCard } from '../host-node/card.tsx'
import { useKeys } from '../shell/keys.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Segments, Select, TextField } from '../ui/fields.tsx'
import { Link } from '../ui/link.tsx'
import { PageTitle, Stack } from '../ui/page.tsx'
import { Empty, Note, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { counted } from '../words/text.ts'
import styles from './compare.module.css'
import { groupChanges, marksOf } from './changes.ts'
import type { Comparison, HostNodeChanges } from './changes.ts'
import { compareQuery, hostNodeQuery, versionsQuery } from './queries.ts'
import type { Range } from './queries.ts'
import { useTyped } from './use-typed.ts'
import { LEVELS, LEVEL_WORDS } from './verdict.tsx'

const route = getRouteApi('/registry/$node/compare/$range')

export const ComparePage = () => {
  const { node, range } = route.useParams()
  const [from = '', to = ''] = range.split('...')
  const query = useQuery(compareQuery(node, { from, to }))
  return (
    <>
      <PageTitle
        actions={
          <Link to="/registry/$node" params={{ node }}>
            All versions
          </Link>
        }
      >
        {`${node} ${from} to ${to}`}
      </PageTitle>
      <Stack>
        <RangePicker node={node} range={{ from, to }} />
        <Show query={query}>{(found) => <Changes found={found} />}</Show>
      </Stack>
    </>
  )
}

const RangePicker = ({ node, range }: { node: string; range: Range }) => {
  const navigate = route.useNavigate()
  const { data = [] } = useQuery(versionsQuery(node))
  const known = new Set([...data.map(({ version }) => version), range.from, range.to])
  const options = [...known].map((value) => ({ value, label: value }))
  const go = ({ from, to }: Range): void =>
    void navigate({ params: { node, range: `${from}...${to}` }, search: {} })
  return (
    <div className={styles.range}>
      <Select
        label="From"
        options={options}
        value={range.from}
        onChange={(from) => go({ ...range, from })}
      />
      <IconButton label="Swap" onPress={() => go({ from: range.to, to: range.from })}>
        <ArrowLeftRight aria-hidden />
      </IconButton>
      <Select
        label="To"
        options={options}
        value={range.to}
        onChange={(to) => go({ ...range, to })}
      />
    </div>
  )
}

const ALL = 'all'
const STEP = 24

const Changes = ({ found }: { found: Comparison }) => {
  const { level, q } = route.useSearch()
  const navigate = route.useNavigate()
  const set = (change: { level?: string; q?: string }): void =>
    void navigate({
      search: (before) => ({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    })
  const [text, type] = useTyped(q, (next) => set({ q: next }))
  const [most, setMost] = useState(STEP)
  const list = useRef<HTMLUListElement>(null)
  const { verdict, counts, changes, partial, from, to } = found
  const chosen = LEVELS.find((one) => one === level)
  const groups = groupChanges(changes, { level: chosen, search: q })
  const step = (by: 1 | -1): void => {
    const titles = [...(list.current?.querySelectorAll<HTMLElement>('[data-change]') ?? [])]
    const at = titles.findIndex((title) => title === document.activeElement)
    titles[Math.max(0, at + by)]?.focus()
  }
  useKeys({ n: () => step(1), p: () => step(-1) })
  if (verdict === 'none')
    return (
      <Note>
        The host nodes of one of the two have not been read: there is nothing to compare yet.
      </Note>
    )
  const total = counts.breaks + counts.may_break + counts.safe
  if (total === 0) return <Empty>{`${from} and ${to} have the same host nodes.`}</Empty>
  return (
    <>
      {partial && <Note>Not all host nodes could be read: what is gone may only be unread.</Note>}
      <div className={styles.filters}>
        <Segments
          label="Level"
          isLabelHidden
          options={[
            { value: ALL, label: `All ${total}` },
            ...LEVELS.map((one) => ({
              value: one,
              label: `${LEVEL_WORDS[one].word} ${counts[one]}`,
            })),
          ]}
          value={chosen ?? ALL}
          onChange={(next) => set({ level: next === ALL ? undefined : next })}
        />
        <TextField
          label="Search host nodes"
          placeholder="Host node or input"
          isLabelHidden
          isSearch
          type="search"
          value={text}
          onChange={type}
        />
      </div>
      <p className={styles.soft} role="status">
        {counted(groups.length, 'host node')}
        {total > changes.length && `, of the first ${changes.length} changes`}
        <span className={styles.keys}> · n and p lead to the next and the one before</span>
      </p>
      {groups.length === 0 && <Empty>No change is found.</Empty>}
      <ul ref={list} className={styles.groups} aria-label="Host nodes that changed">
        {groups.slice(0, most).map((group) => (
          <Group key={group.name} group={group} range={{ from, to }} />
        ))}
      </ul>
      {groups.length > most && (
        <Button onPress={() => setMost(most + STEP)}>
          Show {Math.min(STEP, groups.length - most)} more of {groups.length}
        </Button>
      )}
    </>
  )
}

const Group = ({ group, range }: { group: HostNodeChanges; range: Range }) => {
  const [box, isNear] = useNear()
  const { word, tone } = LEVEL_WORDS[group.level]
  return (
    <li ref={box} className={styles.group}>
      <h2 tabIndex={-1} data-change className={styles.title}>
        <Bdi>{group.name}</Bdi>
        <Badge tone={tone}>{word}</Badge>
      </h2>
      <ul className={styles.changes}>
        {group.changes.map(({ code, level, message, input, output }) => (
          <li key={`${code} ${input} ${output} ${message}`} className={styles[level]}>
            <Bdi>{message}</Bdi>
          </li>
        ))}
      </ul>
      <div className={styles.cards}>{isNear && <BothCards group={group} range={range} />}</div>
    </li>
  )
}

/** The host node in both versions; one that is gone stands beside what it perhaps is now. */
const BothCards = ({
  group: { name, nameAfter, isGone, isNew, changes },
  range,
}: {
  group: HostNodeChanges
  range: Range
}) => {
  const { node } = route.useParams()
  const before = useQuery({ ...hostNodeQuery(node, range.from, name), enabled: !isNew })
  const after = useQuery({
    ...hostNodeQuery(node, range.to, nameAfter ?? name),
    enabled: !isGone || nameAfter !== undefined,
  })
  const marks =
    before.data && after.data && !isGone ? marksOf(changes, before.data, after.data) : undefined
  return (
    <>
      {before.data && (
        <section aria-label={range.from}>
          <p>{range.from}</p>
          <HostNodeCard node={before.data} marks={marks?.before} />
        </section>
      )}
      {after.data && (
        <section aria-label={range.to}>
          <p>{range.to}</p>
          <HostNodeCard node={after.data} marks={marks?.after} />
        </section>
      )}
    </>
  )
}

/** Whether an element has ever been near the part that is seen. */
const useNear = () => {
  const box = useRef<HTMLLIElement>(null)
  const [isNear, setIsNear] = useState(false)
  useEffect(() => {
    if (isNear || !box.current) return
    const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && setIsNear(true), {
      rootMargin: '600px',
    })
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [isNear])
  return [box, isNear] as const
}
