import type { UseQueryResult } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { CircleCheck, Info, OctagonAlert, TriangleAlert } from 'lucide-react'
import { Fragment, useEffect, useRef, useState, type ReactNode } from 'react'

import { isPassing, KilnError } from '../api/client.ts'
import { inPlainWords } from '../api/issues.ts'
import { nextStep, withoutAdvice } from '../words/errors.ts'
import { showClock } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import { Copied } from './code.tsx'
import { Link, nodePage } from './link.tsx'
import styles from './show.module.css'
import { Bdi, useNow, type Children } from './values.tsx'

type PanelProps = Children & {
  /** Target of links within the page. */
  id?: string
  title: ReactNode
  actions?: ReactNode
}

export const Panel = ({ id, title, actions, children }: PanelProps) => (
  <section id={id} className={`stack ${styles.panel}`}>
    <header className="row apart">
      <h2>{title}</h2>
      {actions && <Row>{actions}</Row>}
    </header>
    {children}
  </section>
)

export const NOTE_ICONS = { ok: CircleCheck, info: Info, warn: TriangleAlert, bad: OctagonAlert }

type NoteProps = Children & { tone?: keyof typeof NOTE_ICONS }

/** Something that is to be known here: what happened, then the next step. */
export const Note = ({ tone = 'info', children }: NoteProps) => {
  const Icon = NOTE_ICONS[tone]
  return (
    <div className={`${styles.note} ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon aria-hidden />
      <div>{children}</div>
    </div>
  )
}

interface ErrorPanelProps {
  error: unknown
  onRetry?: () => void
  /** Details that belong to no field. */
  rest?: readonly string[]
}

/** Why something is not there, what to do, and of an error of the service the id that finds the request in the log. */
export const ErrorPanel = ({ error, onRetry, rest }: ErrorPanelProps) => {
  const failure = error instanceof KilnError ? error : undefined
  // The message repeats the first detail, which stands at its field.
  const isMarked = rest?.length === 0 && (failure?.details.length ?? 0) > 0
  const shorten = (message: string): string =>
    inPlainWords(failure ? withoutAdvice(failure.code, message) : message)
  const text = shorten(error instanceof Error ? error.message : String(error))
  const message = isMarked ? t('Check the marked fields.') : text
  const next = failure && nextStep(failure.code)
  // Asking again is of no use.
  const isFinal = failure?.status === 404 || failure?.status === 403
  const details = (rest ?? failure?.details ?? [])
    .map(shorten)
    .filter((detail) => detail !== message)
  return (
    <Note tone="bad">
      <p>
        <Bdi>{message}</Bdi>
        {next && ` ${next}`}
      </p>
      {details.map((detail) => (
        <Bdi key={detail} as="p">
          {detail}
        </Bdi>
      ))}
      {failure?.requestId && (failure.status ?? 0) >= 500 && (
        <p className="small">
          {t('Request')} <Copied text={failure.requestId} label={t('request id')} />
        </p>
      )}
      {isFinal && <WayOut code={failure.code} />}
      {onRetry && !isFinal && <Button onPress={onRetry}>{t('Try again')}</Button>}
    </Note>
  )
}

/** Link to a list that may have what was not found. */
const WayOut = ({ code }: { code: string }) => {
  const { node } = useParams({ strict: false })
  if (code === 'task_not_found') return <Link to="/tasks">{t('All tasks')}</Link>
  if (code === 'publisher_not_found') return <Link to="/publishers">{t('All publishers')}</Link>
  if (code === 'version_not_found' && node)
    return <Link {...nodePage(node)}>{t('All versions')}</Link>
  return code === 'node_not_found' && <Link to="/registry">{t('All packs')}</Link>
}

/** Nothing is there: a sentence, and what to do. */
export const Empty = ({ children }: Children) => (
  <div className={`stack tight soft ${styles.empty}`}>{children}</div>
)

export const NoPacks = () => (
  <Empty>
    <p>{t('No packs yet')}</p>
    <Link to="/publishers">{t('Publish the first one')}</Link>
  </Empty>
)

/** Rows of the height that the real ones will have. */
export const Loading = ({ rows = 3, height = 56 }: { rows?: number; height?: number }) => (
  <div role="status" aria-label={t('Loading')}>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className={styles.row} style={{ height }} />
    ))}
  </div>
)

/** The part of react-query's result that a panel needs. */
type Asked<T> = Pick<
  UseQueryResult<T>,
  'data' | 'error' | 'failureReason' | 'failureCount' | 'dataUpdatedAt'
> & { refetch(): unknown }

type ShowProps<T> = { query: Asked<T>; loading?: ReactNode; children(data: T): ReactNode }

/** Shows a query in each of its states: loading, rejected, there, and there but old because the service is away. */
export const Show = <T,>({ query, loading = <Loading />, children }: ShowProps<T>) => {
  const { data, error, failureReason: reason } = query
  const isLate = !error && isPassing(reason)
  return (
    <>
      {error && <ErrorPanel error={error} onRetry={() => void query.refetch()} />}
      {isLate && reason.retryAfterSeconds !== undefined && (
        <Waits key={query.failureCount} error={reason} />
      )}
      {data === undefined && !error && loading}
      {data !== undefined && isLate && (
        <p className="soft small">{t('as of {time}', { time: showClock(query.dataUpdatedAt) })}</p>
      )}
      {data !== undefined && children(data)}
    </>
  )
}

/** Reason why a response is late, and seconds until the next attempt. */
const Waits = ({ error: { message, retryAfterSeconds = 0 } }: { error: KilnError }) => {
  const [start] = useState(() => Date.now())
  const left = Math.max(1, Math.ceil(retryAfterSeconds - (useNow() - start) / 1000))
  return (
    <Note tone="warn">
      <Bdi>{message}</Bdi> {t('Trying again in {left} s.', { left })}
    </Note>
  )
}

/** Names and values, below each other; nothing of those without a value. */
export const Facts = ({ of }: { of: Readonly<Record<string, ReactNode>> }) => (
  <dl className={styles.facts}>
    {Object.entries(of).map(
      ([name, value]) =>
        value && (
          <Fragment key={name}>
            <dt className="soft">{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
    )}
  </dl>
)

/** The page that was opened first has the focus where the browser put it. */
let isFirst = true

interface PageTitleProps {
  children: string
  /** Stands left of it. */
  icon?: ReactNode
  /** Stands beside it. */
  extra?: ReactNode
  actions?: ReactNode
}

/** The one h1 of a page, which takes the focus after a navigation, and the title of the window. */
export const PageTitle = ({ children, icon, extra, actions }: PageTitleProps) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Who types already goes on typing.
    const isTyping = document.activeElement?.matches('input, textarea')
    if (!isFirst && !isTyping) title.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <div className={`row ${styles.head}`}>
      <title>{children === 'Kiln' ? children : `${children} · Kiln`}</title>
      {icon}
      <h1 ref={title} tabIndex={-1}>
        <Bdi>{children}</Bdi>
      </h1>
      {extra}
      {actions && <div className={`row ${styles.actions}`}>{actions}</div>}
    </div>
  )
}

/** Things below each other, 16 px apart. */
export const Stack = ({ children }: Children) => <div className="stack">{children}</div>

/** Things beside each other, which go on below when there is no room. */
export const Row = ({ children }: Children) => <div className="row">{children}</div>

/** Panels beside each other, below each other on a phone. */
export const Columns = ({ children }: Children) => <div className="columns">{children}</div>
