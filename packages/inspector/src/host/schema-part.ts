import { makeList } from '../interpret/values/make-value.ts'
import type { InstanceValue, Kwargs, UnknownValue, Value } from '../interpret/types.ts'
import { ownEntry } from './class-facts.ts'
import { FACTS } from './facts.ts'

/** Which class of the host's `io` was called. */
export interface PartKind {
  /** `Input`, `Output`, `Schema`, `Custom`, `Autogrow.TemplatePrefix` ... */
  maker: string
  /** For inputs and outputs: name of their type in `io`; undefined for a type of the pack's own. */
  typeName?: string | undefined
  /** The socket type that the pack gave a type of its own. */
  socketType?: Value
}

/** An object that takes part in a schema. */
export interface SchemaPart extends PartKind {
  /** Parameters by name, None where the pack passed nothing; live, a pack may still change them. */
  values: Map<string, Value>
  /** More may have been passed than is known. */
  rest: boolean
}

const { v3 } = FACTS

/** Names of classes of `io`: `Schema`, `Input`, `Int.Input`, `Int().Input`, `Autogrow.TemplatePrefix`. */
export const findPartKind = (tail: string): PartKind | undefined => {
  const [, name, maker] = /^(?:(\w+)(?:\(\))?\.)?(?:Widget)?(Input|Output)$/.exec(tail) ?? []
  if (maker !== undefined) return { maker, typeName: name }
  return Object.hasOwn(v3.makers, tail) ? { maker: tail } : undefined
}

/** Parameters of a class in their order. */
const parametersOf = ({ maker, typeName = '*' }: PartKind): readonly string[] => {
  if (maker === 'Input') return ownEntry(v3.inputs, typeName) ?? v3.inputs['*'] ?? []
  if (maker === 'Output') return ownEntry(v3.outputs, typeName) ?? v3.outputs['*'] ?? []
  return ownEntry(v3.makers, maker) ?? []
}

/** True when the host gives an input of the type a widget. */
export const hasWidget = (part: PartKind): boolean =>
  part.maker === 'Input' && parametersOf(part).includes('socketless')

/** Parameters by name as the host's constructor would have them. */
export const bindPart = (kind: PartKind, args: readonly Value[], kwargs: Kwargs) => {
  const parameters = parametersOf(kind)
  const values = new Map<string, Value>(parameters.map((name) => [name, null]))
  const maker = kind.typeName === undefined ? kind.maker : `${kind.typeName}.${kind.maker}`
  const defaults = ownEntry(v3.defaults, maker) ?? {}
  for (const [name, value] of Object.entries(defaults))
    values.set(name, typeof value === 'number' ? BigInt(value) : value)
  if (kind.maker === 'Schema')
    for (const name of ['inputs', 'outputs', 'hidden']) values.set(name, makeList([]))
  for (const [index, value] of args.entries()) {
    const name = parameters[index]
    if (name !== undefined) values.set(name, value)
  }
  for (const [name, value] of kwargs) values.set(name, value)
  return values
}

/** The part that a value stands for, also when it is the unknown result of a call whose callee looks like one. */
export const findPart = (value: Value | undefined): SchemaPart | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  if (value.kind === 'instance') return findInInstance(value)
  return value.kind === 'unknown' ? findInCall(value) : undefined
}

/** State of such an instance, named so that no other state is taken for it. */
export interface PartState {
  schemaPart: PartKind
  rest: boolean
}

const findInInstance = ({ native, attributes }: InstanceValue): SchemaPart | undefined => {
  if (typeof native !== 'object' || native === null || !('schemaPart' in native)) return undefined
  const { schemaPart, rest } = native as PartState
  return { ...schemaPart, values: attributes, rest }
}

const CALLED =
  /(?:^|\.)(\w+(?:\(\))?\.(?:Input|Output|TemplatePrefix|TemplateNames|Option|Template)|Schema)\(\)$/

const findInCall = ({ name, call }: UnknownValue): SchemaPart | undefined => {
  const [, tail] = CALLED.exec(name) ?? []
  const kind = tail === undefined || !call ? undefined : findPartKind(tail)
  if (!kind || !call) return undefined
  return { ...kind, values: bindPart(kind, call.args, call.kwargs), rest: call.rest }
}
