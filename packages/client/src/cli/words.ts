import type { Replay } from '../index.ts'

/** `1 task`, `2 tasks`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** `1.2 MB`; units of 1000, as the API's limits are said. */
export const showBytes = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 10 ? Math.round(value) : value.toPrecision(2)} ${units[step]}`
}

/** Says of what was made that an earlier request made it, when, and what has become of it. */
export const describeReplay = (replay: Replay, what: string): string => {
  const { created_at: at, state, ended_at: end } = replay
  const now =
    state === undefined ? '' : `; it is ${state}${end === undefined ? '' : ` since ${end}`}`
  return `An earlier request with this key made this ${what}${at === undefined ? '' : ` at ${at}`}${now}.`
}

/** Most characters of a text in a result for a model, unless it is a link. */
const TEXT_MAX = 400

/** One line without control characters and marks that turn the direction of a text: names come from strangers. */
export const cleanText = (text: string, max = TEXT_MAX): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return line.length <= max || /^https?:\S+$/.test(line) ? line : `${line.slice(0, max)}…`
}

/** A name that somebody gave, as a text that is seen to be one. */
export const quote = (name: string): string => JSON.stringify(cleanText(name, 200))
