import { evaluate } from '../../interpret/evaluate/expression.ts'
import { bindPart, type SchemaPart } from '../../host/schema-part.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import { nativeFunction } from '../../interpret/values/native.ts'
import type { ClassValue, FunctionValue, Scope, Value } from '../../interpret/types.ts'
import type { Call, Expression, Statement } from '../../python/ast.ts'
import { nodesWithin } from '../../python/nodes-within.ts'
import { functionOf } from './reading.ts'

const KIND = { maker: 'Schema', type: undefined }

/**
 * Reads the schema from the text of a method whose run gave none: it raised, mostly over something that only we do
 * not know. Each argument of the call is worked out for itself, so that one that raises costs no other. Names that
 * the method binds are unknown.
 */
export const recoverSchema = (
  interpreter: Interpreter,
  { cls, method, steps }: { cls: ClassValue; method: Value; steps: number },
): SchemaPart | undefined => {
  const fn = functionOf(method)
  const call = fn?.node.kind === 'FunctionDef' ? findSchemaCall(fn.node.body) : undefined
  if (!fn || !call) return undefined
  const scope = makeScope(cls, fn)
  const work = (node: Expression): Value =>
    interpreter.call(
      nativeFunction('argument', (rt) => evaluate(rt, node, scope)),
      [],
      { steps },
    )
  const named = call.keywords.filter(({ name }) => name !== undefined)
  const kwargs = new Map(named.map(({ name, value }) => [name ?? '', work(value)]))
  const rest =
    call.args.some(({ kind }) => kind === 'Starred') || named.length < call.keywords.length
  return { ...KIND, values: bindPart(KIND, rest ? [] : call.args.map(work), kwargs), rest }
}

/** The scope of the method's body before its first statement. */
const makeScope = (cls: ClassValue, fn: FunctionValue): Scope => {
  const { positional, positionalOnly } = fn.node.args
  const first = positionalOnly[0] ?? positional[0]
  return {
    kind: 'function',
    names: new Map<string, Value>(first ? [[first.name, cls]] : []),
    parent: fn.scope,
    module: fn.module,
    declared: undefined,
    frame: {
      function: fn,
      caller: fn.scope,
      self: cls,
      maybeReturned: [],
      yielded: [],
      maybeYielded: false,
    },
    owner: fn.owner,
  }
}

/** The first call of `Schema` in the text. */
const findSchemaCall = (body: readonly Statement[]): Call | undefined => {
  for (const node of nodesWithin(body)) if (isSchemaCall(node)) return node
  return undefined
}

const isSchemaCall = (node: Statement | Expression): node is Call => {
  if (node.kind !== 'Call') return false
  const { func } = node
  return func.kind === 'Attribute'
    ? func.attr === 'Schema'
    : func.kind === 'Name' && func.id === 'Schema'
}
