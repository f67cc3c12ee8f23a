import { isBytes, payloadOf, textOf } from '../values/read-value.ts'
import { strOf } from '../operate/text-of.ts'
import { SEQUENCE_METHODS } from './payload-methods.ts'
import { TEXT_METHODS } from './text-methods.ts'
import { orElse } from '../values/make-value.ts'
import type { Kwargs, Runtime, Value } from '../types.ts'
import { decode } from '../text/string/codec.ts'
import type { Definition } from '../values/native.ts'
import { wrap } from './number-classes.ts'

export const STR: Definition = {
  name: 'str',
  payload: 'str',
  construct: (rt, cls, args, kwargs) => wrap(rt, cls, textFrom(rt, args, kwargs)),
  methods: {
    ...SEQUENCE_METHODS,
    ...TEXT_METHODS,
  },
  unread:
    'casefold center encode expandtabs index isdecimal isnumeric isprintable istitle ljust maketrans rjust partition rfind rindex ' +
    'rpartition swapcase translate zfill format_map',
}

function textFrom(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const value = orElse(args[0], () => kwargs.get('object'))
  if (value === undefined) return ''
  const inner = payloadOf(value)
  const encoding = textOf(args[1] ?? kwargs.get('encoding'))
  if (isBytes(inner) && encoding !== undefined) return decode(inner.data, encoding)
  return strOf(rt, value)
}

export const BYTES: Definition = {
  name: 'bytes',
  payload: 'bytes',
  construct: (rt, cls, [value = null]) => {
    const inner = payloadOf(value)
    return isBytes(inner) ? wrap(rt, cls, inner) : undefined
  },
  methods: {
    ...SEQUENCE_METHODS,
  },
  unread:
    'count decode endswith find fromhex hex index join lower lstrip partition replace rfind rstrip split ' +
    'splitlines startswith strip translate upper',
}
