import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'

import { serviceQuery } from '../api/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox, Segments, Select, TextField } from '../ui/fields.tsx'
import { Link } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { PageTitle, Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Bdi, Hidden } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { counted, showControls } from '../words/text.ts'
import { facetsQuery, nodeQuery, searchQuery, SORTS, versionsQuery } from './queries.ts'
import type { Filter, Node, Sort } from './queries.ts'
import styles from './search.module.css'
import { useNarrow } from './use-narrow.ts'
import { useTyped } from './use-typed.ts'

const route = getRouteApi('/registry')

const PLACES = [
  { value: 'names', label: 'Names' },
  { value: 'host-nodes', label: 'Host nodes' },
  { value: 'repository', label: 'Repository' },
] as const

/** The fewest entries that every service lets pages lead to. */
const DEPTH = 10_000

export const RegistryPage = () => {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, setIsOpen] = useState(false)
  const depth = useQuery(serviceQuery).data?.limits.search_depth ?? DEPTH
  const list = useInfiniteQuery(searchQuery(filter, depth))
  const facets = useQuery({ ...facetsQuery(filter), enabled: !list.isPending && !list.isFetching })
  const set = (change: Filter, replace = false): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false })
  const [text, type] = useTyped(filter.q, (q) => set({ q }, true))
  const filters = <Filters filter={filter} facets={facets.data} onChange={set} />
  const chosen = FACETS.reduce((sum, { name }) => sum + (filter[name]?.length ?? 0), 0)
  return (
    <>
      <PageTitle>Registry</PageTitle>
      <div className={styles.head}>
        <TextField
          label="Search the registry"
          placeholder="Search nodes"
          isLabelHidden
          isSearch
          type="search"
          maxLength={200}
          value={text}
          onChange={type}
        />
        <Segments
          label="Search in"
          isLabelHidden
          options={PLACES}
          value={filter.in ?? 'names'}
          onChange={(place) => set({ in: place === 'names' ? undefined : place })}
        />
        <Select<Sort>
          label="Sort by"
          isLabelHidden
          options={Object.entries(SORTS).map(([value, label]) => ({ value: value as Sort, label }))}
          value={sortOf(filter.sort)}
          onChange={(sort) => set({ sort: sort === '' ? undefined : sort })}
        />
        <div className={styles.phone}>
          <Button onPress={() => setIsOpen(true)}>
            <SlidersHorizontal aria-hidden />
            Filters{chosen > 0 && ` (${chosen})`}
          </Button>
        </div>
      </div>
      <div className={styles.page}>
        <aside className={styles.side} aria-label="Filters">
          {filters}
        </aside>
        <Show query={list}>
          {({ pages }) => (
            <div className={styles.results} aria-busy={list.isPlaceholderData}>
              <p className={styles.total} role="status">
                {counted(pages[0]?.total ?? 0, 'node')}
                {chosen > 0 && (
                  <Button
                    look="quiet"
                    onPress={() => set({ os: undefined, accelerator: undefined, tag: undefined })}
                  >
                    Clear filters
                  </Button>
                )}
              </p>
              <Results list={list} pages={pages} isSearch={filter.q !== undefined} />
            </div>
          )}
        </Show>
      </div>
      <Dialog title="Filters" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        {filters}
      </Dialog>
    </>
  )
}

const sortOf = (sort = ''): Sort => (sort in SORTS ? (sort as Sort) : '')

const FACETS = [
  { name: 'os', title: 'Systems' },
  { name: 'accelerator', title: 'Accelerators' },
  { name: 'tag', title: 'Tags' },
] as const

type FacetName = (typeof FACETS)[number]['name']
type Facets = Partial<Record<FacetName, { value: string; count: number }[]>>

const Filters = ({
  filter,
  facets,
  onChange,
}: {
  filter: Filter
  facets: Facets | undefined
  onChange(change: Filter): void
}) => (
  <Stack>
    {FACETS.map(({ name, title }) => {
      const chosen = filter[name] ?? []
      const counts = facets?.[name] ?? []
      const rare = chosen.filter((value) => !counts.some((one) => one.value === value))
      const values = [...rare.map((value) => ({ value, count: undefined })), ...counts]
      if (values.length === 0) return null
      return (
        <fieldset key={name} className={styles.facet}>
          <legend>{title}</legend>
          {values.map(({ value, count }) => (
            <Checkbox
              key={value}
              isSelected={chosen.includes(value)}
              onChange={(isOn) => {
                const next = isOn ? [...chosen, value] : chosen.filter((one) => one !== value)
                onChange({ [name]: next.length === 0 ? undefined : next })
              }}
              label={
                <span className={styles.choice}>
                  <Bdi>{value}</Bdi>
                  {count !== undefined && <small>{count.toLocaleString('en')}</small>}
                </span>
              }
            />
          ))}
        </fieldset>
      )
    })}
  </Stack>
)

interface Page {
  nodes: Node[]
  total: number
  filter: string
  matched_host_nodes?: Record<string, string[]>
}

const Results = ({
  list,
  pages,
  isSearch,
}: {
  list: {
    hasNextPage: boolean
    isFetchingNextPage: boolean
    isFetchNextPageError: boolean
    error: Error | null
    fetchNextPage(): unknown
  }
  pages: readonly Page[]
  isSearch: boolean
}) => {
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const isNarrow = useNarrow()
  const rows = pages.flatMap((page) => page.nodes)
  const matched = Object.assign(
    {},
    ...pages.map((page) => page.matched_host_nodes ?? {}),
  ) as Record<string, string[]>
  if (rows.length === 0)
    return (
      <Empty>
        {isSearch
          ? 'No node is found. Try fewer letters, another field, or fewer filters.'
          : 'There are no nodes here yet.'}
      </Empty>
    )
  const hasMatches = Object.keys(matched).length > 0
  return (
    <EndlessList
      key={pages[0]?.filter}
      label="Nodes"
      rows={rows}
      keyOf={({ id }) => id}
      height={(isNarrow ? 84 : 64) + (hasMatches ? 20 : 0)}
      total={pages[0]?.total ?? 0}
      hasMore={list.hasNextPage}
      isLoading={list.isFetchingNextPage}
      error={list.isFetchNextPageError ? list.error : null}
      onMore={() => void list.fetchNextPage()}
      onTop={() => void queries.resetQueries({ queryKey: ['search'] })}
      onOpen={({ id }) => void navigate({ to: '/registry/$node', params: { node: id } })}
    >
      {(node) => (
        <NodeRow node={node} matched={hasMatches ? (matched[node.id] ?? []) : undefined} />
      )}
    </EndlessList>
  )
}

const NodeRow = ({ node, matched }: { node: Node; matched: string[] | undefined }) => {
  const queries = useQueryClient()
  const { id, name, description, publisher, latest_version: latest, downloads } = node
  // What the row knows is shown at once; the versions come meanwhile.
  const prepare = (): void => {
    const { queryKey } = nodeQuery(id)
    if (!queries.getQueryData(queryKey)) queries.setQueryData(queryKey, node)
    void queries.prefetchQuery(versionsQuery(id))
  }
  return (
    <div className={styles.row} onPointerEnter={prepare} onFocus={prepare}>
      <Tile src={iconOf(node)} name={name} size={40} />
      <div className={styles.texts}>
        <div className={styles.line}>
          <Link to="/registry/$node" params={{ node: id }} className={styles.name}>
            <Bdi>{name}</Bdi>
          </Link>
          <span className={styles.soft}>
            <Bdi>{publisher.name}</Bdi>
          </span>
          {node.status !== 'NodeStatusActive' && <Badge tone="bad">banned</Badge>}
        </div>
        <p className={styles.description}>
          <Bdi>{description}</Bdi>
        </p>
        {matched && (
          <p className={styles.matched} title={showControls(matched.join(', '))}>
            {matched.length > 0 && <Hidden>Host nodes: </Hidden>}
            {matched.map((one) => (
              <code key={one}>
                <Bdi>{one}</Bdi>
              </code>
            ))}
          </p>
        )}
      </div>
      <div className={styles.figures}>
        <span>
          {latest ? latest.version : 'no version'}
          {latest && (
            <span className={styles.soft}>
              {' · '}
              <Time at={latest.createdAt} />
            </span>
          )}
        </span>
        <span className={styles.soft}>
          {showCount(downloads)} {downloads === 1 ? 'download' : 'downloads'}
        </span>
      </div>
    </div>
  )
}

const showCount = (count: number): string => count.toLocaleString('en', { notation: 'compact' })

/** The service's own copy of the icon. */
export const iconOf = ({ id, icon }: Node): string | undefined =>
  icon === undefined ? undefined : `/nodes/${encodeURIComponent(id)}/icon`
