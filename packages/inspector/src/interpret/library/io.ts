import { textOf } from '../values/payload.ts'
import { isBytes, isInstanceValue } from '../values/guards.ts'
import { makeInstance } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall } from '../values/value.ts'
import { FILE, makeFileClass, openFile } from './file.ts'
import type { FileState } from './file.ts'

/** `io`: `open`, and texts and bytes that are used as files. */
export const makeIo = (rt: Runtime): ModuleValue => {
  const text = makeFileClass(rt, 'TextIOBase')
  const bytes = makeFileClass(rt, 'BufferedIOBase')
  return nativeModule('io', [
    ['open', nativeFunction('io.open', openFile)],
    ['TextIOBase', text],
    ['BufferedIOBase', bytes],
    ['TextIOWrapper', nativeClass(rt, { name: 'TextIOWrapper', module: 'io', bases: [text] })],
    ['StringIO', makeMemoryFile(rt, 'StringIO', text)],
    ['BytesIO', makeMemoryFile(rt, 'BytesIO', bytes)],
    ['IOBase', nativeClass(rt, { name: 'IOBase', module: 'io' })],
  ])
}

/** Writing appends, within the limit of a string. */
const makeMemoryFile = (rt: Runtime, name: string, base: ClassValue): ClassValue =>
  nativeClass(rt, {
    name,
    module: 'io',
    bases: [base],
    methods: { __init__: () => null, write },
    construct: (_rt, cls, [initial]) => {
      const content = name === 'StringIO' ? textOf(initial ?? '') : bytesOf(initial)
      if (content === undefined) return undefined
      const state: FileState = { content, at: 0, closed: false }
      return makeInstance(cls, undefined, FILE.wrap(state))
    },
  })

const bytesOf = (value: Parameters<typeof textOf>[0]): Uint8Array | undefined => {
  if (value === undefined) return new Uint8Array()
  return isBytes(value) ? value.data : undefined
}

const write: NativeCall = (rt, [self, piece]) => {
  const state = FILE.of(self)
  if (state === undefined || !isInstanceValue(self)) return undefined
  const text = textOf(piece)
  if (typeof state.content === 'string' && text !== undefined) {
    if (!rt.budget.allowString(state.content.length + text.length)) return undefined
    state.content += text
    return BigInt(text.length)
  }
  return undefined
}
