import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { Fragment, memo, Suspense, useMemo, useState } from 'react'
import { CheckboxGroup } from 'react-aria-components/CheckboxGroup'

import { serviceQuery } from '../api/queries.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import { Button } from '../ui/button.tsx'
import { AddressField, Checkbox, Segments, Select } from '../ui/fields.tsx'
import { Link, nodePage } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Empty, NoPacks, PageTitle, Row, Show, Stack } from '../ui/panels.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Badge, Bdi, Hidden, Tile, Time } from '../ui/values.tsx'
import { partsOfAny, showNumber } from '../words/language.ts'
import { nameSystem } from '../words/systems.ts'
import { showControls } from '../words/text.ts'
import { rich, t } from '../words/translate.ts'
import { Front } from './front.tsx'
import { facetsQuery, iconOf, nodeQuery, searchQuery, versionsQuery } from './queries.ts'
import type { Filter, Found as FoundPage, Node } from './queries.ts'
import styles from './registry.module.css'
import { SORTS } from './sorts.ts'
import { readLicense } from './standing.ts'

const route = getRouteApi('/registry')

const PLACES = {
  names: t('Names, descriptions'),
  'host-nodes': t('Nodes'),
  repository: t('Repository'),
}

const FACETS = {
  os: t('Operating system'),
  accelerator: t('Accelerators'),
  license: t('License'),
  tag: t('Tags'),
}
const FACET_NAMES = Object.keys(FACETS) as (keyof typeof FACETS)[]

// Each part reads what it shows: a key renders the rows, not all of the page for each step of their query.
export const Page = () => (
  <>
    <PageTitle>{t('Registry')}</PageTitle>
    <SearchBar />
    <Lead />
    <div className={`split ${styles.results}`}>
      <Side />
      <Found />
    </div>
  </>
)

const useFacets = () => {
  const list = useList()
  const enabled = !list.isPending && !list.isFetching
  return useQuery({ ...facetsQuery(route.useSearch()), enabled }).data?.facets
}

const Side = () => {
  const facets = useFacets()
  const chosen = countChosen(route.useSearch())
  const isNone = facets && chosen === 0 && FACET_NAMES.every((name) => facets[name].length === 0)
  return (
    <aside aria-label={t('Filters')} className={`screen ${isNone ? styles.none : ''}`}>
      <Filters />
    </aside>
  )
}

/** So few packs are seen at a glance. */
const FEW = 6

const Lead = () => {
  const isAsked = Object.values(route.useSearch()).some((value) => value !== undefined)
  const total = useList().data?.pages[0]?.total ?? 0
  return !isAsked && total > FEW && <Front />
}

const useDepth = () => useQuery(serviceQuery).data?.limits.search_depth ?? 0

const useList = () => useInfiniteQuery(searchQuery(route.useSearch(), useDepth()))

const countChosen = (filter: Filter): number =>
  FACET_NAMES.reduce((sum, name) => sum + (filter[name]?.length ?? 0), 0)

// A phone alone has it.
const Dialog = lazyPart(async () => (await import('../ui/layers.tsx')).Dialog)

const SearchBar = () => {
  // The text is the field's: a key renders no choice.
  const filter: Filter = route.useSearch({
    select: ({ q: _text, ...others }) => others,
    structuralSharing: true,
  })
  const change = useChangeSearch()
  const queries = useQueryClient()
  const depth = useDepth()
  const prepare = (q: string | undefined): void =>
    void queries.prefetchInfiniteQuery(searchQuery({ ...filter, q }, depth))
  const [isOpen, setIsOpen] = useState(false)
  const chosen = countChosen(filter)
  return (
    <div className={`stack tight ${styles.search}`}>
      <AddressField
        label={t('Search the registry')}
        placeholder={t('Search packs')}
        prepare={prepare}
      />
      <Segments
        label={t('Search in')}
        isLabelHidden
        options={PLACES}
        value={filter.in ?? 'names'}
        onChange={(place) => change({ in: place === 'names' ? undefined : place })}
      />
      <Select
        label={t('Sort by')}
        isLabelHidden
        options={SORTS}
        value={filter.sort ?? ''}
        onChange={(sort) => change({ sort })}
      />
      <div className="phone">
        <Button onPress={() => setIsOpen(true)}>
          <SlidersHorizontal aria-hidden />
          {t('Filters')}
          {chosen > 0 && ` (${chosen})`}
        </Button>
      </div>
      <Suspense>
        {isOpen && (
          <Dialog title={t('Filters')} onClose={() => setIsOpen(false)}>
            <Filters />
          </Dialog>
        )}
      </Suspense>
    </div>
  )
}

const Found = () => {
  const filter = route.useSearch()
  const change = useChangeSearch()
  const list = useList()
  const clear = (): void =>
    change(Object.fromEntries(FACET_NAMES.map((name) => [name, undefined])), { replace: false })
  return (
    <Show query={list}>
      {({ pages }) => (
        <div aria-busy={list.isPlaceholderData}>
          <p className={`soft row apart ${styles.line}`} role="status">
            {t('{count, plural, one {# pack} other {# packs}}', { count: pages[0]?.total ?? 0 })}
            {countChosen(filter) > 0 && (
              <Button variant="quiet" onPress={clear}>
                {t('Clear filters')}
              </Button>
            )}
          </p>
          <Results />
        </div>
      )}
    </Show>
  )
}

const Filters = () => {
  const filter: Filter = route.useSearch()
  const facets = useFacets()
  return (
    <Stack>
      {FACET_NAMES.map((name) => (
        <Facet key={name} name={name} chosen={filter[name]} counts={facets?.[name]} />
      ))}
    </Stack>
  )
}

interface FacetProps {
  name: keyof typeof FACETS
  chosen?: string[]
  counts?: readonly { value: string; count: number }[]
}

const Facet = memo(({ name, chosen = [], counts = [] }: FacetProps) => {
  const change = useChangeSearch()
  const rare = chosen.filter((value) => !counts.some((one) => one.value === value))
  const named = [...counts, ...rare.map((value) => ({ value, count: 0 }))].map((one) => ({
    ...one,
    label: name === 'tag' || name === 'license' ? one.value : nameSystem(one.value),
  }))
  // Packs spell one system in several ways; the service knows them all as one.
  const values = named.filter(
    ({ label, value }, place) =>
      chosen.includes(value) || named.findIndex((other) => other.label === label) === place,
  )
  if (values.length === 0) return null
  return (
    <CheckboxGroup
      aria-label={FACETS[name]}
      value={chosen}
      onChange={(next) => change({ [name]: next }, { replace: false })}
    >
      <strong>{FACETS[name]}</strong>
      {values.map(({ value, count, label }) => (
        <Checkbox
          key={value}
          value={value}
          label={
            <>
              <Bdi>{label}</Bdi> <small className="soft">{showNumber(count)}</small>
            </>
          }
        />
      ))}
    </CheckboxGroup>
  )
})

/** Packs that can be installed come first. */
const withoutVersionLast = (a: Node, b: Node): number =>
  Number(a.latest_version === undefined) - Number(b.latest_version === undefined)

interface Hit {
  node: Node
  matched: string[] | undefined
}

const listRows = (pages: readonly FoundPage[], sort: Filter['sort']): Hit[] =>
  pages.flatMap((page) =>
    (sort ? page.nodes : page.nodes.toSorted(withoutVersionLast)).map((node) => ({
      node,
      matched: page.matched_host_nodes?.[node.id],
    })),
  )

const drawRow = (hit: Hit) => <NodeRow {...hit} />

const Results = () => {
  const list = useList()
  const pages = list.data?.pages ?? []
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const filter = route.useSearch()
  const { data } = list
  // The same while the next response is awaited: a key renders no row that stays.
  const rows = useMemo(() => listRows(data?.pages ?? [], filter.sort), [data, filter.sort])
  // Of all packs, whatever the filter.
  const all = useQuery({
    ...facetsQuery({}),
    enabled: list.data !== undefined && rows.length === 0,
  })
  const isAsked = filter.q !== undefined || countChosen(filter) > 0
  if (rows.length === 0 && (!isAsked || all.data?.total === 0)) return <NoPacks />
  if (rows.length === 0)
    return (
      <Empty>
        <Bdi as="p">
          {filter.q ? t('No packs match “{q}”.', { q: filter.q }) : t('No packs match.')}
        </Bdi>
        <Meant nodes={pages[0]?.did_you_mean ?? []} isFiltered={countChosen(filter) > 0} />
        {filter.q !== undefined && filter.in === undefined && (
          <Link to="." search={{ ...filter, in: 'host-nodes' }}>
            {t('Search nodes for “{q}”', { q: filter.q })}
          </Link>
        )}
      </Empty>
    )
  return (
    <EndlessList
      key={pages[0]?.filter}
      label={t('Packs')}
      rows={rows}
      keyOf={({ node }) => node.id}
      height={96}
      total={pages[0]?.total}
      query={list}
      onTop={() => void queries.resetQueries({ queryKey: ['search'] })}
      onOpen={({ node }) => void navigate(nodePage(node.id))}
    >
      {drawRow}
    </EndlessList>
  )
}

interface MeantProps {
  nodes: readonly (Pick<Node, 'id' | 'name'> & { host_node?: string })[]
  isFiltered: boolean
}

const Meant = ({ nodes, isFiltered }: MeantProps) => {
  if (nodes.length === 0)
    return (
      <p>{isFiltered ? t('Check the spelling or clear filters.') : t('Check the spelling.')}</p>
    )
  const links = nodes.map(({ id, name, host_node: hostNode }) => (
    <Link key={id} {...nodePage(id)}>
      {hostNode ? `${hostNode} (${name})` : name}
    </Link>
  ))
  // The words of a list are the places of its links.
  const parts = partsOfAny(links.map((_, place) => String(place)))
  const list = parts.map(({ type, value }) => (type === 'element' ? links[Number(value)] : value))
  return <p>{rich('Did you mean {list}?', { list })}</p>
}

const NodeRow = ({ node, matched = [] }: Hit) => {
  const queries = useQueryClient()
  const { id, name, latest_version: latest, license } = node
  const systems = [...node.supported_os, ...node.supported_accelerators].map(nameSystem)
  const marks = [
    ...new Set([...(license ? [readLicense(license)] : []), ...systems, ...node.tags]),
  ].slice(0, 6)
  // What the row knows is shown at once; the versions come meanwhile.
  const prepare = (): void => {
    const { queryKey } = nodeQuery(id)
    if (!queries.getQueryData(queryKey)) queries.setQueryData(queryKey, node)
    void queries.prefetchQuery(versionsQuery(id))
  }
  return (
    <div className={`soft ${styles.row}`} onPointerEnter={prepare} onFocus={prepare}>
      <Tile src={iconOf(node)} name={name} />
      <div>
        <p className="cut">
          <Link {...nodePage(id)} className="row-link">
            {name}
          </Link>{' '}
          <Bdi>{node.publisher.name}</Bdi>{' '}
          {node.status !== 'NodeStatusActive' && <Badge tone="bad">{t('banned')}</Badge>}
          {latest?.deprecated && <Badge tone="warn">{t('deprecated')}</Badge>}
        </p>
        <Bdi as="p" className="cut">
          {node.description}
        </Bdi>
        {matched.length === 0 && marks.length > 0 && (
          <p className="cut">
            {marks.map((one) => (
              <Fragment key={one}>
                <Badge>{one}</Badge>{' '}
              </Fragment>
            ))}
          </p>
        )}
        {matched.length > 0 && (
          <p className="cut" title={showControls(matched.join(', '))}>
            <Hidden>{t('Nodes')}: </Hidden>
            {matched.map((one) => (
              <Fragment key={one}>
                <Badge tone="info">{one}</Badge>{' '}
              </Fragment>
            ))}
          </p>
        )}
      </div>
      <div className={`small ${styles.summary}`}>
        <Row>
          <b>{latest?.version ?? t('No version')}</b>
          {latest && <Time at={latest.createdAt} />}
        </Row>
        <span>
          {t('{count, plural, one {# download} other {# downloads}}', { count: node.downloads })}
        </span>
        {node.github_stars > 0 && (
          <span>
            {t('{count, plural, one {# star} other {# stars}}', { count: node.github_stars })}
          </span>
        )}
      </div>
    </div>
  )
}
