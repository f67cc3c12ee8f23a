import type * as ast from '../ast.ts'
import { exprAt, valueAt } from '../children.ts'
import type { Builders } from '../children.ts'
import { attribute, indexOfSubscript, starred } from './expressions.ts'

export const typeBuilders: Builders = {
  type: (children) => valueAt(children, 0),
  /** `List[int]` in an annotation; elsewhere the grammar calls it a subscript. */
  generic_type: (children): ast.Subscript => ({
    kind: 'Subscript',
    line: children.line,
    value: exprAt(children, 0),
    index: exprAt(children, 1),
  }),
  type_parameter: (children) => indexOfSubscript(children, 1),
  /** `a: b` among type parameters; in an annotation it is a slice. */
  constrained_type: (children): ast.Slice => ({
    kind: 'Slice',
    line: children.line,
    lower: exprAt(children, 0),
    upper: exprAt(children, 2),
    step: undefined,
  }),
  member_type: attribute,
  splat_type: starred,
}
