import type * as ast from '../ast.ts'
import { exprAt, valueAt } from '../kids.ts'
import type { Builders } from '../kids.ts'
import { attribute, indexOfSubscript, starred } from './expressions.ts'

export const typeBuilders: Builders = {
  type: (kids) => valueAt(kids, 0),
  /** `List[int]` in an annotation; elsewhere the grammar calls it a subscript. */
  generic_type: (kids): ast.Subscript => ({
    kind: 'Subscript',
    line: kids.line,
    value: exprAt(kids, 0),
    index: exprAt(kids, 1),
  }),
  type_parameter: (kids) => indexOfSubscript(kids, 1),
  /** `a: b` among type parameters; in an annotation it is a slice. */
  constrained_type: (kids): ast.Slice => ({
    kind: 'Slice',
    line: kids.line,
    lower: exprAt(kids, 0),
    upper: exprAt(kids, 2),
    step: undefined,
  }),
  member_type: attribute,
  splat_type: starred,
}
