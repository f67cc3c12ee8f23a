import { isDict, textOf } from '../values/read-value.ts'
import { call } from '../operate/call.ts'
import { argumentOf } from '../operate/arguments.ts'
import { setEntry } from '../operate/mapping.ts'
import { makePackModule } from '../modules/run-module.ts'
import { makeEmptyDict, makeTuple } from '../values/make-value.ts'
import { nativeFunction } from '../values/native.ts'
import { pythonModule } from './python-module.ts'
import type { ClassValue, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'

/** `types`: names of builtin types, and plain holders of attributes. */
export const makeTypes = (rt: Runtime): ModuleValue =>
  pythonModule('types', {
    attributes: {
      ModuleType: makeModuleType(rt),
      MethodType: withNew(rt.builtinClass('method'), 'types.MethodType', () => undefined),
      FunctionType: rt.builtinClass('function'),
      LambdaType: rt.builtinClass('function'),
      BuiltinFunctionType: rt.builtinClass('builtin_function_or_method'),
      BuiltinMethodType: rt.builtinClass('builtin_function_or_method'),
      GeneratorType: rt.builtinClass('generator'),
      NoneType: rt.builtinClass('NoneType'),
    },
    functions: {
      new_class: newClass,
      // A view that nobody may change is the dict itself to whoever only reads.
      MappingProxyType: (_rt, [dict]) => dict,
    },
  })(rt)

/** `new_class(name, bases, kwds, exec_body)`: the body fills the namespace. */
const newClass: NativeCall = (rt, args, kwargs) => {
  const name = argumentOf(args, kwargs, 0, 'name')
  const words = argumentOf(args, kwargs, 2, 'kwds') ?? null
  const body = argumentOf(args, kwargs, 3, 'exec_body') ?? null
  if (name === undefined || (words !== null && !isDict(words))) return undefined
  const given = new Map(words === null ? [] : (words.values as Map<string, Value>))
  const metaclass = given.get('metaclass') ?? rt.builtinClass('type')
  given.delete('metaclass')
  const names = makeEmptyDict()
  if (body !== null) call(rt, body, [names])
  // It is made in that module.
  if (!names.values.has('__module__')) setEntry(rt, names, '__module__', 'types')
  return call(
    rt,
    metaclass,
    [name, argumentOf(args, kwargs, 1, 'bases') ?? makeTuple([]), names],
    given,
  )
}

const constructModule: NativeCall = (rt, [, ...args], kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  if (name === undefined) return undefined
  const module = makePackModule(name, `${rt.files.root}/${name.replaceAll('.', '/')}.py`, false)
  module.namespace.delete('__file__')
  return module
}

/** Calling it makes an empty module of the pack; `isinstance` holds for every module. */
const makeModuleType = (rt: Runtime): ClassValue =>
  withNew(rt.builtinClass('module'), 'types.ModuleType', constructModule)

/** Gives a builtin class without a constructor one, once. */
const withNew = (cls: ClassValue, name: string, call: NativeCall): ClassValue => {
  if (!cls.namespace.has('__new__')) {
    cls.namespace.set('__new__', { kind: 'staticmethod', function: nativeFunction(name, call) })
  }
  return cls
}
