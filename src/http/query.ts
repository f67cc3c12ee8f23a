import type { TObject } from 'typebox'
import { Value } from 'typebox/value'

import type { Fault } from '../domain/validate.ts'
import { makeValidator } from '../domain/validate.ts'

/**
 * Makes the reader of a route's query: the only place where strings become numbers. Unknown names are ignored; a name
 * given twice is a fault, since either value could be meant.
 */
export const makeQueryReader = (schema: TObject) => {
  const validate = makeValidator(schema)
  return (search: URLSearchParams): { value: unknown; faults: Fault[] } => {
    const given: Record<string, string> = {}
    const twice: Fault[] = []
    for (const name of Object.keys(schema.properties)) {
      const values = search.getAll(name)
      if (values.length > 1)
        twice.push({
          field: `?${name}`,
          message: `?${name} must be given once, got ${values.length} values`,
          code: 'validation_failed',
        })
      const value = values[0]
      if (value !== undefined) given[name] = value
    }
    const { value, faults } = validate(Value.Convert(schema, given))
    return { value, faults: [...twice, ...faults.map(asQueryFault)] }
  }
}

const asQueryFault = (fault: Fault): Fault => ({
  ...fault,
  field: fault.field.replace('/', '?'),
  message: fault.message.replace('/', '?'),
})
