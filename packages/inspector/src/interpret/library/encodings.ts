import { isBytes, payloadOf, textOf } from '../values/read-value.ts'
import { createHash } from 'node:crypto'
import { ifKnown, makeBytes, makeInstance } from '../values/make-value.ts'
import {
  functionsOf,
  nativeClass,
  nativeFunction,
  nativeModule,
  nativeState,
} from '../values/native.ts'
import type { ClassValue, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { MAX_TEXT } from '../text/string/code-points.ts'
import { encode } from '../text/string/codec.ts'

/** `base64` of known bytes. */
export const makeBase64 = (): ModuleValue =>
  nativeModule(
    'base64',
    functionsOf('base64', {
      b64encode: encoding('base64'),
      urlsafe_b64encode: encoding('base64url'),
      b64decode: decoding,
      urlsafe_b64decode: decoding,
    }),
  )

const HASHES = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const

/** `hashlib`: digests of known bytes. */
export const makeHashlib = (rt: Runtime): ModuleValue => {
  const cls = makeHashClass(rt)
  const start =
    (name: string): NativeCall =>
    (_rt, [data]) => {
      const bytes = data === undefined ? new Uint8Array() : bytesOf(data)
      if (bytes === undefined) return undefined
      return makeInstance(cls, undefined, HASH.wrap({ name, chunks: [bytes], isKnown: true }))
    }
  const startByName: NativeCall = (rt, [name, ...args], kwargs) =>
    ifKnown(
      HASHES.find((hash) => hash === textOf(name)?.toLowerCase().replaceAll('-', '')),
      (known) => start(known)(rt, args, kwargs),
    )
  return nativeModule('hashlib', [
    ...HASHES.map((name) => [name, nativeFunction(`hashlib.${name}`, start(name))] as const),
    ['new', nativeFunction('hashlib.new', startByName)],
  ])
}

/** Data that was fed in so far; unknown as soon as one piece is. */
interface HashState {
  name: string
  chunks: Uint8Array[]
  isKnown: boolean
}

const HASH = nativeState<HashState>('hashlib.HASH')

const makeHashClass = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'HASH',
    module: 'hashlib',
    methods: {
      update: (rt, [self, data]) => {
        const [state, bytes] = [HASH.of(self), bytesOf(data)]
        if (state === undefined) return undefined
        if (bytes === undefined || !rt.budget.allowItems(1)) state.isKnown = false
        else state.chunks.push(bytes)
        return null
      },
      hexdigest: (_rt, [self]) => digest(self)?.toString('hex'),
      digest: (_rt, [self]) => ifKnown(digest(self), (data) => makeBytes(new Uint8Array(data))),
    },
  })

const digest = (self: Value | undefined): Buffer | undefined => {
  const state = HASH.of(self)
  if (state === undefined || !state.isKnown) return undefined
  const hash = createHash(state.name)
  for (const chunk of state.chunks) hash.update(chunk)
  return hash.digest()
}

/** Known bytes up to the cap. */
const bytesOf = (value: Value | undefined): Uint8Array | undefined => {
  const content = payloadOf(value)
  return isBytes(content) && content.data.length <= MAX_TEXT ? content.data : undefined
}

const encoding =
  (form: 'base64' | 'base64url'): NativeCall =>
  (_rt, [data]) => {
    const bytes = bytesOf(data)
    const text = bytes === undefined ? undefined : Buffer.from(bytes).toString(form)
    // Python keeps the padding of the form for addresses.
    const padded = text?.padEnd(Math.ceil(text.length / 4) * 4, '=')
    const result = padded === undefined ? undefined : encode(padded)
    return result === undefined ? undefined : makeBytes(result)
  }

/** Text that is whole groups of four, in either alphabet; Python rejects or skips all other. */
const decoding: NativeCall = (_rt, [data]) => {
  const bytes = bytesOf(data)
  const text = bytes === undefined ? textOf(data) : Buffer.from(bytes).toString('latin1')
  const clean = text?.replaceAll(/[\r\n]/g, '')
  if (clean === undefined || clean.length > MAX_TEXT) return undefined
  const isSound = clean.length % 4 === 0 && /^[A-Za-z0-9+/_-]*={0,2}$/.test(clean)
  return isSound ? makeBytes(new Uint8Array(Buffer.from(clean, 'base64'))) : undefined
}
