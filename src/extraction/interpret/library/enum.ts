import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue } from '../values/value.ts'
import { makeAutoClass } from './enum-auto.ts'
import { makeEnumType } from './enum-type.ts'
import { ENUM_METHODS, ENUM_PROPERTIES, VALUE_TEXT_METHODS } from './enum-member.ts'

/** `enum`: classes whose members are made once, in the order of their statements. */
export const makeEnum = (rt: Runtime): ModuleValue => {
  const metaclass = makeEnumType(rt)
  const make = (name: string, bases: ClassValue[], methods = {}, payload?: 'int' | 'str') =>
    nativeClass(rt, {
      name,
      module: 'enum',
      metaclass,
      methods,
      ...(bases.length > 0 ? { bases } : { properties: ENUM_PROPERTIES }),
      ...(payload ? { payload } : {}),
    })
  const [int, str] = [rt.builtinClass('int'), rt.builtinClass('str')]
  const base = make('Enum', [], ENUM_METHODS)
  const repr = make('ReprEnum', [base], VALUE_TEXT_METHODS)
  return nativeModule('enum', [
    ['EnumType', metaclass],
    ['EnumMeta', metaclass],
    ['Enum', base],
    ['ReprEnum', repr],
    ['IntEnum', make('IntEnum', [int, repr], {}, 'int')],
    ['StrEnum', make('StrEnum', [str, repr], {}, 'str')],
    ['auto', makeAutoClass(rt)],
    ['unique', nativeFunction('enum.unique', (_rt, [cls]) => cls)],
  ])
}
