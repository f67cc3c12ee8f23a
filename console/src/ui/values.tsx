import { useEffect, useState, type ReactNode } from 'react'

import { makeStore, useStore } from '../api/store.ts'
import { wordsOf, type Tone } from '../words/states.ts'
import { showBytes, showControls, showTime } from '../words/text.ts'
import styles from './show.module.css'

/** What a stranger wrote: text alone, apart from the direction of what stands around it, with its hidden characters shown. */
export const Bdi = ({ as: Box, children = '', ...props }: BdiProps) => {
  const text = <bdi>{showControls(children)}</bdi>
  return Box ? <Box {...props}>{text}</Box> : text
}

interface BdiProps {
  children: string | undefined
  as?: 'b' | 'code' | 'p' | 'span' | 'strong'
  className?: string
  title?: string
}

/** Text for screen readers alone. */
export const Hidden = ({ children }: { children: ReactNode }) => (
  <span className="hidden-text">{children}</span>
)

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

/** A state in words and with an icon; the API's own word is the tooltip. */
export const StateBadge = ({ state, suffix }: { state: string; suffix?: string }) => {
  const { word, tone, Icon } = wordsOf(state)
  return (
    <span className={`${styles.badge} ${tone}`} title={state}>
      <Icon aria-hidden />
      {suffix ? `${word} ${suffix}` : word}
    </span>
  )
}

export const Badge = ({ tone = 'soft', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${styles.badge} ${tone}`}>
    {typeof children === 'string' ? <Bdi>{children}</Bdi> : children}
  </span>
)

interface TileProps {
  src: string | undefined
  name: string
  /** Pixels. */
  size?: number
}

/** A small picture of the service's own addresses; where there is none, a tile with the first letter. */
export const Tile = ({ src, name, size = 40 }: TileProps) => {
  const [broken, setBroken] = useState<string>()
  return (
    <span className={styles.tile} style={{ width: size, height: size }} aria-hidden>
      {src === undefined || src === broken ? (
        <bdi>{showControls([...name.trim()][0] ?? '?').toUpperCase()}</bdi>
      ) : (
        <img src={src} alt="" loading="lazy" onError={() => setBroken(src)} />
      )}
    </span>
  )
}
