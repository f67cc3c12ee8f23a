import { makeInstance } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue } from '../values/value.ts'
import { functionsOf, machineFunctions, quietFunctions, quietMethods } from './support/names.ts'

// Modules that would act on the machine or tell about it, of which only the harmless part is done.

export const makeWarnings = (rt: Runtime): ModuleValue =>
  nativeModule('warnings', [
    ...quietFunctions('warnings', 'warn filterwarnings simplefilter resetwarnings warn_explicit'),
    ['catch_warnings', makeBlock(rt, 'catch_warnings', 'warnings')],
  ])

export const makeTraceback = (): ModuleValue =>
  nativeModule('traceback', [
    ...quietFunctions('traceback', 'print_exc print_exception print_stack print_tb'),
    ...machineFunctions('traceback', 'format_exc format_exception format_stack extract_stack'),
  ])

export const makeAtexit = (): ModuleValue =>
  nativeModule('atexit', [...functionsOf('atexit', { register: (_rt, [target]) => target })])

/** Threads never run; locks are free. */
export const makeThreading = (rt: Runtime): ModuleValue => {
  const thread = nativeClass(rt, {
    name: 'Thread',
    module: 'threading',
    methods: {
      ...quietMethods('__init__ start join setDaemon cancel run'),
      is_alive: () => false,
    },
  })
  const lock = makeBlock(rt, 'Lock', 'threading')
  return nativeModule('threading', [
    ['Thread', thread],
    ['Timer', nativeClass(rt, { name: 'Timer', module: 'threading', bases: [thread] })],
    ['Lock', lock],
    ...['RLock', 'Condition', 'Semaphore', 'BoundedSemaphore'].map(
      (name) => [name, nativeClass(rt, { name, module: 'threading', bases: [lock] })] as const,
    ),
    ['Event', makeBlock(rt, 'Event', 'threading')],
    ['local', nativeClass(rt, { name: 'local', module: 'threading' })],
    ...machineFunctions('threading', 'current_thread main_thread get_ident active_count'),
  ])
}

/** A context manager whose other methods do nothing. */
const makeBlock = (rt: Runtime, name: string, module: string): ClassValue =>
  nativeClass(rt, {
    name,
    module,
    methods: {
      ...quietMethods('__init__ __exit__ release set clear notify notify_all'),
      __enter__: (_rt, [self]) => self,
      acquire: () => true,
      locked: () => false,
      wait: () => true,
      is_set: () => false,
    },
  })

/** A coroutine's body has run when it is called, so `run` has its result in hand. */
export const makeAsyncio = (rt: Runtime): ModuleValue => {
  const loop = nativeClass(rt, {
    name: 'AbstractEventLoop',
    module: 'asyncio',
    methods: {
      ...quietMethods('close stop run_forever call_soon call_soon_threadsafe call_later'),
      run_until_complete: (_rt, [, value]) => value,
      create_task: (_rt, [, value]) => value,
      is_running: () => false,
      is_closed: () => false,
    },
  })
  const getLoop = () => makeInstance(loop)
  return nativeModule('asyncio', [
    ['AbstractEventLoop', loop],
    ...functionsOf('asyncio', {
      run: (_rt, [value]) => value,
      wait_for: (_rt, [value]) => value,
      create_task: (_rt, [value]) => value,
      ensure_future: (_rt, [value]) => value,
      get_event_loop: getLoop,
      new_event_loop: getLoop,
      get_running_loop: getLoop,
    }),
    ...quietFunctions('asyncio', 'set_event_loop set_event_loop_policy sleep'),
    ...['Lock', 'Event', 'Semaphore'].map(
      (name) => [name, makeBlock(rt, name, 'asyncio')] as const,
    ),
  ])
}

/** Writes are forgotten. */
export const makeShutil = (rt: Runtime): ModuleValue =>
  nativeModule('shutil', [
    ...quietFunctions('shutil', 'rmtree copyfileobj copymode copystat unpack_archive chown'),
    ...functionsOf('shutil', {
      copy: (_rt, [, target]) => target,
      copy2: (_rt, [, target]) => target,
      copyfile: (_rt, [, target]) => target,
      copytree: (_rt, [, target]) => target,
      move: (_rt, [, target]) => target,
    }),
    ['Error', rt.builtinClass('OSError')],
    ...machineFunctions('shutil', 'which disk_usage get_terminal_size make_archive'),
  ])

/** The system is the one `sys.platform` names; all else is the machine's. */
export const makePlatform = (): ModuleValue =>
  nativeModule('platform', [
    ...functionsOf('platform', {
      system: () => 'Linux',
      python_implementation: () => 'CPython',
    }),
    ...machineFunctions(
      'platform',
      'platform machine node processor release version uname python_version architecture mac_ver',
    ),
  ])

export const makeWeakref = (rt: Runtime): ModuleValue =>
  nativeModule('weakref', [
    ['WeakValueDictionary', rt.builtinClass('dict')],
    ['WeakKeyDictionary', rt.builtinClass('dict')],
    ['WeakSet', rt.builtinClass('set')],
    ...functionsOf('weakref', {
      ref: (_rt, [object]) => nativeFunction('weakref.ref()', () => object),
    }),
  ])

/** The names that every module sees, as a module. */
export const makeBuiltinsModule = (rt: Runtime): ModuleValue => {
  const module = nativeModule('builtins', [])
  // What a pack puts there, every module sees.
  module.namespace = rt.builtins
  return module
}
