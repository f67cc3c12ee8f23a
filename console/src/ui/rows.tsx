import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { ReactNode } from 'react'

import { Button } from './button.tsx'
import { Table } from './list.tsx'
import { Empty, Show } from './panels.tsx'

interface RowsProps<Row> {
  label: string
  rows: readonly Row[]
  /** What stands in each column, by its title. */
  columns: Readonly<Record<string, (row: Row) => ReactNode>>
  /** Stands below a row, over its whole width. */
  below?(row: Row): ReactNode
  /** What is said where there is none. */
  empty: ReactNode
}

/** A table that is written down as data: a column each, and a sentence where there is no row. */
export const Rows = <Row,>({ label, rows, columns, below, empty }: RowsProps<Row>) => {
  const cells = Object.entries(columns)
  if (rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <Table label={label} columns={Object.keys(columns)}>
      {rows.map((row, index) => {
        const more = below?.(row)
        return (
          <Fragment key={(row as { id?: string }).id ?? index}>
            <tr>
              {cells.map(([name, show]) => (
                <td key={name}>{show(row)}</td>
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
    </Table>
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
  query.hasNextPage ? (
    <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
      Show more
    </Button>
  ) : null
