import { isUnknown } from '../../interpret/values/guards.ts'
import { makeDict, setEntry } from '../../interpret/operate/mapping.ts'
import { findHostText, findMemberName } from '../../host/host-text.ts'
import type { SchemaPart } from '../../host/schema-part.ts'
import { makeTuple } from '../../interpret/values/make-value.ts'
import type { DictValue, Value } from '../../interpret/values/value.ts'
import { itemsOf, truthOf } from './reading.ts'
import type { V3Reading } from './reading.ts'

const FIELD = 'input_types'

/** Adds the hidden inputs, those asked for and those that kinds of nodes need, as `{name: [NAME]}`. */
export const addHidden = (reading: V3Reading, inputTypes: DictValue, schema: SchemaPart): void => {
  const { runtime } = reading.interpreter
  const hidden = new Map<string, Value>()
  const add = (name: string, text: string): unknown => hidden.set(name, makeTuple([text]))
  for (const item of itemsOf(reading, schema.values.get('hidden') ?? null, [FIELD])) {
    const found = isUnknown(item) ? [findMemberName(item), findHostText(item)] : []
    const [name, text] = found
    if (name !== undefined && text !== undefined) add(name, text)
    else reading.record(FIELD)
  }
  for (const [flag, names] of NEEDED)
    if (truthOf(reading, schema.values.get(flag), FIELD))
      for (const name of names) if (!hidden.has(name)) add(name, name.toUpperCase())
  if (hidden.size > 0) setEntry(runtime, inputTypes, 'hidden', makeDict(runtime, hidden))
}

/** In the host's order. */
const NEEDED = [
  ['is_api_node', ['auth_token_comfy_org', 'api_key_comfy_org']],
  ['is_output_node', ['prompt', 'extra_pnginfo']],
] as const
