import type { Replay } from '../index.ts'

/** `1 task`, `2 tasks`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** `1.2 MB`; units of 1000, as the API's limits are said. */
export const showBytes = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toPrecision(2)} ${units[step]}`
}

/** Says of what was made that an earlier request made it, when, and what has become of it. */
export const describeReplay = (replay: Replay, what: string): string => {
  const { created_at: at, state, ended_at: end } = replay
  const now =
    state === undefined ? '' : `; it is ${state}${end === undefined ? '' : ` since ${end}`}`
  return `An earlier request with this key made this ${what}${at === undefined ? '' : ` at ${at}`}${now}.`
}
