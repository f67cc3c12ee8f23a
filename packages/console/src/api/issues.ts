import { KilnError } from '../../../client/src/lib/errors.ts'
import { DATE_TIME } from '../words/language.ts'
import { t } from '../words/translate.ts'

export interface FieldIssues {
  /** By JSON Pointer (`/scale_factor`) or parameter (`?kind`). */
  fields: Readonly<Record<string, string>>
  /** Issues that belong to no field that is shown. */
  rest: readonly string[]
}

/** `/settings/0 must be …`, `?kind must be …`; the reason word of a video route is neither. */
const OF_FIELD = /^([/?][^\s:]*):?\s+(.+)$/s

/** Names a JSON Pointer or parameter without its sign, a place in a list from 1 on: `/advanced_settings/0` is "Advanced settings 1". */
const namePlace = (pointer: string): string => {
  const parts = pointer.slice(1).split('/')
  const words = parts.map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : part))
  return capitalise(words.join(' ').replaceAll('_', ' '))
}

const capitalise = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Says a sentence of the service as people read it: fields by their words, times of their own clock, no backticks. */
export const inPlainWords = (sentence: string): string => {
  const [, pointer, message = sentence] = OF_FIELD.exec(sentence) ?? []
  const text = message
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => DATE_TIME.format(new Date(at)))
    .replaceAll('`', '')
  return pointer === undefined ? text : `${namePlace(pointer)} ${text}`
}

/** Sentences of which the service's own says less. */
const WORDS: readonly (readonly [start: string, words: string])[] = [
  ['must not be taken', t('This ID is taken. Choose another.')],
  ['must not be a reserved word', t('This ID is reserved. Choose another.')],
  ['must be an ISO 8601 date-time', t('Write a day as YYYY-MM-DD.')],
]

/** Says an issue below its field, which need not be named. */
const sayAtField = (message: string): string =>
  WORDS.find(([start]) => message.startsWith(start))?.[1] ?? capitalise(inPlainWords(message))

/** Issue of a rejection that is about one field alone; undefined while nothing is rejected. */
export const issueOf = (error: unknown): string | undefined => {
  if (!(error instanceof KilnError) || error.status === undefined || error.status >= 500)
    return undefined
  const [detail = error.message] = error.details
  return sayAtField(OF_FIELD.exec(detail)?.[2] ?? detail)
}

/** Sorts the details of a rejection to the fields of a form, of which a group stands before its members; what is deeper counts for the last. */
export const sortIssues = (error: unknown, shown: readonly string[]): FieldIssues => {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const detail of error instanceof KilnError ? error.details : []) {
    const [, pointer = '', message = detail] = OF_FIELD.exec(detail) ?? []
    const field = shown.findLast((one) => `${pointer}/`.startsWith(`${one}/`))
    const text = sayAtField(message)
    if (field === undefined) rest.push(inPlainWords(detail))
    else fields[field] = fields[field] === undefined ? text : `${fields[field]}. ${text}`
  }
  return { fields, rest }
}
