import { evaluateAnnotation } from '../run-code.ts'
import { words } from '../../words.ts'
import { docstringOf } from '../evaluate/make-function.ts'
import { globalsOf } from '../evaluate/name.ts'
import { makeGetter } from './bind.ts'
import { setEntry } from './mapping.ts'
import { typeOf } from './is-instance.ts'
import type {
  ClassValue,
  FunctionValue,
  InstanceValue,
  NativeValue,
  PropertyValue,
  Runtime,
  Value,
} from '../types.ts'
import { dictCopy } from '../values/dict.ts'
import { isObject } from '../values/read-value.ts'
import { makeEmptyDict, makeNamespaceDict, makeTuple, orElse } from '../values/make-value.ts'

/** Attributes that every object of a kind has, and that stand in no namespace. */
export function specialAttribute(rt: Runtime, value: Value, name: string): Value | undefined {
  if (isObject(value)) {
    if (name === '__get__' && DESCRIPTORS.has(value.kind)) return makeGetter(value)
    switch (value.kind) {
      case 'function':
        return orElse(value.attributes.get(name), () => ofFunction(rt, value, name))
      case 'native':
        return orElse(value.attributes?.get(name), () => ofNative(value, name))
      case 'class':
        return ofClass(value, name)
      case 'instance':
        return ofInstance(value, name)
      case 'module':
        return name === '__dict__' ? globalsOf(value) : undefined
      case 'method':
        return ofMethod(rt, value, name)
      case 'property':
        return ofProperty(value, name)
      case 'classmethod':
      case 'staticmethod':
        return name === '__func__' || name === '__wrapped__'
          ? value.function
          : specialAttribute(rt, value.function, name)
    }
  }
  return name === '__class__' ? typeOf(rt, value) : undefined
}

const DESCRIPTORS: ReadonlySet<string> = new Set(
  words('function method classmethod staticmethod property'),
)

function ofProperty(value: PropertyValue, name: string): Value | undefined {
  if (name === 'fget') return value.get
  if (name === 'fset') return value.set
  return name === 'fdel' ? value.delete : undefined
}

function ofFunction(rt: Runtime, value: FunctionValue, name: string): Value | undefined {
  switch (name) {
    case '__name__':
      return value.name
    case '__qualname__':
      return value.qualname
    case '__module__':
      return value.module.namespace.get('__name__') ?? value.module.name
    case '__doc__':
      return value.node.kind === 'Lambda' ? null : (docstringOf(value.node.body) ?? null)
    case '__dict__':
      return makeNamespaceDict(value.attributes)
    case '__globals__':
      return globalsOf(value.module)
    case '__annotations__':
      return annotationsOf(rt, value)
    default:
      return undefined
  }
}

function annotationsOf(rt: Runtime, value: FunctionValue): Value {
  const annotations = makeEmptyDict()
  const { node, scope } = value
  const { positionalOnly, positional, varargs, keywordOnly, kwargs } = node.args
  // In CPython's order.
  const parameters = [...positional, ...positionalOnly, varargs ?? [], ...keywordOnly, kwargs ?? []]
  const returns = node.kind === 'Lambda' ? undefined : node.returns
  for (const { name, annotation } of [
    ...parameters.flat(),
    { name: 'return', annotation: returns },
  ])
    if (annotation) setEntry(rt, annotations, name, evaluateAnnotation(rt, annotation, scope))
  value.attributes.set('__annotations__', annotations)
  return annotations
}

function ofNative(value: NativeValue, name: string): Value | undefined {
  const dot = value.name.lastIndexOf('.')
  if (name === '__name__') return value.name.slice(dot + 1)
  if (name === '__qualname__') return value.name
  if (name === '__module__') return dot < 0 ? 'builtins' : value.name.slice(0, dot)
  return name === '__doc__' ? null : undefined
}

function ofMethod(
  rt: Runtime,
  value: { function: Value; self: Value },
  name: string,
): Value | undefined {
  if (name === '__self__') return value.self
  if (name === '__func__') return value.function
  return specialAttribute(rt, value.function, name)
}

function ofInstance(value: InstanceValue, name: string): Value | undefined {
  if (name === '__dict__') return makeNamespaceDict(value.attributes)
  if (name === '__class__') return value.cls
  return name === '__module__' ? value.cls.module : undefined
}

function ofClass(cls: ClassValue, name: string): Value | undefined {
  switch (name) {
    case '__name__':
      return cls.name
    case '__qualname__':
      return cls.qualname
    case '__module__':
      return cls.module
    case '__bases__':
      return makeTuple(cls.bases.slice())
    case '__base__':
      return cls.bases[0] ?? null
    case '__mro__':
      return makeTuple(cls.mro.slice())
    case '__class__':
      return cls.metaclass
    case '__dict__':
      return dictCopy(makeNamespaceDict(cls.namespace))
    case '__doc__':
      // Not inherited.
      return cls.namespace.get('__doc__') ?? null
    case '__annotations__':
      return cls.namespace.get('__annotations__') ?? makeEmptyDict()
    default:
      return undefined
  }
}
