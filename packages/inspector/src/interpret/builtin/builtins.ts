import { words } from '../../words.ts'
import { isDict, isNative, isStaticMethod } from '../values/read-value.ts'
import { ELLIPSIS, NOT_IMPLEMENTED } from '../values/make-value.ts'
import { fillNativeClass, makeNativeClass, nativeFunction } from '../values/native.ts'
import type { Definition } from '../values/native.ts'
import type { ClassValue, Value } from '../types.ts'
import { DESCRIPTOR_CLASSES, OBJECT, SUPER, TYPE } from './basic-classes.ts'
import { CODE_FUNCTIONS } from './code-functions.ts'
import { CONTAINER_CLASSES } from './container-classes.ts'
import { updateWithRest } from './dict-methods.ts'
import { BASE_EXCEPTION, listExceptions } from './exceptions.ts'
import { GENERATOR, ITERATION_CLASSES, ITERATOR, viewClass } from './iteration-classes.ts'
import { BOOL, FLOAT, INT } from './number-classes.ts'
import { OBJECT_FUNCTIONS } from './object-functions.ts'
import { BYTES, STR } from './text-classes.ts'
import { VALUE_FUNCTIONS } from './value-functions.ts'

// Classes that builtins name, whose instances are other kinds of values.
const VISIBLE: Definition[] = [
  STR,
  INT,
  FLOAT,
  BYTES,
  ...CONTAINER_CLASSES,
  ...ITERATION_CLASSES,
  ...DESCRIPTOR_CLASSES,
  SUPER,
  BASE_EXCEPTION,
]

const HIDDEN: Definition[] = [
  ITERATOR,
  GENERATOR,
  ...['dict_keys', 'dict_values', 'dict_items'].map((name) => viewClass(name)),
  ...words(
    'NoneType ellipsis NotImplementedType function builtin_function_or_method method module',
  ).map((name) => ({ name })),
]

/** Functions and classes that are there, but whose results can't be known. */
const UNKNOWN_RESULTS = words(
  'input memoryview bytearray complex breakpoint aiter anext ascii divmod pow hex oct bin ord',
)

/** Makes the names that every module sees, and gives builtin classes, those without such a name too, for one runtime. */
export function makeBuiltins() {
  const classes = new Map<string, ClassValue>()
  const { object, type } = makeRoots()
  const names = new Map<string, Value>([
    ['object', object],
    ['type', type],
  ])
  classes.set('object', object).set('type', type)
  const add = (definition: Definition, base: ClassValue) => {
    const whole = { ...definition, module: 'builtins' }
    const cls = makeNativeClass(whole, [base], type)
    fillNativeClass(cls, whole)
    classes.set(definition.name, cls)
    return cls
  }
  for (const definition of VISIBLE) names.set(definition.name, add(definition, object))
  names.set('bool', add(BOOL, classes.get('int') ?? object))
  for (const definition of HIDDEN) add(definition, object)
  for (const { base, ...definition } of listExceptions())
    names.set(definition.name, add(definition, classes.get(base) ?? object))
  addOther(names, classes)
  const iterator = classes.get('iterator') ?? object
  const classNamed = (name: string) =>
    classes.get(name) ?? (name.endsWith('iterator') ? iterator : object)
  return { names, classNamed }
}

/** `object` and `type`, each of which needs the other. */
function makeRoots(): { object: ClassValue; type: ClassValue } {
  const object = makeNativeClass({ name: 'object', module: 'builtins' }, [], undefined as never)
  const type = makeNativeClass({ name: 'type', module: 'builtins' }, [object], object)
  type.metaclass = type
  object.metaclass = type
  fillNativeClass(object, { ...OBJECT, module: 'builtins' })
  fillNativeClass(type, { ...TYPE, module: 'builtins' })
  return { object, type }
}

const FUNCTIONS = { ...OBJECT_FUNCTIONS, ...VALUE_FUNCTIONS, ...CODE_FUNCTIONS }

function addOther(names: Map<string, Value>, classes: ReadonlyMap<string, ClassValue>): void {
  for (const alias of ['EnvironmentError', 'IOError', 'WindowsError'])
    names.set(alias, names.get('OSError') ?? null)
  for (const [name, call] of Object.entries(FUNCTIONS)) names.set(name, nativeFunction(name, call))
  for (const name of UNKNOWN_RESULTS)
    names.set(
      name,
      nativeFunction(name, () => undefined),
    )
  names.set('Ellipsis', ELLIPSIS)
  names.set('NotImplemented', NOT_IMPLEMENTED)
  names.set('__debug__', true)
  acceptRest(classes)
}

/** `print(*unknown)` is a print; `dict(**unknown)` and `update(**unknown)` know what they were given besides. */
function acceptRest(classes: ReadonlyMap<string, ClassValue>): void {
  const dict = classes.get('dict')
  const update = dict?.namespace.get('update')
  if (isNative(update)) update.callWithRest = updateWithRest
  const init = dict?.namespace.get('__init__')
  if (isNative(init)) init.callWithRest = updateWithRest
  const make = dict?.namespace.get('__new__')
  if (!isStaticMethod(make)) return
  const inner = make.function
  if (!isNative(inner)) return
  inner.callWithRest = (rt, args, kwargs) => {
    const made = inner.call(rt, args, kwargs)
    if (isDict(made)) made.rest = true
    return made
  }
}
