import { pathOf } from '../operate/arguments.ts'
import { isInstanceValue, isUnknown, textOf } from '../values/read-value.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import { ifKnown, makeInstance, makeTuple, NOT_IMPLEMENTED } from '../values/make-value.ts'
import type { NativeClass } from '../values/native.ts'
import type { ClassValue, NativeCall, Runtime, Value } from '../types.ts'
import * as pure from '../text/path/pure-path.ts'
import { makePurePath } from '../text/path/pure-path.ts'

/** `Path(*parts)`. `Path` itself makes a PosixPath in Python; that difference shows in its repr only. */
const constructPath = (rt: Runtime, cls: ClassValue, args: Value[]): Value | undefined => {
  const parts = args.map((part) => pathOf(rt, part))
  return parts.every((part) => part !== undefined) ? makePath(cls, ...parts) : undefined
}

/** A method of the path's text. */
const ofText =
  (call: (path: string, rt: Runtime, self: Value) => Value | undefined) =>
  (rt: Runtime, self: Value): Value | undefined =>
    ifKnown(textOfPath(self), (path) => call(path, rt, self))

/** A method of the path and one text, that gives a path. */
const toPath =
  (call: (path: string, text: string) => string | undefined): NativeCall =>
  (rt, [self = null, other]) => {
    const [path, text] = [textOfPath(self), pathOf(rt, other)]
    return path === undefined || text === undefined ? undefined : likePath(self, call(path, text))
  }

const compared =
  (holds: (order: number) => boolean): NativeCall =>
  (_rt, [self, other]) => {
    const [a, b] = [textOfPath(self), textOfPath(other)]
    return a === undefined || b === undefined ? NOT_IMPLEMENTED : holds(pure.comparePaths(a, b))
  }

const joinpath: NativeCall = (rt, args) => likePath(args[0], joinpathText(rt, args))

const relativeTo: NativeCall = (rt, [self, ...others]) => {
  const [path, folder] = [textOfPath(self), joinpathText(rt, others)]
  if (path === undefined || folder === undefined) return undefined
  const relative = pure.relativeTo(path, folder)
  return relative === undefined ? raiseIfHandled(rt, 'ValueError') : likePath(self, relative)
}

const joinpathText = (rt: Runtime, values: Value[]): string | undefined => {
  const parts = values.map((part) => pathOf(rt, part))
  return parts.every((part) => part !== undefined) ? pure.makePurePath(...parts) : undefined
}

const METHODS: Record<string, NativeCall> = {
  // The content is there already, and object has nothing to do with it.
  __init__: () => null,
  __str__: (_rt, [self]) => textOfPath(self),
  __fspath__: (_rt, [self]) => textOfPath(self),
  __repr__: () => undefined,
  __eq__: (_rt, [self, other]) => {
    const [a, b] = [textOfPath(self), textOfPath(other)]
    if (isUnknown(other)) return undefined
    return a !== undefined && a === b
  },
  __lt__: compared((order) => order < 0),
  __le__: compared((order) => order <= 0),
  __gt__: compared((order) => order > 0),
  __ge__: compared((order) => order >= 0),
  __truediv__: joinpath,
  __rtruediv__: (rt, [self, other]) => {
    const [path, first] = [textOfPath(self), pathOf(rt, other)]
    if (path === undefined || first === undefined) return undefined
    return likePath(self, pure.makePurePath(first, path))
  },
  joinpath,
  with_name: toPath(pure.withName),
  with_suffix: toPath(pure.withSuffix),
  relative_to: relativeTo,
  is_absolute: (_rt, [self]) => textOfPath(self)?.startsWith('/'),
  as_posix: (_rt, [self]) => textOfPath(self),
}

/** The part of pathlib that only looks at the text. */
export const PURE_PATH: Omit<NativeClass, 'bases'> = {
  name: 'PurePath',
  module: 'pathlib',
  payload: 'str',
  construct: constructPath,
  methods: METHODS,
  properties: {
    name: ofText(pure.nameOf),
    stem: ofText(pure.stemOf),
    suffix: ofText(pure.suffixOf),
    parts: ofText((path) => makeTuple(pure.partsOf(path))),
    parent: ofText((path, _rt, self) => likePath(self, pure.parentOf(path))),
    parents: ofText((path, _rt, self) =>
      makeTuple(pure.parentsOf(path).map((parent) => likePath(self, parent) ?? parent)),
    ),
  },
}

/**
 * A path is an instance whose content is its text, as in a subclass of str: so it is equal to itself as a key, and
 * everything that takes text takes it.
 */
export const makePath = (cls: ClassValue, ...parts: readonly string[]): Value =>
  makeInstance(cls, makePurePath(...parts))

/** A path of the same class. */
export const likePath = (self: Value | undefined, text: string | undefined): Value | undefined =>
  isInstanceValue(self) && text !== undefined ? makePath(self.cls, text) : undefined

/** Text of a path, and of nothing else. */
export const textOfPath = (value: Value | undefined): string | undefined =>
  isInstanceValue(value) && isPathClass(value.cls) ? textOf(value) : undefined

const isPathClass = (cls: ClassValue): boolean =>
  cls.mro.some(
    (base) => base.kind === 'class' && base.name === 'PurePath' && base.home === 'library',
  )
