import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

import { useKeys } from '../shell/keys.ts'
import { shortcutsAreOn } from '../shell/settings.ts'
import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import { Empty, ErrorPanel } from './panels.tsx'
import styles from './list.module.css'

/** Members of `useInfiniteQuery` that a list needs. */
export type EndlessQuery = Pick<
  UseInfiniteQueryResult,
  'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
>

interface EndlessListProps<Row> {
  label: string
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Pixels of a row, the same for all. */
  height: number
  children(row: Row): ReactNode
  /** Enter on a row. */
  onOpen(row: Row): void
  /** Further keys of a focused row, such as `c`; true: it was for the row. */
  onKey?(key: string, row: Row): boolean
  /** The query that the rows are of, where not all of them are read at once. */
  query?: EndlessQuery
  /** Number of all rows, where it is known. */
  total?: number
  /** Reads the list from its beginning, where `maxPages` has dropped that. */
  onTop?(): void
}

/**
 * A list as long as there are rows, of which only those in sight are in the page; it scrolls with the window. `j k` and the
 * arrows go from row to row, `j k` into it, too. Rows that `maxPages` drops at the beginning leave their room, so that nothing jumps.
 */
export const EndlessList = <Row,>(props: EndlessListProps<Row>) => {
  const { rows, keyOf, height, query } = props
  const list = useRef<HTMLUListElement>(null)
  const wished = useRef<number>(undefined)
  const dropped = useDropped(rows, keyOf)
  const count = dropped + rows.length
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: 4,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => (index < dropped ? index : keyOf(rows[index - dropped] as Row)),
  })
  const items = virtualizer.getVirtualItems()
  const isNearEnd = (items.at(-1)?.index ?? -1) >= count - 10
  const readsMore =
    query?.hasNextPage && !query.isFetchingNextPage && !query.isFetchNextPageError && isNearEnd
  useEffect(() => {
    if (readsMore) void query?.fetchNextPage()
  }, [readsMore, query])
  const focusRow = (index: number): void => {
    if (index < dropped || index >= count) return
    wished.current = index
    virtualizer.scrollToIndex(index, { align: 'auto' })
    const row = list.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)
    row?.focus({ preventScroll: true })
  }
  const shown = items.filter(({ index }) => index >= dropped)
  const enter = (): void => {
    if (!list.current?.contains(document.activeElement)) focusRow(shown[0]?.index ?? 0)
  }
  useKeys({ j: enter, k: enter })
  return (
    <>
      {shown.length < items.length && props.onTop && (
        <p className={styles.top}>
          <Button onPress={props.onTop}>{t('Back to the first rows')}</Button>
        </p>
      )}
      <ul
        ref={list}
        className={styles.list}
        aria-label={props.label}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {shown.map(({ index, key, start }) => {
          const row = rows[index - dropped] as Row
          const top = start - virtualizer.options.scrollMargin
          return (
            <li
              key={key}
              ref={(element) => {
                if (wished.current !== index) return
                element?.focus({ preventScroll: true })
                wished.current = undefined
              }}
              data-index={index}
              className={styles.row}
              aria-posinset={index + 1}
              aria-setsize={props.total ?? (query?.hasNextPage ? -1 : count)}
              tabIndex={index === shown[0]?.index ? 0 : -1}
              style={{ height, transform: `translateY(${top}px)` }}
              onKeyDown={(event) => pressed(event, props, { row, index, focusRow })}
            >
              <Content row={row} of={props.children as (row: unknown) => ReactNode} />
            </li>
          )
        })}
      </ul>
      {query?.isFetchNextPageError && (
        <ErrorPanel error={query.error} onRetry={() => void query.fetchNextPage()} />
      )}
      {query?.isFetchingNextPage && <Empty>{t('Loading more …')}</Empty>}
    </>
  )
}

/** A row that is rendered once while the list scrolls under it. */
const Content = memo(({ row, of }: { row: unknown; of(row: unknown): ReactNode }) => of(row))

/** Counts the rows that were dropped at the beginning, by the place of the row that was first. */
const useDropped = <Row,>(rows: readonly Row[], keyOf: (row: Row) => string): number => {
  const [seen, setSeen] = useState({ rows, dropped: 0 })
  if (seen.rows !== rows) {
    const first = rows[0] && keyOf(rows[0])
    const place = seen.rows.findIndex((row) => keyOf(row) === first)
    setSeen({ rows, dropped: place === -1 ? 0 : seen.dropped + place })
  }
  return seen.dropped
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

const pressed = <Row,>(
  event: KeyboardEvent<HTMLLIElement>,
  { onOpen, onKey }: EndlessListProps<Row>,
  { row, index, focusRow }: { row: Row; index: number; focusRow(index: number): void },
): void => {
  const { key, target, currentTarget } = event
  if (target !== currentTarget || event.ctrlKey || event.metaKey || event.altKey) return
  const isLetter = key.length === 1
  if (isLetter && !shortcutsAreOn()) return
  const step = STEPS[key]
  if (step !== undefined) focusRow(index + step)
  else if (key === 'Enter') onOpen(row)
  else if (!onKey?.(key, row)) return
  event.preventDefault()
}
