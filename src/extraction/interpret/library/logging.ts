import { isInstanceValue } from '../values/guards.ts'
import { argumentOf } from '../operate/arguments.ts'
import { makeInstance, makeList } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Value } from '../values/value.ts'
import { quietFunctions, quietMethods } from './support/names.ts'

const LEVELS: [string, bigint][] = [
  ['CRITICAL', 50n],
  ['FATAL', 50n],
  ['ERROR', 40n],
  ['WARNING', 30n],
  ['WARN', 30n],
  ['INFO', 20n],
  ['DEBUG', 10n],
  ['NOTSET', 0n],
]

const WRITERS = 'debug info warning warn error exception critical fatal log'

const LOGGER = `${WRITERS} setLevel addHandler removeHandler addFilter removeFilter handle callHandlers`

const HANDLER =
  'setLevel setFormatter emit handle flush close addFilter removeFilter acquire release'

/** `logging`: loggers that say nothing. */
export const makeLogging = (rt: Runtime): ModuleValue => {
  const logger = nativeClass(rt, { name: 'Logger', module: 'logging', methods: loggerMethods() })
  const handler = makeClass(rt, 'Handler', quietMethods(HANDLER))
  const loggers = new Map<Value, Value>()
  const getLogger: NativeCall = (rt, args, kwargs) => {
    const name = argumentOf(args, kwargs, 0, 'name') ?? 'root'
    const known = loggers.get(name)
    if (known !== undefined) return known
    const made = makeLogger(logger, name)
    if (rt.budget.allowItems(1)) loggers.set(name, made)
    return made
  }
  return nativeModule('logging', [
    ...LEVELS,
    ['getLogger', nativeFunction('logging.getLogger', getLogger)],
    ['root', makeLogger(logger, 'root')],
    ['Logger', logger],
    [
      'LoggerAdapter',
      nativeClass(rt, { name: 'LoggerAdapter', module: 'logging', bases: [logger] }),
    ],
    ['Handler', handler],
    ...['StreamHandler', 'FileHandler', 'NullHandler'].map(
      (name) => [name, nativeClass(rt, { name, module: 'logging', bases: [handler] })] as const,
    ),
    ['Formatter', makeClass(rt, 'Formatter')],
    ['Filter', makeClass(rt, 'Filter')],
    ...quietFunctions(
      'logging',
      `${WRITERS} basicConfig disable captureWarnings shutdown addLevelName`,
    ),
  ])
}

const makeClass = (
  rt: Runtime,
  name: string,
  methods: Record<string, NativeCall> = {},
): ClassValue => nativeClass(rt, { name, module: 'logging', methods })

const loggerMethods = (): Record<string, NativeCall> => ({
  ...quietMethods(LOGGER),
  __init__: (_rt, [self, name = 'root']) => {
    if (isInstanceValue(self)) setUp(self.attributes, name)
    return null
  },
  hasHandlers: () => false,
  isEnabledFor: () => false,
  getEffectiveLevel: () => 30n,
  getChild: (_rt, [self, name = '']) =>
    isInstanceValue(self) ? makeLogger(self.cls, name) : undefined,
})

const makeLogger = (cls: ClassValue, name: Value): Value => {
  const logger = makeInstance(cls)
  setUp(logger.attributes, name)
  return logger
}

const setUp = (attributes: Map<string, Value>, name: Value): void => {
  attributes.set('name', name)
  attributes.set('level', 0n)
  attributes.set('handlers', makeList([]))
  attributes.set('filters', makeList([]))
  attributes.set('propagate', true)
}
