import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Suspense, useMemo, useState } from 'react'

import { lazyPart } from '../shell/lazy-page.ts'
import { useChangeSearch } from '../ui/address.ts'
import { Button } from '../ui/button.tsx'
import { Loading, Note, PageTitle, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { NodeCard } from './card.tsx'
import { WorkflowDrop } from './drop.tsx'
import { markNodes } from './marks.ts'
import { Packs } from './packs.tsx'
import { checkQuery, exampleQuery, resolveQuery } from './queries.ts'
import type { Check, Chosen, Resolution } from './types.ts'
import type { Saved } from './read-file.ts'
import { keyOf } from './read-workflow.ts'
import { Updates } from './updates.tsx'

// Most look at updates and packs alone.
const Nodes = lazyPart(async () => (await import('./nodes.tsx')).Nodes)

export const Page = () => {
  const { node, version, path } = useSearch({ from: '/workflows' })
  const [saved, setSaved] = useState<Saved>()
  const change = useChangeSearch()
  const isExample = node !== undefined && version !== undefined && path !== undefined
  const leave = (): void => {
    setSaved(undefined)
    change({ node: undefined, version: undefined, path: undefined, tab: undefined })
  }
  return (
    <>
      <PageTitle
        actions={(saved ?? isExample) && <Button onPress={leave}>{t('Check another')}</Button>}
      >
        {t('Check a workflow')}
      </PageTitle>
      {saved ? (
        <Results key={saved.key} saved={saved} />
      ) : isExample ? (
        <Example nodeId={node} version={version} path={path} />
      ) : (
        <WorkflowDrop onSaved={setSaved} />
      )}
    </>
  )
}

/** An example workflow of a pack, which the address names. */
const Example = (of: { nodeId: string; version: string; path: string }) => (
  <Show query={useQuery(exampleQuery(of))}>{(saved) => <Results saved={saved} />}</Show>
)

const Results = ({ saved }: { saved: Saved }) => {
  const { tab } = useSearch({ from: '/workflows' })
  const change = useChangeSearch()
  const [chosen, setChosen] = useState<Chosen>({ from: {}, to: {} })
  const [open, setOpen] = useState<string>()
  const resolution = useQuery(resolveQuery(saved, chosen))
  const check = useQuery(checkQuery(saved, chosen))
  const { host_nodes } = resolution.data ?? {}
  const changes = check.data?.changes
  const marks = useMemo(() => {
    const unknown = (host_nodes ?? []).filter(({ origin }) => origin === 'unknown')
    const names = new Set(unknown.map(({ host_node }) => host_node))
    return markNodes(saved.parts, { changes: changes ?? [], unknown: names })
  }, [saved, changes, host_nodes])
  const nodes = saved.parts.flatMap((part) => part.nodes)
  const openNode = nodes.find(({ key }) => key === open)
  const tabs = {
    updates: [
      t('Updates'),
      <Show key="updates" query={check}>
        {(found) => (
          <Updates
            check={found}
            chosen={chosen}
            onChoose={setChosen}
            onOpen={(node) => setOpen(keyOf(node))}
          />
        )}
      </Show>,
    ],
    packs: [
      resolution.data
        ? t('{count, plural, one {# pack} other {# packs}}', {
            count: resolution.data.packs.length,
          })
        : t('Packs'),
      <Show key="packs" query={resolution}>
        {(found) => <Packs found={found} name={saved.name} />}
      </Show>,
    ],
    nodes: [
      t('Nodes'),
      <Suspense key="nodes" fallback={<Loading />}>
        <Nodes parts={saved.parts} marks={marks} onOpen={({ key }) => setOpen(key)} />
      </Suspense>,
    ],
  } as const
  return (
    <Stack>
      <Summary name={saved.name} found={resolution.data} />
      {check.data && <Verdict check={check.data} />}
      <Tabs
        label={t('About the workflow')}
        tabs={tabs}
        selected={tab !== undefined && tab in tabs ? tab : 'updates'}
        onSelect={(id) => change({ tab: id })}
      />
      {openNode && (
        <NodeCard
          node={openNode}
          resolution={resolution.data}
          check={check.data}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Stack>
  )
}

const Summary = ({ name, found }: { name: string; found: Resolution | undefined }) => {
  const { nodes = 0, built_in = 0, found: known = 0, unknown = 0 } = found?.counts ?? {}
  const packs = found?.packs.length ?? 0
  const parts = [
    t('{count, plural, one {# node} other {# nodes}}', { count: nodes }),
    t('{built_in} of the host', { built_in }),
    t('{known} in {packs, plural, one {# pack} other {# packs}}', { known, packs }),
    t('{unknown} unknown', { unknown }),
  ]
  return (
    <p role="status">
      <Bdi as="strong">{name}</Bdi>
      {found && `: ${parts.join(', ')}`}
    </p>
  )
}

const Verdict = ({ check: { verdict, counts, packs } }: { check: Check }) => {
  const { breaks, may_break: mayBreak, nodes, unknown } = counts
  if (nodes === 0) return <Note tone="warn">{t('There is no host node in this file.')}</Note>
  if (verdict === 'safe') return <Note tone="ok">{t('Updates break nothing here.')}</Note>
  const left =
    unknown > 0 &&
    t('Not compared: {count, plural, one {# unknown node} other {# unknown nodes}}.', {
      count: unknown,
    })
  if (breaks + mayBreak === 0) {
    const open = packs.filter((pack) => pack.verdict === 'none').length
    const isNone = open > 0 && open === packs.length
    const found = isNone
      ? t('No pack was compared: choose the versions that you have under Updates.')
      : t('Nothing that could be compared breaks.')
    const advice = open > 0 && !isNone && t('Choose the versions of the other packs.')
    return <Note>{[found, advice, left].filter(Boolean).join(' ')}</Note>
  }
  const values = { breaks, mayBreak }
  const sentence =
    mayBreak === 0
      ? t('Updates break it in {breaks, plural, one {# place} other {# places}}.', values)
      : breaks === 0
        ? t('Updates may break it in {mayBreak, plural, one {# place} other {# places}}.', values)
        : t(
            'Updates break it in {breaks, plural, one {# place} other {# places}}, and may break it in {mayBreak, plural, one {# place} other {# places}}.',
            values,
          )
  return (
    <Note tone={breaks > 0 ? 'bad' : 'warn'}>{[sentence, left].filter(Boolean).join(' ')}</Note>
  )
}
