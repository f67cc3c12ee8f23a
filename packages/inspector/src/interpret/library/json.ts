import { isBytes, isModule, payloadOf } from '../values/read-value.ts'
import { makeDict } from '../operate/mapping.ts'
import { raiseIfCertain } from '../operate/raise.ts'
import { call, callMethod } from '../operate/call.ts'
import { makeEmptyDict, makeList } from '../values/make-value.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { Kwargs, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { readJson, type JsonBuilder } from '../text/json/read.ts'
import { decode } from '../text/string/codec.ts'
import { dumps } from './json-dumps.ts'
import { loadSubmodule } from './support/library-class.ts'

/** `json`, with both directions and the hooks of reading. */
export const makeJson = (rt: Runtime): ModuleValue => {
  const decoder = loadSubmodule(rt, 'json.decoder', makeJsonDecoder)
  return nativeModule('json', {
    attributes: {
      ...(isModule(decoder) ? Object.fromEntries(decoder.namespace) : {}),
      decoder,
      JSONEncoder: nativeClass(rt, { name: 'JSONEncoder', module: 'json.encoder' }),
    },
    functions: { loads, load, dumps, dump },
  })
}

/** `json.decoder`, whose names `json` has, too. */
export const makeJsonDecoder = (rt: Runtime): ModuleValue =>
  nativeModule('json.decoder', {
    attributes: {
      // Handlers for either are found when a text is no JSON.
      JSONDecodeError: rt.builtinClass('ValueError'),
      JSONDecoder: nativeClass(rt, { name: 'JSONDecoder', module: 'json.decoder' }),
    },
  })

const loads: NativeCall = (rt, [source], kwargs) => {
  if (kwargs.has('object_pairs_hook')) return undefined
  const content = payloadOf(source)
  if (typeof content === 'string') return read(rt, content, kwargs)
  const text = isBytes(content) ? decode(content.data, 'utf-8-sig') : undefined
  return text === undefined ? undefined : read(rt, text, kwargs)
}

const load: NativeCall = (rt, [file], kwargs) => {
  const source = file === undefined ? undefined : callMethod(rt, file, 'read', [])
  return source === undefined ? undefined : loads(rt, [source], kwargs)
}

/** Writes nothing: files that packs write are not kept. */
const dump: NativeCall = () => null

const read = (rt: Runtime, text: string, kwargs: Kwargs): Value | undefined => {
  rt.budget.step(text.length >> 8)
  const known = readJson<Value>(text, builderOf(rt, kwargs))
  return known ?? (known === null ? null : raiseIfCertain(rt, 'ValueError', 'no JSON'))
}

const builderOf = (rt: Runtime, kwargs: Kwargs): JsonBuilder<Value> => {
  const hook = kwargs.get('object_hook') ?? undefined
  return {
    atom: (value) => value,
    list: (items) => (rt.budget.allowItems(items.length) ? makeList(items) : makeList([], true)),
    object: (entries) => {
      if (!rt.budget.allowItems(entries.length)) return makeEmptyDict(true)
      const dict = makeDict(rt, entries)
      return hook === undefined ? dict : call(rt, hook, [dict])
    },
  }
}
