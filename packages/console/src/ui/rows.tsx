import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { Fragment, useState, type ReactNode } from 'react'

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
  empty: ReactNode
}

/** A table that is written down as data, and a sentence where there is no row. On a phone a row is a card whose first cell has a line of its own. */
export const Rows = <Row,>({ label, rows, columns, below, empty }: RowsProps<Row>) => {
  const cells = Object.entries(columns)
  if (rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {cells.map(([name]) => (
            <th key={name} scope="col">
              {name || <Hidden>Actions</Hidden>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => {
          const more = below?.(row)
          return (
            <Fragment key={(row as { id?: string }).id ?? index}>
              <tr>
                {cells.map(([name, show]) => (
                  <td key={name} data-name={name}>
                    {show(row)}
                  </td>
                ))}
              </tr>
              {more && (
                <tr>
                  <td colSpan={cells.length}>{more}</td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}

type ListingProps<Row> = Omit<RowsProps<Row>, 'rows'> & {
  query: UseQueryResult<readonly Row[]> | UseInfiniteQueryResult<readonly Row[]>
}

/** A query as a table, in each of its states; where it has pages, with a button for the next one. */
export const Listing = <Row,>({ query, ...props }: ListingProps<Row>) => (
  <>
    <Show query={query}>{(rows) => <Rows {...props} rows={rows} />}</Show>
    {'fetchNextPage' in query && <NextPage query={query} />}
  </>
)

type Paged = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>

export const NextPage = ({ query }: { query: Paged }) =>
  query.hasNextPage && (
    <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
      Show more
    </Button>
  )

/** So many of the rows, and a button that shows as many more, or `step`. */
export const useMore = <Row,>(rows: readonly Row[], first: number, step = first) => {
  const [most, setMost] = useState(first)
  const left = rows.length - most
  const more = left > 0 && (
    <Button onPress={() => setMost(most + step)}>
      Show {Math.min(step, left)} more of {rows.length}
    </Button>
  )
  return { shown: rows.slice(0, most), more }
}
