import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { memo, useState, type ReactNode } from 'react'

import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import styles from './list.module.css'
import { Empty, Show } from './panels.tsx'
import { Hidden } from './values.tsx'

interface RowsProps<Row> {
  label: string
  rows: readonly Row[]
  /** Content of each column, by its title; that of the actions has none. */
  columns: Readonly<Record<string, (row: Row) => ReactNode>>
  /** Stands below a row, over its whole width. */
  below?(row: Row): ReactNode
  /** Stands there once the row is opened; nothing where there is nothing more to say. */
  details?(row: Row): ReactNode
  empty: ReactNode
}

/** A table that is written down as data, and a sentence where there is no row. On a phone a row is a card whose first cell has a line of its own. */
export const Rows = <Row,>({ label, rows, columns, empty, ...more }: RowsProps<Row>) => {
  if (rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {Object.keys(columns).map((name) => (
            <th key={name} scope="col">
              {name || <Hidden>{t('Actions')}</Hidden>}
            </th>
          ))}
          {more.details && (
            <th scope="col">
              <Hidden>{t('Details')}</Hidden>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <Line key={(row as { id?: string }).id ?? index} row={row} columns={columns} {...more} />
        ))}
      </tbody>
    </table>
  )
}

type LineProps<Row> = Pick<RowsProps<Row>, 'columns' | 'below' | 'details'> & { row: Row }

const LineOf = <Row,>({ row, columns, below, details }: LineProps<Row>) => {
  const [isOpen, setOpen] = useState(false)
  const cells = Object.entries(columns)
  const inside = details?.(row)
  const more = isOpen ? inside : below?.(row)
  return (
    <>
      <tr>
        {cells.map(([name, show]) => (
          <td key={name} data-name={name}>
            {show(row)}
          </td>
        ))}
        {details && (
          <td data-name="">
            {inside && (
              // A table has thousands; this one costs nothing.
              <button
                type="button"
                className={`bare info ${styles.open}`}
                aria-expanded={isOpen}
                onClick={() => setOpen(!isOpen)}
              >
                {t('Details')}
              </button>
            )}
          </td>
        )}
      </tr>
      {more && (
        <tr>
          <td colSpan={cells.length + (details ? 1 : 0)}>{more}</td>
        </tr>
      )}
    </>
  )
}

/** Line that renders again only when its row or the columns change: a long table grows by its new lines alone. */
const Line = memo(LineOf) as typeof LineOf

type ListingProps<Row> = Omit<RowsProps<Row>, 'rows'> & {
  query: UseQueryResult<readonly Row[]> | UseInfiniteQueryResult<readonly Row[]>
}

/** A query as a table, in each of its states; where it has pages, with buttons for those around it. */
export const Listing = <Row,>({ query, ...props }: ListingProps<Row>) => (
  <>
    {'fetchNextPage' in query && <PreviousPage query={query} />}
    <Show query={query}>{(rows) => <Rows {...props} rows={rows} />}</Show>
    {'fetchNextPage' in query && <NextPage query={query} />}
  </>
)

type Paged = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>

export const NextPage = ({ query }: { query: Paged }) =>
  query.hasNextPage && (
    <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
      {t('Show more')}
    </Button>
  )

export const PreviousPage = ({ query }: { query: UseInfiniteQueryResult }) =>
  query.hasPreviousPage && (
    <Button onPress={() => void query.fetchPreviousPage()} isPending={query.isFetchingPreviousPage}>
      {t('Show previous')}
    </Button>
  )

/** So many of the rows, and a button that shows as many more, or `step`. */
export const useMore = <Row,>(rows: readonly Row[], first: number, step = first) => {
  const [max, setMax] = useState(first)
  const left = rows.length - max
  const more = left > 0 && (
    <Button onPress={() => setMax(max + step)}>
      {t('Show {count} more of {total}', { count: Math.min(step, left), total: rows.length })}
    </Button>
  )
  return { shown: rows.slice(0, max), more }
}
