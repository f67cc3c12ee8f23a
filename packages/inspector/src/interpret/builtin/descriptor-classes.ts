import { isClass, isProperty } from '../values/guards.ts'
import type { Definition } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { PropertyValue, Value } from '../values/value.ts'

function withPart(self: Value | undefined, part: Partial<PropertyValue>): Value | undefined {
  return isProperty(self) ? { ...self, ...part } : undefined
}

export const PROPERTY: Definition = {
  name: 'property',
  construct: (_, _cls, args, kwargs) => ({
    kind: 'property',
    get: args[0] ?? kwargs.get('fget') ?? null,
    set: args[1] ?? kwargs.get('fset') ?? null,
    delete: args[2] ?? kwargs.get('fdel') ?? null,
  }),
  methods: {
    getter: (_, [self, get = null]) => withPart(self, { get }),
    setter: (_, [self, set = null]) => withPart(self, { set }),
    deleter: (_, [self, fn = null]) => withPart(self, { delete: fn }),
  },
}

export const CLASSMETHOD: Definition = {
  name: 'classmethod',
  construct: (_, _cls, [fn]) => fn && { kind: 'classmethod', function: fn },
}

export const STATICMETHOD: Definition = {
  name: 'staticmethod',
  construct: (_, _cls, [fn]) => fn && { kind: 'staticmethod', function: fn },
}

export const SUPER: Definition = {
  name: 'super',
  construct: (rt, _cls, args) => (args.length === 0 ? implicitSuper(rt) : makeSuper(args)),
}

/** `super()`: the class whose body defines the running method, and its first argument. */
function implicitSuper(rt: Runtime): Value | undefined {
  const scope = rt.state.scope
  const cls = scope.owner?.cls
  const object = scope.frame?.self
  return cls && object !== undefined ? makeSuper([cls, object]) : undefined
}

function makeSuper([cls, object]: readonly Value[]): Value | undefined {
  if (!isClass(cls) || object === undefined) return undefined
  return { kind: 'super', cls, object }
}
