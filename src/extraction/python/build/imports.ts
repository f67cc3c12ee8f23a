import type * as ast from '../ast.ts'
import { count, find, has, indexOf, nameAt, valueAt, values } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'

interface RelativeImport {
  level: number
  module: string | undefined
}

const importing = (kids: Kids): ast.Import => ({
  kind: 'Import',
  line: kids.line,
  names: aliases(kids, 1),
})

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

const aliased = (kids: Kids): ast.Alias => ({
  name: valueAt(kids, 0) as string,
  asname: (valueAt(kids, 2) as ast.Name).id,
})

const relative = (kids: Kids): RelativeImport => ({
  level: valueAt(kids, 0) as number,
  module: find(kids, 'dotted_name') as string | undefined,
})

const dotted = (kids: Kids): string => (values(kids) as ast.Name[]).map((name) => name.id).join('.')

export const importBuilders: Builders = {
  import_statement: importing,
  import_from_statement: importFrom,
  future_import_statement: importFrom,
  aliased_import: aliased,
  relative_import: relative,
  dotted_name: dotted,
}
