import type * as ast from '../ast.ts'
import { exprAt, valueAt } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'
import { attribute, indexOfSubscript, starred } from './expressions.ts'

/** `List[int]` in an annotation; elsewhere the grammar calls it a subscript. */
const generic = (kids: Kids): ast.Subscript => ({
  kind: 'Subscript',
  line: kids.line,
  value: exprAt(kids, 0),
  index: exprAt(kids, 1),
})

/** `a: b` among type parameters; in an annotation it is a slice. */
const constrained = (kids: Kids): ast.Slice => ({
  kind: 'Slice',
  line: kids.line,
  lower: exprAt(kids, 0),
  upper: exprAt(kids, 2),
  step: undefined,
})

export const typeBuilders: Builders = {
  type: (kids) => valueAt(kids, 0),
  generic_type: generic,
  type_parameter: (kids) => indexOfSubscript(kids, 1),
  constrained_type: constrained,
  member_type: attribute,
  splat_type: starred,
}
