import type { TObject } from 'typebox'

/**
 * Turns the texts of a query or an environment into the numbers and booleans that a schema wants. Only an exact spelling
 * counts: what is none stays text, so that the schema rejects it and the issue shows what was given. (typebox's `Convert`
 * makes 1 of "1.5", "true" and "1n" where an integer is wanted.) Of a list each item is turned.
 */
export const fromText = (
  { properties }: TObject,
  given: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, read(properties[name] as Rule, text)]),
  )

interface Rule {
  type?: string
  items?: Rule
}

const read = (rule: Rule | undefined, text: string | readonly string[] | undefined): unknown => {
  if (text === undefined) return undefined
  if (typeof text === 'string') return convert(rule?.type, text)
  return text.map((item) => convert(rule?.items?.type, item))
}

const convert = (type: string | undefined, text: string): unknown => {
  if (type === 'integer') return WHOLE.test(text) ? Number(text) : text
  if (type === 'number') return DECIMAL.test(text) ? Number(text) : text
  return type === 'boolean' ? (BOOLEANS.get(text.toLowerCase()) ?? text) : text
}

const WHOLE = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])
