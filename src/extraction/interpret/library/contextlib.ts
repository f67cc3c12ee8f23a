import { isInstanceValue, isIterator } from '../values/guards.ts'
import { isSubclass } from '../operate/is-instance.ts'
import { call } from '../operate/call.ts'
import { makeInstance, orElse } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeMethod, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, Value } from '../values/value.ts'
import { nativeState } from './support/native-state.ts'

const GENERATOR = nativeState<Value>('contextlib.contextmanager')
const CLASSES = nativeState<Value[]>('contextlib.suppress')

/** `contextlib`. */
export const makeContextlib = (rt: Runtime): ModuleValue => {
  const generatorManager = makeGeneratorManager(rt)
  const manager = nativeFunction('contextlib.contextmanager', (rt, [target]) =>
    target === undefined ? undefined : managing(rt, generatorManager, target),
  )
  return nativeModule('contextlib', [
    ['contextmanager', manager],
    ['asynccontextmanager', manager],
    ['suppress', makeSuppress(rt)],
    ['nullcontext', makeHolder(rt, 'nullcontext')],
    ['closing', makeHolder(rt, 'closing')],
    [
      'AbstractContextManager',
      nativeClass(rt, { name: 'AbstractContextManager', module: 'contextlib' }),
    ],
  ])
}

/** The function's generator is read to its end when it is called; its first item is what the block gets. */
const managing = (_rt: Runtime, cls: ClassValue, target: Value): Value =>
  nativeMethod('contextlib.contextmanager()', (rt, args, kwargs) =>
    makeInstance(cls, undefined, GENERATOR.wrap(call(rt, target, args, kwargs))),
  )

const makeGeneratorManager = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: '_GeneratorContextManager',
    module: 'contextlib',
    methods: {
      __enter__: (_rt, [self]) => {
        const generator = GENERATOR.of(self)
        if (!isIterator(generator)) return generator
        return orElse(generator.next(), () => null)
      },
      __exit__: () => false,
      // As a decorator it leaves the function as it is.
      __call__: (_rt, [, target]) => target,
    },
  })

/** `with suppress(KeyError):` swallows what is one of its classes, and what can't be judged. */
const makeSuppress = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'suppress',
    module: 'contextlib',
    construct: (_rt, cls, classes) => makeInstance(cls, undefined, CLASSES.wrap(classes)),
    methods: {
      __init__: () => null,
      __enter__: () => null,
      __exit__: (rt, [self, type = null]) =>
        type !== null &&
        (CLASSES.of(self) ?? []).some((cls) => isSubclass(rt, type, cls) !== false),
    },
  })

/** Enters with what it was made with. */
const makeHolder = (rt: Runtime, name: string): ClassValue =>
  nativeClass(rt, {
    name,
    module: 'contextlib',
    methods: {
      __init__: (_rt, [self, value = null]) => {
        if (isInstanceValue(self)) self.attributes.set('enter_result', value)
        return null
      },
      __enter__: (_rt, [self]) =>
        isInstanceValue(self) ? (self.attributes.get('enter_result') ?? null) : undefined,
      __exit__: () => null,
    },
  })
