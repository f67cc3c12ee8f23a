import { KilnError } from '../../../client/index.ts'

export interface FieldFaults {
  /** By JSON Pointer (`/scale_factor`) or parameter (`?kind`). */
  fields: Readonly<Record<string, string>>
  /** What belongs to no field that is shown. */
  rest: readonly string[]
}

const NO_FAULTS: FieldFaults = { fields: {}, rest: [] }

/** `/settings/0 must be …`, `?kind must be …`; the reason word of a video route is neither. */
const OF_FIELD = /^([/?][^\s:]*):?\s+(.+)$/s

/** Sorts the details of a refusal to the fields of a form; a field deeper than one shown counts for that one. */
export const sortFaults = (error: unknown, shown: readonly string[]): FieldFaults => {
  if (!(error instanceof KilnError)) return NO_FAULTS
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const detail of error.details) {
    const [, pointer = '', message = detail] = OF_FIELD.exec(detail) ?? []
    const field = findField(pointer, shown)
    if (field === undefined) rest.push(detail)
    else fields[field] = fields[field] === undefined ? message : `${fields[field]}; ${message}`
  }
  return { fields, rest }
}

const findField = (pointer: string, shown: readonly string[]): string | undefined =>
  pointer === ''
    ? undefined
    : shown
        .filter((field) => pointer === field || pointer.startsWith(`${field}/`))
        .toSorted((a, b) => b.length - a.length)[0]
