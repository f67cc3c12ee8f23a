import { counted, showBytes } from '../../../client/src/cli/words.ts'

export { counted, showBytes }

/** Control characters but line ends and tabs, and those that turn the direction of text or have no width. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Shows characters that would hide or turn what stands beside them, as `U+202E`. */
export const showControls = (text: string): string =>
  text.replace(
    UNSEEN,
    (char) => `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

/** `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d`. */
export const showSeconds = (seconds: number): string => {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`.replace(/ 0 s$/, '')
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`.replace(/ 0 min$/, '')
  return `${Math.floor(hours / 24)} d`
}

/** Both percentiles of a time, `12 s · 2 min`; a dash where nothing was measured. */
export const showTimes = ({ p50, p95 }: { p50: number | null; p95: number | null }): string =>
  p50 === null || p95 === null ? '–' : `${showSeconds(p50)} · ${showSeconds(p95)}`

interface Credits {
  credit_used: number
  /** Null where nothing limits them. */
  credit_remain: number | null
}

/** `960 of 5,000 credits`, or `960 credits used, no limit`. */
export const aboutCredits = ({ credit_used: used, credit_remain: left }: Credits): string =>
  left === null
    ? `${counted(used, 'credit')} used, no limit`
    : `${used.toLocaleString('en')} of ${counted(used + left, 'credit')}`

/** Days in which a key is marked; the service warns of it by an event for as long. */
const WARNED_DAYS = 7

/** Says how long a key goes on that ends within a week; undefined of any other. */
export const showDaysLeft = (end: Date, now: number): string | undefined => {
  const days = (end.getTime() - now) / 86_400_000
  if (days > WARNED_DAYS) return undefined
  return days < 1 ? 'less than a day left' : `${counted(Math.floor(days), 'day')} left`
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

/** `now`, `12 s ago`, `in 3 min`; from a day on the date. */
export const showTime = (time: Date, now: number): string => {
  const seconds = Math.round((now - time.getTime()) / 1000)
  const size = Math.abs(seconds)
  if (size >= 86_400) return DAY.format(time)
  if (size < 5) return 'now'
  const minutes = Math.floor(size / 60)
  const hours = Math.floor(minutes / 60)
  const amount = hours > 0 ? `${hours} h` : minutes > 0 ? `${minutes} min` : `${size} s`
  return seconds > 0 ? `${amount} ago` : `in ${amount}`
}
