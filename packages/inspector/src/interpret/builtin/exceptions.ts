import { isInstanceValue } from '../values/read-value.ts'
import { strOf } from '../operate/text-of.ts'
import { makeInstance, makeTuple } from '../values/make-value.ts'
import type { Definition } from '../values/native.ts'
import type { InstanceValue, Value } from '../types.ts'

/** The builtin exceptions of CPython 3.11: each line a base and what stands directly below it. */
const TREE = `BaseException: Exception GeneratorExit KeyboardInterrupt SystemExit BaseExceptionGroup
Exception: ArithmeticError AssertionError AttributeError BufferError EOFError ImportError LookupError MemoryError NameError OSError ReferenceError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemError TypeError ValueError Warning ExceptionGroup
ArithmeticError: FloatingPointError OverflowError ZeroDivisionError
ImportError: ModuleNotFoundError
LookupError: IndexError KeyError
NameError: UnboundLocalError
OSError: BlockingIOError ChildProcessError ConnectionError FileExistsError FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError
ConnectionError: BrokenPipeError ConnectionAbortedError ConnectionRefusedError ConnectionResetError
RuntimeError: NotImplementedError RecursionError
SyntaxError: IndentationError
IndentationError: TabError
ValueError: UnicodeError
UnicodeError: UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError
Warning: BytesWarning DeprecationWarning EncodingWarning FutureWarning ImportWarning PendingDeprecationWarning ResourceWarning RuntimeWarning SyntaxWarning UnicodeWarning UserWarning`

/** Name and base of each, bases first. */
export function listExceptions(): (Definition & { base: string })[] {
  return TREE.split('\n').flatMap((line) => {
    const [base = '', names = ''] = line.split(': ')
    return names.split(' ').map((name) => ({ name, base }))
  })
}

export const BASE_EXCEPTION: Definition = {
  name: 'BaseException',
  construct: (rt, cls, args) => {
    if (!rt.budget.allowItems(args.length)) return undefined
    const exception = makeInstance(cls)
    setArguments(exception, args)
    return exception
  },
  methods: {
    __init__: (_, [self, ...args], kwargs) => {
      if (!isInstanceValue(self)) return null
      setArguments(self, args)
      for (const name of ['name', 'path']) {
        const value = kwargs.get(name)
        if (value !== undefined) self.attributes.set(name, value)
      }
      return null
    },
    __str__: (rt, [self]) => strOf(rt, self ?? null),
    with_traceback: (_, [self]) => self,
    add_note: () => null,
  },
  attributes: { __cause__: null, __context__: null, __traceback__: null },
}

function setArguments(exception: InstanceValue, args: Value[]): void {
  exception.attributes.set('args', makeTuple(args))
  const [first] = args
  if (first !== undefined) exception.attributes.set('msg', first)
}
