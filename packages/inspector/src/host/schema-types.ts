import { findInClass } from '../interpret/operate/class-lookup.ts'
import { isClass, isInstanceValue } from '../interpret/values/read-value.ts'
import { makeInstance, makeTuple } from '../interpret/values/make-value.ts'
import { nativeClass, nativeFunction } from '../interpret/values/native.ts'
import type { ClassValue, NativeCall, NativeValue, Runtime, Value } from '../interpret/types.ts'
import { bindPart, findPartKind, type PartKind, type PartState } from './schema-part.ts'

/**
 * The classes of the host's `io` that make up a schema: `Schema`, `Custom`, inputs, outputs, templates. Calling one
 * gives an object with its parameters as attributes, which a pack may change before the host reads it. They are found by
 * the tail of the name, as packs import `io` by several paths.
 */
export const makeSchemaTypes = (): ((dottedName: string) => Value | undefined) => {
  const classOf = makeClasses()
  return (dottedName) => {
    const [, tail] = IN_IO.exec(dottedName) ?? []
    if (tail === undefined) return undefined
    if (tail === 'comfytype') return makeTypeDecorator(dottedName, classOf)
    const kind = findPartKind(tail)
    return kind && makeMaker(dottedName, kind, classOf)
  }
}

const IN_IO = /(?:^|\.)(?:io|IO|_io|_io_public)\.([\w.()]+)$/

type ClassOf = (rt: Runtime, name: string) => ClassValue

/** One class for each maker and runtime: objects of different packs share nothing. */
const makeClasses = (): ClassOf => {
  const made = new WeakMap<Runtime, Map<string, ClassValue>>()
  return (rt, name) => {
    const classes = made.get(rt) ?? new Map<string, ClassValue>()
    made.set(rt, classes)
    const cls = classes.get(name) ?? makeClass(rt, name)
    classes.set(name, cls)
    return cls
  }
}

/** Makes a class of the host. An attribute that is not set is unknown rather than an error. */
const makeClass = (rt: Runtime, name: string): ClassValue =>
  nativeClass(rt, {
    name,
    module: 'comfy_api.latest._io',
    methods: { __getattr__: () => undefined },
  })

const makeMaker = (dottedName: string, kind: PartKind, classOf: ClassOf): NativeValue => {
  const make =
    (rest: boolean): NativeCall =>
    (rt, args, kwargs) => {
      const state: PartState = { schemaPart: kind, rest }
      const part = makeInstance(classOf(rt, kind.maker), undefined, state)
      for (const [name, value] of bindPart(kind, args, kwargs)) part.attributes.set(name, value)
      if (kind.maker === 'Custom')
        addSides(part.attributes, part.attributes.get('io_type'), classOf)
      return part
    }
  const base = nativeFunction(dottedName, (rt) => makeTuple([makeBase(rt, kind, classOf)]))
  return {
    ...nativeFunction(dottedName, make(false)),
    callWithRest: make(true),
    attributes: new Map([['__mro_entries__', base]]),
  }
}

/** Makes the base of classes of the pack that inherit from such a class: their objects take part in a schema, too. */
const makeBase = (rt: Runtime, kind: PartKind, classOf: ClassOf): ClassValue =>
  nativeClass(rt, {
    name: kind.maker,
    module: 'comfy_api.latest._io',
    bases: [classOf(rt, kind.maker)],
    methods: {
      __init__: (rt, [self, ...args], kwargs) => {
        if (!isInstanceValue(self)) return null
        const state: PartState = { schemaPart: ownKind(rt, self.cls, kind), rest: false }
        self.native = state
        for (const [name, value] of bindPart(kind, args, kwargs)) self.attributes.set(name, value)
        return null
      },
    },
  })

/** The socket type of a side is that of the type whose side it is. */
const ownKind = (rt: Runtime, side: ClassValue, kind: PartKind): PartKind => {
  const parent = findInClass(rt, side, 'Parent')
  const socketType = isClass(parent) ? findInClass(rt, parent, 'io_type') : undefined
  return socketType === undefined ? kind : { ...kind, socketType }
}

/** A socket type of the pack's own has both sides. */
const addSides = (names: Map<string, Value>, ioType: Value | undefined, classOf: ClassOf): void => {
  const socketType = ioType ?? null
  for (const maker of ['Input', 'Output'])
    if (!names.has(maker))
      names.set(maker, makeMaker(`io.${maker}`, { maker, socketType }, classOf))
}

/** `@io.comfytype(io_type="X")` on a class of the pack. */
const makeTypeDecorator = (dottedName: string, classOf: ClassOf): NativeValue =>
  nativeFunction(dottedName, (_rt, args, kwargs) => {
    const ioType = kwargs.get('io_type') ?? args[0]
    return nativeFunction(`${dottedName}()`, (_, [cls]) => {
      if (!isClass(cls)) return cls
      addSides(cls.namespace, ioType, classOf)
      cls.namespace.set('io_type', ioType ?? null)
      for (const own of cls.namespace.values()) if (isClass(own)) own.namespace.set('Parent', cls)
      return cls
    })
  })
