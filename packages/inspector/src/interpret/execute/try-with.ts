import { withState } from '../with-state.ts'
import { assignTarget, execute, executeStatement } from '../run-code.ts'
import { words } from '../../words.ts'
import { makeUnknown } from '../values/make-value.ts'
import { isClass, isInstanceValue, isIterator, isUnknown } from '../values/read-value.ts'
import { call, callSpecial } from '../operate/call.ts'
import { evaluateAwait, evaluateSafely } from '../evaluate/expression.ts'
import { isInstance, typeOf } from '../operate/is-instance.ts'
import { assignedNames } from './assigned-names.ts'
import { runBranches } from './branch.ts'
import { bindName } from '../evaluate/name.ts'
import { attempt, inheritCause, raise, type Raised } from '../operate/raise.ts'
import type {
  Block,
  Completion,
  InstanceValue,
  IteratorValue,
  Runtime,
  Scope,
  Value,
} from '../types.ts'
import type { ExceptHandler, Name, Raise, Try, With } from '../../python/ast.ts'
import { setAttribute } from '../operate/set-attribute.ts'
import { truthOf } from '../operate/truth.ts'

/** The body; a handler only if it raises; else `else`; then `finally`, which may end the block its own way. */
export function executeTry(rt: Runtime, node: Try, scope: Scope): Completion {
  const { value, raised } = attempt(rt, () => runGuarded(rt, node, scope))
  const end = node.finalbody.length > 0 ? execute(rt, node.finalbody, scope) : undefined
  if (end !== undefined) return end
  if (raised) throw raised
  return value
}

/**
 * Runs the body. Where a statement of it may have raised, what is left is one way, and each handler of `left` that may
 * take that another.
 */
function runGuarded(
  rt: Runtime,
  node: Try,
  scope: Scope,
  from = 0,
  left = node.handlers,
): Completion {
  const { state } = rt
  const before = state.mayRaise.length
  let next = from
  let taken: ExceptHandler[] = []
  const { value: end, raised } = attempt(rt, () => {
    const types = node.handlers.map((handler) => handler.type)
    if (types.length > 0) state.handlers = [...state.handlers, { types, scope }]
    for (const statement of node.body.slice(from)) {
      next += 1
      const ended = executeStatement(rt, statement, scope)
      const maybe = state.mayRaise.splice(before)
      taken = left.filter((handler) => maybe.some((one) => mayHandle(rt, handler, scope, one)))
      if (taken.length === 0) state.mayRaise.push(...maybe)
      if (taken.length > 0 || ended !== undefined) return ended
    }
    return undefined
  })
  if (raised) {
    // Who of `except*` takes which part of a group is not followed.
    if (node.handlers[0]?.isGroup) return runEither(rt, node, scope, node.handlers, () => undefined)
    return handle(rt, node, scope, raised)
  }
  const others = left.filter((handler) => !taken.includes(handler))
  const goOn = () =>
    end ??
    (next < node.body.length
      ? runGuarded(rt, node, scope, next, others)
      : execute(rt, node.orelse, scope))
  return taken.length > 0 ? runEither(rt, node, scope, taken, goOn) : goOn()
}

/** Goes on, or runs one of the handlers. What is raised on the way counts. */
function runEither(
  rt: Runtime,
  node: Try,
  scope: Scope,
  handlers: ExceptHandler[],
  goOn: () => Completion,
): Completion {
  const names = assignedNames(rt, node)
  let escaped: Raised | undefined
  const run = () => {
    const { value, raised } = attempt(rt, goOn)
    escaped = raised
    return value
  }
  const ways = handlers.map((handler) => ({
    names,
    run: () => runHandler(rt, handler, scope, makeUnknown('exception')),
  }))
  const end = runBranches(rt, scope, [{ names, run }, ...ways])
  if (escaped) throw escaped
  return end
}

/**
 * True for a handler that may take an exception that may come. That of a call is no ImportError, and only a handler that
 * does something reckons with any exception at all.
 */
function mayHandle(rt: Runtime, handler: ExceptHandler, scope: Scope, exception: Value): boolean {
  const type = handler.type ? evaluateSafely(rt, handler.type, scope) : rt.builtinClass('Exception')
  if (!isUnknown(exception)) return !handler.type || isInstance(rt, exception, type) !== false
  const name = isClass(type) ? type.name : ''
  if (IMPORT_ERRORS.has(name)) return false
  return !BROAD.has(name) || handler.body.some(({ kind }) => !IDLE.has(kind))
}

const IMPORT_ERRORS = new Set(words('ImportError ModuleNotFoundError'))
const BROAD = new Set(words('Exception BaseException'))
const IDLE = new Set(words('Expr Pass Raise'))

/** Runs the first handler whose type fits or can't be decided. */
function handle(rt: Runtime, node: Try, scope: Scope, raised: Raised): Completion {
  for (const handler of node.handlers) {
    if (!fits(rt, handler, scope, raised.exception)) continue
    return runHandler(rt, handler, scope, raised.exception)
  }
  throw raised
}

function fits(rt: Runtime, handler: ExceptHandler, scope: Scope, exception: Value): boolean {
  if (handler.type === undefined) return true
  return isInstance(rt, exception, evaluateSafely(rt, handler.type, scope)) !== false
}

function runHandler(
  rt: Runtime,
  handler: ExceptHandler,
  scope: Scope,
  exception: Value,
): Completion {
  const { handled } = rt.state
  if (handler.name !== undefined) bindName(scope, handler.name, exception)
  handled.push(exception)
  try {
    return execute(rt, handler.body, scope)
  } finally {
    handled.pop()
  }
}

export function executeRaise(rt: Runtime, node: Raise, scope: Scope): never {
  if (node.exception === undefined) {
    const current = rt.state.handled.at(-1)
    return current === undefined
      ? raise(rt, 'RuntimeError', 'No active exception to reraise')
      : raise(rt, current)
  }
  const value = evaluateSafely(rt, node.exception, scope)
  const exception = isClass(value) ? call(rt, value, []) : value
  const cause = node.cause && evaluateSafely(rt, node.cause, scope)
  if (cause !== undefined)
    setAttribute(rt, exception, '__cause__', isClass(cause) ? call(rt, cause, []) : cause)
  inheritCause(rt, exception, rt.state.handled.at(-1))
  return raise(rt, exception)
}

/** Enters the item, runs the others and the body inside it, and leaves it. */
export function executeWith(rt: Runtime, node: With, scope: Scope, index = 0): Completion {
  const item = node.items[index]
  if (!item) return execute(rt, node.body, scope)
  const manager = evaluateSafely(rt, item.context, scope)
  const generator = generatorOf(manager)
  if (generator?.runAround) return runWithin(rt, generator.runAround, { node, scope, index })
  const entered = enter(rt, manager)
  if (item.target) assignTarget(rt, item.target, entered, scope)
  const { value, raised } = attempt(rt, () => {
    if (isInstanceValue(manager) && manager.cls.name === 'suppress')
      handleAs(rt, node, manager, scope)
    return executeWith(rt, node, scope, index + 1)
  })
  if (!raised) leave(rt, manager, [null, null, null])
  else if (!suppresses(rt, manager, raised.exception)) throw raised
  return value
}

/** The generator behind a manager that `contextlib` makes. */
function generatorOf(manager: Value): IteratorValue | undefined {
  if (!isInstanceValue(manager) || manager.cls.name !== '_GeneratorContextManager') return undefined
  const generator = manager.attributes.get('_generator')
  return isIterator(generator) ? generator : undefined
}

/** Runs the block between the two halves of a generator: in the place of its `yield`, where what it raises is raised. */
function runWithin(
  rt: Runtime,
  runAround: (block: Block) => void,
  { node, scope, index }: { node: With; scope: Scope; index: number },
): Completion {
  const { state } = rt
  const { scope: own, repeating, maybeLeft } = state
  let end: Completion
  let isRun = false
  const block = (entered: Value): void => {
    isRun = true
    withState(rt, { scope: own, repeating, maybeLeft }, () => {
      const target = node.items[index]?.target
      if (target) assignTarget(rt, target, entered, scope)
      end = executeWith(rt, node, scope, index + 1)
    })
  }
  runAround(block)
  // Its `yield` is in a part that could not be followed.
  if (!isRun) {
    state.guesses += 1
    block(makeUnknown('contextmanager'))
  }
  return end
}

/** `contextlib.suppress` handles what a `try` with its classes would. */
function handleAs({ state }: Runtime, { line }: With, { attributes }: InstanceValue, scope: Scope) {
  const types: Name[] = [{ kind: 'Name', id: '_classes', line }]
  state.handlers = [...state.handlers, { types, scope: { ...scope, names: attributes } }]
}

/** An unknown manager gives an unknown that stands for what it opens. */
function enter(rt: Runtime, manager: Value): Value {
  const entered = callSpecial(rt, manager, '__enter__', [])
  if (entered !== undefined) return entered
  const later = callSpecial(rt, manager, '__aenter__', [])
  return later === undefined ? manager : evaluateAwait(rt, later)
}

function leave(rt: Runtime, manager: Value, args: Value[]): Value | undefined {
  const left = callSpecial(rt, manager, '__exit__', args)
  if (left !== undefined) return left
  const later = callSpecial(rt, manager, '__aexit__', args)
  return later && evaluateAwait(rt, later)
}

function suppresses(rt: Runtime, manager: Value, exception: Value): boolean {
  const left = leave(rt, manager, [typeOf(rt, exception), exception, null])
  return left !== undefined && truthOf(rt, left) === true
}
