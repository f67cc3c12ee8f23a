import { showBytes as showEnglishBytes } from '../../../client/src/cli/words.ts'
import { DATE, showNumber, showOnePlace } from './language.ts'
import { t } from './translate.ts'

/** Control characters but line ends and tabs, and those that turn the direction of text or have no width. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Shows characters that would hide or turn what stands beside them, as `U+202E`. */
export const showControls = (text: string): string =>
  text.replace(
    UNSEEN,
    (char) => `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

const POINT = showOnePlace(0.5).charAt(1)

/** `1.2 MB`; units of 1000, as the API's limits are said. */
export const showBytes = (bytes: number): string => showEnglishBytes(bytes).replace('.', POINT)

/** `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d`. */
export const showSeconds = (seconds: number): string => {
  if (seconds < 1) return t('{count} ms', { count: Math.round(seconds * 1000) })
  if (seconds < 10) return t('{count} s', { count: showOnePlace(seconds) })
  if (seconds < 60) return t('{count} s', { count: Math.round(seconds) })
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return join(t('{count} min', { count: minutes }), t('{count} s'), seconds % 60)
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return join(t('{count} h', { count: hours }), t('{count} min'), minutes % 60)
  return t('{count} d', { count: Math.floor(hours / 24) })
}

/** `4 s`: what is estimated has no places. */
export const showWholeSeconds = (seconds: number): string =>
  showSeconds(Math.ceil(seconds)).replace(`${POINT}0`, '')

const join = (large: string, unit: string, rest: number): string => {
  const count = Math.round(rest)
  return count === 0 ? large : `${large} ${t(unit, { count })}`
}

/** Both percentiles of a time, `12 s · 2 min`; a dash where nothing was measured. */
export const showTimes = ({ p50, p95 }: { p50: number | null; p95: number | null }): string =>
  p50 === null || p95 === null ? '–' : `${showSeconds(p50)} · ${showSeconds(p95)}`

/** `a, b and 3 more`. */
export const listSome = (names: readonly string[], max = 8): string => {
  const first = names.slice(0, max).join(', ')
  if (names.length <= max) return first
  return t('{names} and {count} more', { names: first, count: names.length - max })
}

interface Credits {
  credit_used: number
  /** Null where nothing limits them. */
  credit_remain: number | null
}

/** `960 of 5,000 credits`, or `960 credits used, no limit`. */
export const aboutCredits = ({ credit_used: used, credit_remain: left }: Credits): string =>
  left === null
    ? t('{count, plural, one {# credit} other {# credits}} used, no limit', { count: used })
    : t('{used} of {count, plural, one {# credit} other {# credits}}', {
        used: showNumber(used),
        count: used + left,
      })

/** Days in which a key is marked; the service warns of it by an event for as long. */
const WARNED_DAYS = 7

/** Says how long a key goes on that ends within a week; undefined of any other. */
export const showDaysLeft = (end: Date, now: number): string | undefined => {
  const days = (end.getTime() - now) / 86_400_000
  if (days > WARNED_DAYS) return undefined
  return days < 1
    ? t('less than a day left')
    : t('{count, plural, one {# day} other {# days}} left', { count: Math.floor(days) })
}

/** `now`, `12 s ago`, `in 3 min`; from a day on the date. */
export const showTime = (time: Date, now: number): string => {
  const seconds = Math.round((now - time.getTime()) / 1000)
  const size = Math.abs(seconds)
  if (size >= 86_400) return DATE.format(time)
  if (size < 5) return t('now')
  // One unit says enough: 3 min 20 s are 3 min.
  const unit = size >= 3600 ? 3600 : size >= 60 ? 60 : 1
  const amount = showWholeSeconds(Math.floor(size / unit) * unit)
  return seconds > 0 ? t('{amount} ago', { amount }) : t('in {amount}', { amount })
}
