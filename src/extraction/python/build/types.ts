import type { Attribute, Expression, Slice, Starred, Subscript } from '../ast.ts'
import { BROKEN, exprAt, valueAt } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'
import { indexOfSubscript } from './expressions.ts'

/** `List[int]` in an annotation; elsewhere the grammar calls it a subscript. */
const generic = (kids: Kids): Subscript => ({
  kind: 'Subscript',
  line: kids.line,
  value: exprAt(kids, 0),
  index: exprAt(kids, 1),
})

const typeParameter = (kids: Kids): Expression => indexOfSubscript(kids, 1)

/** `a: b` among type parameters; in an annotation it is a slice. */
const constrained = (kids: Kids): Slice => ({
  kind: 'Slice',
  line: kids.line,
  lower: exprAt(kids, 0),
  upper: exprAt(kids, 2),
  step: undefined,
})

const member = (kids: Kids): Attribute | typeof BROKEN => {
  const name = exprAt(kids, 2)
  if (name.kind !== 'Name') return BROKEN
  return { kind: 'Attribute', line: kids.line, value: exprAt(kids, 0), attr: name.id }
}

const splat = (kids: Kids): Starred => ({
  kind: 'Starred',
  line: kids.line,
  value: exprAt(kids, 1),
})

export const typeBuilders: Builders = {
  type: (kids) => valueAt(kids, 0),
  generic_type: generic,
  type_parameter: typeParameter,
  constrained_type: constrained,
  member_type: member,
  splat_type: splat,
}
