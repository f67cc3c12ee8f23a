import type * as ast from '../ast.ts'
import { count, find, has, indexOf, nameAt, valueAt, values } from '../kids.ts'
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

const aliases = (kids: Kids, from: number): ast.Alias[] => {
  const found: ast.Alias[] = []
  for (let index = from; index < count(kids); index += 1) {
    const name = nameAt(kids, index)
    if (name === 'aliased_import') found.push(valueAt(kids, index) as ast.Alias)
    else if (name === 'dotted_name')
      found.push({ name: valueAt(kids, index) as string, asname: undefined })
  }
  return found
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
