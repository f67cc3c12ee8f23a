import { useEffect } from 'react'

import { makeStore, useStore } from '../api/store.ts'
import { showBytes, showTime } from '../words/text.ts'
import styles from './show.module.css'

/** One clock for all times of the page. */
const clock = makeStore(Date.now())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The time in milliseconds, which goes on every second while the tab is seen. */
export const useNow = (): number => {
  useEffect(() => {
    watchers += 1
    timer ??= setInterval(() => document.hidden || clock.set(Date.now()), 1000)
    return () => {
      watchers -= 1
      if (watchers > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return useStore(clock)
}

interface TimeProps {
  at: string | undefined | null
  /** What is said where there is no time. */
  none?: string
}

/** A time as `3 min ago`, from a day on as a date; in full in the tooltip. */
export const Time = ({ at, none = '–' }: TimeProps) => {
  const now = useNow()
  if (!at) return none
  const time = new Date(at)
  return (
    <time dateTime={at} title={time.toLocaleString('en', { dateStyle: 'full', timeStyle: 'long' })}>
      {showTime(time, now)}
    </time>
  )
}

export const Bytes = ({ count }: { count: number }) => (
  <span title={`${count.toLocaleString('en')} bytes`}>{showBytes(count)}</span>
)

/** A part from 0 to 1. Without a value it only says that something goes on. */
export const Progress = ({ part, label }: { part: number | undefined; label: string }) => (
  <div
    className={styles.bar}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={part === undefined ? undefined : Math.round(part * 100)}
  >
    <div style={{ width: `${(part ?? 0.1) * 100}%` }} />
  </div>
)
