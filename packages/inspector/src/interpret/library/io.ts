import { countOf, textOf } from '../values/read-value.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import {
  ifKnown,
  makeInstance,
  makeItemsIterator,
  makeList,
  makeUnknown,
} from '../values/make-value.ts'
import { nativeClass, nativeModule, nativeState } from '../values/native.ts'
import type { Kwargs, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { findLibraryClass } from './support/library-class.ts'
import { locate, readBytes, readText } from './support/pack-file.ts'

/** State of a file object: text or bytes, and how much of it was read. */
interface FileState {
  content: string | Uint8Array
  at: number
  closed: boolean
}

const FILE = nativeState<FileState>('io.IOBase')

/**
 * `open(file, mode, buffering, encoding, errors)`: a file of the pack to read, or one to write whose content is
 * forgotten. Undefined for any other.
 */
export const openFile = (rt: Runtime, args: Value[], kwargs: Kwargs): Value | undefined => {
  const path = pathOf(rt, argumentOf(args, kwargs, 0, 'file'))
  const mode = textOf(argumentOf(args, kwargs, 1, 'mode') ?? 'r')
  if (path === undefined || mode === undefined) return undefined
  const binary = mode.includes('b')
  if (/[wax]/.test(mode)) {
    rt.state.mayHaveWritten ||= path.endsWith('.py')
    return locate(rt, path) === undefined
      ? undefined
      : makeFile(rt, binary ? new Uint8Array() : '', path)
  }
  const encoding = textOf(argumentOf(args, kwargs, 3, 'encoding') ?? null)
  const errors = textOf(argumentOf(args, kwargs, 4, 'errors') ?? null)
  const content = binary ? readBytes(rt, path) : readText(rt, path, encoding, errors)
  return content === undefined ? undefined : makeFile(rt, content, path)
}

/** A file object over content that is there already. */
const makeFile = (rt: Runtime, content: string | Uint8Array, name?: string): Value => {
  const cls = findLibraryClass(
    rt,
    'io',
    typeof content === 'string' ? 'TextIOBase' : 'BufferedIOBase',
  )
  if (cls === undefined) return makeUnknown('open()', 'standard-library')
  const state: FileState = { content, at: 0, closed: false }
  const file = makeInstance(cls, undefined, FILE.wrap(state))
  if (name !== undefined) file.attributes.set('name', name)
  return file
}

/** A class of file objects; those of io differ in name only. */
const makeFileClass = (rt: Runtime, name: string) =>
  nativeClass(rt, {
    name,
    module: 'io',
    methods: METHODS,
    quiet: 'flush truncate writelines __del__',
  })

/** Everything that was not read yet, at limit `size` units of it. */
const readRest = (state: FileState, size?: number): string | Uint8Array => {
  const start = state.at
  const end = size === undefined || size < 0 ? state.content.length : start + size
  state.at = Math.min(end, state.content.length)
  return state.content.slice(start, state.at)
}

const ofState =
  (call: (state: FileState, args: Value[], rt: Runtime) => Value | undefined): NativeCall =>
  (rt, [self, ...args]) =>
    ifKnown(FILE.of(self), (state) => call(state, args, rt))

const toValue = (content: string | Uint8Array): Value =>
  typeof content === 'string' ? content : { kind: 'bytes', data: content }

const linesOf = (rt: Runtime, state: FileState): Value[] | undefined => {
  const rest = readRest(state)
  const text = typeof rest === 'string' ? rest : Buffer.from(rest).toString('latin1')
  // Files know line feeds only; splitlines would break at form feeds too.
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '')
  if (!rt.budget.allowItems(lines.length)) return undefined
  return lines.map((line) => toValue(typeof rest === 'string' ? line : Buffer.from(line, 'latin1')))
}

const close = ofState((state) => {
  state.closed = true
  return null
})

const METHODS: Record<string, NativeCall> = {
  __enter__: (_rt, [self]) => self,
  __exit__: close,
  close,
  read: ofState((state, [size]) => {
    const limit = size === undefined || size === null ? -1 : countOf(size)
    return limit === undefined ? undefined : toValue(readRest(state, limit))
  }),
  readline: ofState((state) => {
    const end = state.content.indexOf(
      (typeof state.content === 'string' ? '\n' : 10) as never,
      state.at,
    )
    return toValue(readRest(state, end < 0 ? undefined : end + 1 - state.at))
  }),
  readlines: ofState((state, _args, rt) => ifKnown(linesOf(rt, state), makeList)),
  __iter__: ofState((state, _args, rt) =>
    ifKnown(linesOf(rt, state), (lines) => makeItemsIterator('file_iterator', lines)),
  ),
  write: ofState((_state, [text]) => BigInt(textOf(text)?.length ?? 0)),
  seek: ofState((state, [at]) => {
    const offset = countOf(at)
    if (offset === undefined) return undefined
    state.at = Math.max(0, Math.min(offset, state.content.length))
    return BigInt(offset)
  }),
}

/** `io`: `open`. */
export const makeIo = (rt: Runtime): ModuleValue => {
  const text = makeFileClass(rt, 'TextIOBase')
  const bytes = makeFileClass(rt, 'BufferedIOBase')
  return nativeModule('io', {
    functions: { open: openFile },
    attributes: {
      TextIOBase: text,
      BufferedIOBase: bytes,
      TextIOWrapper: nativeClass(rt, { name: 'TextIOWrapper', module: 'io', bases: [text] }),
      IOBase: nativeClass(rt, { name: 'IOBase', module: 'io' }),
    },
  })
}
