import { CircleCheck, Info, OctagonAlert, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'

import { isPassing, KilnError } from '../api/client.ts'
import { nextStep } from '../words/errors.ts'
import { Button } from './button.tsx'
import { Copied } from './code.tsx'
import { Bdi } from './text.tsx'
import { useNow } from './values.tsx'
import styles from './show.module.css'

export const Panel = ({
  title,
  level = 2,
  actions,
  children,
}: {
  title: ReactNode
  level?: 2 | 3
  actions?: ReactNode
  children: ReactNode
}) => {
  const Title = level === 2 ? 'h2' : 'h3'
  return (
    <section className={styles.panel}>
      <header>
        <Title>{title}</Title>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  )
}

const NOTE_ICONS = { ok: CircleCheck, info: Info, warn: TriangleAlert, bad: OctagonAlert }

/** Something that is to be known here: what happened, then the next step. */
export const Note = ({
  tone = 'info',
  children,
}: {
  tone?: keyof typeof NOTE_ICONS
  children: ReactNode
}) => {
  const Icon = NOTE_ICONS[tone]
  return (
    <div
      className={`${styles.note} ${styles[tone] ?? ''}`}
      role={tone === 'bad' ? 'alert' : undefined}
    >
      <Icon aria-hidden />
      <div>{children}</div>
    </div>
  )
}

/** Why something is not there, what to do, and the id that finds the request in the log. `rest` stands for its details. */
export const ErrorPanel = ({
  error,
  onRetry,
  rest,
}: {
  error: unknown
  onRetry?: () => void
  rest?: readonly string[]
}) => {
  const fault = error instanceof KilnError ? error : undefined
  // The message repeats the first detail, which stands at its field.
  const isMarked = rest?.length === 0 && (fault?.details.length ?? 0) > 0
  const message = isMarked ? 'The marked fields are not right yet.' : textOf(error)
  const next = fault && nextStep(fault.code)
  return (
    <Note tone="bad">
      <p>
        <Bdi>{message}</Bdi>
        {next && ` ${next}`}
      </p>
      <Details items={(rest ?? fault?.details ?? []).filter((detail) => detail !== message)} />
      {fault?.requestId && (
        <p className={styles.small}>
          Request <Copied text={fault.requestId} label="request id" />
        </p>
      )}
      {onRetry && <Button onPress={onRetry}>Try again</Button>}
    </Note>
  )
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const Details = ({ items }: { items: readonly string[] }) =>
  items.length === 0 ? null : (
    <ul>
      {items.map((item) => (
        <li key={item}>
          <Bdi>{item}</Bdi>
        </li>
      ))}
    </ul>
  )

/** Nothing is there: a sentence, and what to do. */
export const Empty = ({ children }: { children: ReactNode }) => (
  <div className={styles.empty}>{children}</div>
)

/** Rows of the height that the real ones will have. */
export const Loading = ({ rows = 3, height = 56 }: { rows?: number; height?: number }) => (
  <div role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className={styles.row} style={{ height }} />
    ))}
  </div>
)

/** The part of react-query's answer that a panel needs. */
interface Asked<T> {
  data: T | undefined
  error: Error | null
  failureReason: Error | null
  failureCount: number
  dataUpdatedAt: number
  refetch(): unknown
}

/** Shows a query in each of its states: loading, refused, there, and there but old because the service is away. */
export const Show = <T,>({
  query,
  loading = <Loading />,
  children,
}: {
  query: Asked<T>
  loading?: ReactNode
  children(data: T): ReactNode
}) => {
  const { data, error, failureReason: reason } = query
  const waits = !error && isPassing(reason) && reason.retryAfterSeconds !== undefined && (
    <Waits key={query.failureCount} message={reason.message} seconds={reason.retryAfterSeconds} />
  )
  if (data === undefined)
    return error ? (
      <ErrorPanel error={error} onRetry={() => void query.refetch()} />
    ) : (
      <>
        {waits}
        {loading}
      </>
    )
  return (
    <>
      {error && <ErrorPanel error={error} onRetry={() => void query.refetch()} />}
      {waits}
      {!error && isPassing(reason) && <AsOf at={query.dataUpdatedAt} />}
      {children(data)}
    </>
  )
}

/** Why an answer is late, and when it is asked for again. */
const Waits = ({ message, seconds }: { message: string; seconds: number }) => {
  const [start] = useState(() => Date.now())
  const left = Math.max(1, Math.ceil(seconds - (useNow() - start) / 1000))
  return (
    <Note tone="warn">
      <p>
        <Bdi>{message}</Bdi> Trying again in {left} s.
      </p>
    </Note>
  )
}

const AsOf = ({ at }: { at: number }) => {
  useNow()
  return <p className={styles.small}>as of {new Date(at).toLocaleTimeString('en-GB')}</p>
}

/** Names and values, below each other. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <dl className={styles.facts}>{children}</dl>
)

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
