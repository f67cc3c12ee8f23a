import type { TObject } from 'typebox'

import { fromText } from '../domain/from-text.ts'
import type { Fault } from '../domain/validate.ts'
import { makeValidator } from '../domain/validate.ts'

/** The query of a request's target, without its question mark; a second one belongs to a value. */
export const queryOf = (target: string): string => {
  const at = target.indexOf('?')
  return at < 0 ? '' : target.slice(at + 1)
}

/**
 * Makes the reader of a route's query: the only place where strings become numbers. Unknown names are ignored; a name
 * given twice is a fault, since either value could be meant.
 */
export const makeQueryReader = (schema: TObject) => {
  const validate = makeValidator(schema)
  const names = Object.keys(schema.properties)
  return (query: string): { value: unknown; faults: Fault[] } => {
    const search = new URLSearchParams(query)
    const twice = names.filter((name) => search.getAll(name).length > 1)
    const once = names.filter((name) => search.getAll(name).length === 1)
    const given = Object.fromEntries(once.map((name) => [name, search.get(name) ?? '']))
    const { value, faults } = validate(fromText(schema, given))
    return { value, faults: [...twice.map(givenTwice), ...faults.map(asQueryFault)] }
  }
}

const givenTwice = (name: string): Fault => ({
  field: `?${name}`,
  message: `?${name} must be given once, got several values`,
  code: 'validation_failed',
})

const asQueryFault = (fault: Fault): Fault => ({
  ...fault,
  field: fault.field.replace('/', '?'),
  message: fault.message.replace('/', '?'),
})
