import type { Expression, Module, Statement } from '../python/ast.ts'
import { nodesWithin } from '../python/nodes-within.ts'

/** Syntax of a file that older versions of Python do not have. */
interface NeededSyntax {
  file: string
  line: number
  /** Minor version of Python 3. */
  minor: number
  syntax: string
}

/** Versions that hosts still run have no hint. */
const OLDEST = 10

/** Finds the first syntax of each version above 3.10 that files need. */
export const findNeededPython = (files: ReadonlyMap<string, Module>): NeededSyntax[] => {
  const found = new Map<number, NeededSyntax>()
  for (const [file, tree] of files)
    for (const part of nodesWithin(tree)) {
      const [minor, syntax] = neededBy(part) ?? [OLDEST, '']
      if (minor > OLDEST && !found.has(minor))
        found.set(minor, { file, line: part.line, minor, syntax })
    }
  return [...found.values()]
}

const neededBy = (part: Statement | Expression): [minor: number, syntax: string] | undefined => {
  switch (part.kind) {
    case 'FunctionDef':
    case 'ClassDef':
      return part.typeParameters ? [12, 'type parameters'] : undefined
    case 'Assign':
      return part.isAlias ? [12, 'a type statement'] : undefined
    case 'Try':
      return part.handlers.some(({ isGroup }) => isGroup) ? [11, 'except*'] : undefined
    default:
      return undefined
  }
}
