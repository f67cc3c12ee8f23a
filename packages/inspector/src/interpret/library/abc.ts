import { call } from '../operate/call.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { ModuleValue, Runtime } from '../types.ts'

/** `abc`: abstract classes can be made here like any other. */
export const makeAbc = (rt: Runtime): ModuleValue => {
  const metaclass = nativeClass(rt, {
    name: 'ABCMeta',
    module: 'abc',
    bases: [rt.builtinClass('type')],
    methods: { register: (_rt, [, cls]) => cls },
  })
  return nativeModule('abc', {
    attributes: {
      ABCMeta: metaclass,
      ABC: nativeClass(rt, { name: 'ABC', module: 'abc', metaclass }),
    },
    functions: {
      abstractmethod: (_rt, [target]) => target,
      abstractproperty: (rt, args, kwargs) => call(rt, rt.builtinClass('property'), args, kwargs),
    },
  })
}
