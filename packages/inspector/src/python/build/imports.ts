import type * as ast from '../ast.ts'
import { find, gather, has, indexOf, nameAt, valueAt, values } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'

interface RelativeImport {
  level: number
  module: string | undefined
}

const importFrom = (kids: Kids): ast.ImportFrom => {
  const from = source(kids)
  const names = has(kids, 'wildcard_import')
    ? [{ name: '*', asname: undefined }]
    : aliases(kids, indexOf(kids, 'import') + 1)
  return { kind: 'ImportFrom', line: kids.line, ...from, names }
}

const source = (kids: Kids): RelativeImport => {
  if (nameAt(kids, 1) === 'relative_import') return valueAt(kids, 1) as RelativeImport
  const isFuture = nameAt(kids, 1) === '__future__'
  return { level: 0, module: isFuture ? '__future__' : (valueAt(kids, 1) as string) }
}

const aliases = (kids: Kids, from: number): ast.Alias[] => gather(kids, readAlias, from)

const readAlias = (name: string, value: unknown): ast.Alias | undefined => {
  if (name === 'aliased_import') return value as ast.Alias
  return name === 'dotted_name' ? { name: value as string, asname: undefined } : undefined
}

export const importBuilders: Builders = {
  import_statement: (kids): ast.Import => ({
    kind: 'Import',
    line: kids.line,
    names: aliases(kids, 1),
  }),
  import_from_statement: importFrom,
  future_import_statement: importFrom,
  aliased_import: (kids): ast.Alias => ({
    name: valueAt(kids, 0) as string,
    asname: (valueAt(kids, 2) as ast.Name).id,
  }),
  relative_import: (kids): RelativeImport => ({
    level: valueAt(kids, 0) as number,
    module: find(kids, 'dotted_name') as string | undefined,
  }),
  dotted_name: (kids): string => (values(kids) as ast.Name[]).map((name) => name.id).join('.'),
}
