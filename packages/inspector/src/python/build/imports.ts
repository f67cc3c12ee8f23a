import type * as ast from '../ast.ts'
import { find, gather, has, indexOf, nameAt, valueAt, values } from '../children.ts'
import type { Builders, Children } from '../children.ts'

interface RelativeImport {
  level: number
  module: string | undefined
}

const importFrom = (children: Children): ast.ImportFrom => {
  const from = source(children)
  const names = has(children, 'wildcard_import')
    ? [{ name: '*', asname: undefined }]
    : aliases(children, indexOf(children, 'import') + 1)
  return { kind: 'ImportFrom', line: children.line, ...from, names }
}

const source = (children: Children): RelativeImport => {
  if (nameAt(children, 1) === 'relative_import') return valueAt(children, 1) as RelativeImport
  const isFuture = nameAt(children, 1) === '__future__'
  return { level: 0, module: isFuture ? '__future__' : (valueAt(children, 1) as string) }
}

const aliases = (children: Children, from: number): ast.Alias[] => gather(children, readAlias, from)

const readAlias = (name: string, value: unknown): ast.Alias | undefined => {
  if (name === 'aliased_import') return value as ast.Alias
  return name === 'dotted_name' ? { name: value as string, asname: undefined } : undefined
}

export const importBuilders: Builders = {
  import_statement: (children): ast.Import => ({
    kind: 'Import',
    line: children.line,
    names: aliases(children, 1),
  }),
  import_from_statement: importFrom,
  future_import_statement: importFrom,
  aliased_import: (children): ast.Alias => ({
    name: valueAt(children, 0) as string,
    asname: (valueAt(children, 2) as ast.Name).id,
  }),
  relative_import: (children): RelativeImport => ({
    level: valueAt(children, 0) as number,
    module: find(children, 'dotted_name') as string | undefined,
  }),
  dotted_name: (children): string =>
    (values(children) as ast.Name[]).map((name) => name.id).join('.'),
}
