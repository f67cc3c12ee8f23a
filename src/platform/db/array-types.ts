import type { PostgresType } from 'postgres'

/**
 * The array types that our queries pass or read, one dimension each, so that the driver does not ask for them
 * (docs/decisions.md, Database). An array of any other type arrives as text.
 */
export const ARRAY_TYPES: Record<string, PostgresType> = {
  textArray: makeArrayType(1009, String),
  varcharArray: makeArrayType(1015, String),
  uuidArray: makeArrayType(2951, String),
  integerArray: makeArrayType(1007, Number),
}

function makeArrayType(oid: number, parse: (text: string) => unknown): PostgresType {
  return {
    to: oid,
    from: [oid],
    serialize: (values: readonly Element[]) => `{${values.map(writeElement).join(',')}}`,
    parse: (text: string) => [...text.matchAll(ELEMENT)].map((match) => readElement(match, parse)),
  }
}

type Element = string | number | null

const writeElement = (value: Element): string =>
  value === null ? 'null' : `"${String(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`

/** Matches a quoted element, or one that needs no quotes. */
const ELEMENT = /"((?:[^"\\]|\\.)*)"|[^,{}"]+/gs

const readElement = (
  [bare, quoted]: RegExpExecArray,
  parse: (text: string) => unknown,
): unknown => {
  if (quoted !== undefined) return parse(quoted.replaceAll(/\\(.)/gs, '$1'))
  return bare === 'NULL' ? null : parse(bare)
}
