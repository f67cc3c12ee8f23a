import { findModule, importModule } from '../run-code.ts'
import { isAbsent, raiseIfAbsent } from '../modules/absent-names.ts'
import { isModule, isUnknown, nameOf } from '../values/read-value.ts'
import { readItems } from '../operate/iterate.ts'
import { findAttribute, getAttribute } from '../operate/attribute.ts'
import { openModule } from '../operate/not-followed.ts'
import { raise, raiseIfHandled, raiseMissing } from '../operate/raise.ts'
import { assignedNames } from './assigned-names.ts'
import { resolveName } from '../modules/resolve-name.ts'
import { BudgetSpent } from '../budget.ts'
import { bindName, isComplete } from '../evaluate/name.ts'
import { makeUnknown } from '../values/make-value.ts'
import type { ModuleValue, Runtime, Scope, Value } from '../types.ts'
import type { Import, ImportFrom } from '../../python/ast.ts'

/** `import a.b` binds `a`; `import a.b as c` binds the module itself. */
export function executeImport(rt: Runtime, node: Import, scope: Scope): undefined {
  for (const { name, asname } of node.names) {
    const module = importModule(rt, name)
    const head = name.split('.', 1)[0] ?? name
    if (asname !== undefined) bindName(scope, asname, module)
    else bindName(scope, head, head === name ? module : importModule(rt, head))
  }
}

export function executeImportFrom(rt: Runtime, node: ImportFrom, scope: Scope): undefined {
  const name = absoluteName(rt, node, scope.module)
  try {
    bindNames(rt, node, importModule(rt, name), scope)
  } catch (error) {
    if (error instanceof BudgetSpent) bindWhatThereIs(node, rt.modules.get(name), scope)
    throw error
  }
}

function bindNames(rt: Runtime, node: ImportFrom, module: Value, scope: Scope): void {
  for (const alias of node.names) {
    if (alias.name === '*') importStar(rt, module, scope)
    else bindName(scope, alias.asname ?? alias.name, importName(rt, module, alias.name))
  }
}

/** The run ends within the import, and the mapping that the module has made so far is the best there is. */
function bindWhatThereIs(node: ImportFrom, module: Value | undefined, scope: Scope): void {
  if (!isModule(module)) return
  const { namespace } = module
  for (const alias of node.names) {
    const isStar = alias.name === '*'
    const names = isStar
      ? [...namespace.keys()].filter((key) => !key.startsWith('_'))
      : [alias.name]
    for (const name of names) {
      const value = namespace.get(name)
      if (value !== undefined) bindName(scope, isStar ? name : (alias.asname ?? name), value)
    }
  }
}

function absoluteName(rt: Runtime, node: ImportFrom, module: ModuleValue): string {
  if (node.level === 0) return node.module ?? ''
  const name = resolveName(node.module ?? '', packageOf(module), node.level)
  return name ?? raise(rt, 'ImportError', 'attempted relative import with no known parent package')
}

/** The package that relative imports of a module start from. */
function packageOf(module: ModuleValue): string {
  const own = module.namespace.get('__package__')
  if (typeof own === 'string') return own
  const name = module.namespace.get('__name__')
  const dotted = typeof name === 'string' ? name : module.name
  return module.isPackage ? dotted : dotted.slice(0, Math.max(0, dotted.lastIndexOf('.')))
}

/** A name of the module, or its submodule. Raises ImportError where both are certainly missing. */
function importName(rt: Runtime, module: Value, name: string): Value {
  if (!isModule(module)) return importForeignName(rt, module, name)
  const own = module.namespace.get(name)
  if (own !== undefined) return own
  const dotted = `${module.name}.${name}`
  if (module.home === 'library')
    return rt.library.find(dotted) ? importModule(rt, dotted) : importForeignName(rt, module, name)
  if (module.isPackage && findModule(rt, dotted)) return importModule(rt, dotted)
  const found = findAttribute(rt, module, name)
  if (found !== undefined) return found
  const message = `cannot import name '${name}' from '${module.name}'`
  const isLater = module.running > 0 && binds(rt, module, name, Infinity)
  const isCertain = !module.lost.has(name) && !(isLater && binds(rt, module, name, module.running))
  if (isCertain && isLater) raise(rt, 'ImportError', `${message}, a circular import`)
  if (isCertain) raiseMissing(rt, 'ImportError', dotted, message)
  // It may be bound later, or was lost to a raise: certain enough only if somebody waits for it.
  raiseIfHandled(rt, 'ImportError', message)
  return makeUnknown(dotted)
}

/** A name of a module outside of the pack, of which few are known to lack one. */
function importForeignName(rt: Runtime, module: Value, name: string): Value {
  const found = findAttribute(rt, module, name)
  if (found !== undefined) return found
  const message = `cannot import name '${name}' from '${nameOf(module)}'`
  if (isModule(module) && !isAbsent(`${module.name}.${name}`)) raise(rt, 'ImportError', message)
  raiseIfAbsent(rt, `${nameOf(module)}.${name}`, 'ImportError', message)
  return getAttribute(rt, module, name)
}

/** True when one of the first statements of a module that another imports from may bind the name. */
function binds(rt: Runtime, module: ModuleValue, name: string, count: number): boolean {
  const tree = rt.parser.parsed.get(module.file ?? '')
  if (module.dict !== undefined || !tree) return true
  if (rt.state.scope.module === module) return false
  return tree.body.slice(0, count).some((one) => assignedNames(rt, [one]).includes(name))
}

function importStar(rt: Runtime, module: Value, scope: Scope): void {
  if (!isModule(module)) {
    scope.module.complete = false
    openModule(rt, module, scope.module)
    return
  }
  if (!isComplete(module)) scope.module.complete = false
  for (const lost of module.lost) scope.module.lost.add(lost)
  for (const name of publicNames(rt, module)) bindName(scope, name, importName(rt, module, name))
}

/** `__all__`, else the names without leading underscore. */
function publicNames(rt: Runtime, module: ModuleValue): string[] {
  const listed = module.namespace.get('__all__')
  if (listed === undefined || isUnknown(listed))
    return [...module.namespace.keys()].filter((name) => !name.startsWith('_'))
  const { items, rest } = readItems(rt, listed)
  if (rest) module.complete = false
  return items.filter((item): item is string => typeof item === 'string')
}
