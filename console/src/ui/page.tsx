import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'

import { Bdi } from './values.tsx'
import styles from './page.module.css'

/** The page that was opened first has the focus where the browser put it. */
let isFirst = true

interface PageTitleProps {
  children: string
  /** Stands beside it. */
  extra?: ReactNode
  actions?: ReactNode
}

/** The one h1 of a page, which takes the focus after a navigation, and the title of the window. */
export const PageTitle = ({ children, extra, actions }: PageTitleProps) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Who types already goes on typing.
    const isTyping = document.activeElement?.matches('input, textarea')
    if (!isFirst && !isTyping) title.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <div className={styles.head}>
      <title>{`${children} · Kiln`}</title>
      <h1 ref={title} tabIndex={-1}>
        <Bdi>{children}</Bdi>
      </h1>
      {extra}
      {actions && (
        <div className={styles.actions}>
          <Row>{actions}</Row>
        </div>
      )}
    </div>
  )
}

/** Things below each other, 16 px apart. */
export const Stack = ({ children }: { children: ReactNode }) => (
  <div className={styles.stack}>{children}</div>
)

/** Things beside each other, which go on below when there is no room. */
export const Row = ({ children }: { children: ReactNode }) => (
  <div className={styles.row}>{children}</div>
)

/** Panels beside each other, below each other on a phone. */
export const Columns = ({ children }: { children: ReactNode }) => (
  <div className={styles.columns}>{children}</div>
)
