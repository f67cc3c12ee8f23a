import type { Expression, Statement } from './ast.ts'

/**
 * All statements and expressions of a tree, those of functions in it too, in the order written. The stack is ours: a
 * hostile pack nests deeper than the engine's.
 */
export function* nodesWithin(tree: unknown): Generator<Statement | Expression> {
  const left = [tree]
  while (left.length > 0) {
    const part = left.pop()
    if (typeof part !== 'object' || part === null) continue
    if ('kind' in part) yield part as Statement | Expression
    for (const child of Object.values(part).toReversed()) left.push(child)
  }
}
