import { textOf } from '../values/payload.ts'
import { isInstanceValue } from '../values/guards.ts'
import { formatValue, reprOf, strOf } from '../operate/text-of.ts'
import type { Runtime } from '../runtime.ts'
import type { NativeCall, Value } from '../values/value.ts'
import { formatText } from '../text/format/format-text.ts'

const attribute = (self: Value | undefined, name: string): Value | undefined =>
  isInstanceValue(self) ? self.attributes.get(name) : undefined

/** `Color.RED`. */
const dottedName = (self: Value | undefined): string | undefined => {
  const name = textOf(attribute(self, '_name_'))
  return isInstanceValue(self) && name !== undefined ? `${self.cls.name}.${name}` : undefined
}

const format: NativeCall = (rt, [self = null, spec]) => {
  const [text, specText] = [strOf(rt, self), textOf(spec)]
  return text === undefined || specText === undefined ? undefined : formatText(text, specText)
}

/** Methods of every member. */
export const ENUM_METHODS: Record<string, NativeCall> = {
  __str__: (_rt, [self]) => dottedName(self),
  __repr__: (rt, [self]) => {
    const value = attribute(self, '_value_')
    const [name, text] = [dottedName(self), value === undefined ? undefined : reprOf(rt, value)]
    return name === undefined || text === undefined ? undefined : `<${name}: ${text}>`
  },
  __format__: format,
  __copy__: (_rt, [self]) => self,
  __deepcopy__: (_rt, [self]) => self,
}

/** Of enums that print as their value: IntEnum, StrEnum, IntFlag. */
export const VALUE_TEXT_METHODS: Record<string, NativeCall> = {
  __str__: (rt, [self]) => strOf(rt, attribute(self, '_value_') ?? null),
  __format__: (rt, [self, spec]) => {
    const [value, text] = [attribute(self, '_value_'), textOf(spec)]
    return value === undefined || text === undefined ? undefined : formatValue(rt, value, text)
  },
}

type Getter = (rt: Runtime, self: Value) => Value | undefined

export const ENUM_PROPERTIES: Record<string, Getter> = {
  name: (_rt, self) => attribute(self, '_name_'),
  value: (_rt, self) => attribute(self, '_value_'),
}
