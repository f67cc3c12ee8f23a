import { KilnError } from '../../../client/src/lib/errors.ts'

export interface FieldIssues {
  /** By JSON Pointer (`/scale_factor`) or parameter (`?kind`). */
  fields: Readonly<Record<string, string>>
  /** Issues that belong to no field that is shown. */
  rest: readonly string[]
}

/** `/settings/0 must be …`, `?kind must be …`; the reason word of a video route is neither. */
const OF_FIELD = /^([/?][^\s:]*):?\s+(.+)$/s

/** Sorts the details of a rejection to the fields of a form, of which a group stands before its members; what is deeper counts for the last. */
export const sortIssues = (error: unknown, shown: readonly string[]): FieldIssues => {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const detail of error instanceof KilnError ? error.details : []) {
    const [, pointer = '', message = detail] = OF_FIELD.exec(detail) ?? []
    const field = shown.findLast((one) => `${pointer}/`.startsWith(`${one}/`))
    if (field === undefined) rest.push(detail)
    else fields[field] = fields[field] === undefined ? message : `${fields[field]}; ${message}`
  }
  return { fields, rest }
}
