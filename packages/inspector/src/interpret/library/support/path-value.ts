import { textOf } from '../../values/payload.ts'
import { isInstanceValue } from '../../values/guards.ts'
import { ifKnown, makeInstance } from '../../values/make-value.ts'
import type { Runtime } from '../../runtime.ts'
import { makePurePath } from '../../text/path/pure-path.ts'
import type { ClassValue, Value } from '../../values/value.ts'
import { findLibraryClass } from './library-class.ts'

/**
 * A path is an instance whose content is its text, as in a subclass of str: so it is equal to itself as a key, and
 * everything that takes text takes it.
 */
export const makePath = (cls: ClassValue, ...parts: readonly string[]): Value =>
  makeInstance(cls, makePurePath(...parts))

/** A `pathlib.Path` for other modules of the library. */
export const makePathlibPath = (rt: Runtime, text: string): Value | undefined =>
  ifKnown(findLibraryClass(rt, 'pathlib', 'Path'), (cls) => makePath(cls, text))

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
