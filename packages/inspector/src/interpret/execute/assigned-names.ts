import { namesOf } from '../../python/build/patterns.ts'
import type { Runtime } from '../types.ts'
import type { Expression, Statement } from '../../python/ast.ts'

/** Names that a statement or block may bind in its own scope; a star import's are left out. */
export function assignedNames(
  rt: Runtime,
  code: Statement | readonly Statement[],
): readonly string[] {
  const known = rt.state.assigned.get(code)
  if (known) return known
  const names = new Set<string>()
  collect([code].flat(), names)
  const found = [...names]
  rt.state.assigned.set(code, found)
  return found
}

function collect(body: readonly Statement[], names: Set<string>): void {
  for (const statement of body) collectFrom(statement, names)
}

function collectFrom(node: Statement, names: Set<string>): void {
  switch (node.kind) {
    case 'FunctionDef':
    case 'ClassDef':
      names.add(node.name)
      return
    case 'Assign':
      for (const target of node.targets) collectTarget(target, names)
      return
    case 'AugAssign':
    case 'AnnAssign':
      collectTarget(node.target, names)
      return
    case 'Delete':
      for (const target of node.targets) collectTarget(target, names)
      return
    case 'For':
      collectTarget(node.target, names)
      collect(node.body, names)
      collect(node.orelse, names)
      return
    case 'While':
    case 'If':
      collect(node.body, names)
      collect(node.orelse, names)
      return
    case 'With':
      for (const { target } of node.items) if (target) collectTarget(target, names)
      collect(node.body, names)
      return
    case 'Try':
      for (const part of [node.body, node.orelse, node.finalbody]) collect(part, names)
      for (const handler of node.handlers) {
        if (handler.name !== undefined) names.add(handler.name)
        collect(handler.body, names)
      }
      return
    case 'Match':
      for (const { pattern, body } of node.cases) {
        for (const name of namesOf(pattern)) names.add(name)
        collect(body, names)
      }
      return
    case 'Import':
      for (const { name, asname } of node.names) names.add(asname ?? name.split('.', 1)[0] ?? name)
      return
    case 'ImportFrom':
      for (const { name, asname } of node.names) if (name !== '*') names.add(asname ?? name)
      return
  }
}

function collectTarget(target: Expression, names: Set<string>): void {
  if (target.kind === 'Name') names.add(target.id)
  else if (target.kind === 'Starred') collectTarget(target.value, names)
  else if (target.kind === 'Tuple' || target.kind === 'List')
    for (const item of target.items) collectTarget(item, names)
}
