import { distance } from 'fastest-levenshtein'

/** Words shorter than this differ by a letter, and are part of another, although they mean something else. */
const LEAST_LENGTH = 5

/** Names of one thing on different routes, or of different families of tasks. */
const SAME_THING: readonly (readonly string[])[] = [
  ['callbackurl', 'webhookurl'],
  ['state', 'states', 'status', 'statuses'],
  ['limit', 'pagesize', 'perpage'],
  ['q', 'query', 'search'],
  ['ids', 'taskids'],
  ['priority', 'kilnpriority'],
  ['createdafter', 'since', 'from'],
  ['createdbefore', 'until', 'to'],
]

/**
 * Finds the known name that was meant: it differs by case, `_`, `-` or one typing error (two letters in the wrong order
 * are one error), or another route has it for the same thing. Else it is the only known name that the given name is a
 * part of, such as `overlap` of `overlap_seconds`.
 */
export const findMeant = (name: string, known: readonly string[]): string | undefined => {
  const plain = plainOf(name)
  const same = SAME_THING.find((names) => names.includes(plain))
  const near =
    known.find((one) => plainOf(one) === plain) ?? known.find((one) => same?.includes(plainOf(one)))
  if (near !== undefined || plain.length < LEAST_LENGTH) return near
  const parts = known.filter((one) => isPart(name, one))
  return (
    known.find((one) => isOneSlip(plainOf(one), plain)) ??
    (parts.length === 1 ? parts[0] : undefined)
  )
}

/** True where one letter is wrong, missing or too many, or two neighbours have changed places. */
export const isOneSlip = (one: string, other: string): boolean => {
  if (distance(one, other) === 1) return true
  const at = [...one].findIndex((letter, index) => letter !== other[index])
  const swapped = `${one.slice(0, at)}${one.charAt(at + 1)}${one.charAt(at)}${one.slice(at + 2)}`
  return at >= 0 && swapped === other
}

/** True where one name begins another, or is some of its words. */
const isPart = (name: string, whole: string): boolean =>
  plainOf(whole).startsWith(plainOf(name)) || wordsOf(whole).includes(wordsOf(name))

const wordsOf = (name: string): string =>
  `_${name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|-/g, '_').toLowerCase()}_`

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')
