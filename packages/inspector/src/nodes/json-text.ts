import { isSequence, isUndecided } from '../interpret/values/read-value.ts'
import { dictKey } from '../interpret/values/dict.ts'
import { isHostPath } from '../interpret/modules/virtual-files.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type {
  DictValue,
  InstanceValue,
  ObjectValue,
  UnknownValue,
  Value,
} from '../interpret/types.ts'

/** A value of the pack as the registry keeps it. */
export interface JsonText {
  /** JSON, compact, in the order of the pack. */
  text: string
  /** A part of it depends on the machine or could not be known, beside what `inputs` names. */
  isDynamic: boolean
  /** Inputs of which that is so. */
  inputs: string[]
}

/** Values nest deeper only in hostile packs, or in circles. */
const MAX_DEPTH = 40

/**
 * Makes the writer of values as JSON text: floats as JavaScript writes them, whole numbers with all their digits.
 * JSON.stringify would not do: a plain object puts keys such as `"2"` first, and a pack may use the key `__proto__`.
 */
export const makeJsonWriter = (interpreter: Interpreter) => {
  /** Undefined for what can't be known, which whoever holds it leaves out. */
  const write = (value: Value, at: Writing, depth = 0): string | undefined => {
    if (depth > MAX_DEPTH || at.room < 0) return undefined
    if (value === null) return 'null'
    if (typeof value === 'object') return writeObject(value, at, depth)
    if (typeof value === 'string' && isHostPath(value)) at.isDynamic = true
    const isNumber = typeof value === 'bigint' || typeof value === 'number'
    // No JSON is infinite or no number, and nobody reads more digits.
    const isOdd = isNumber && !Number.isFinite(Number(value))
    if (isOdd) at.isDynamic = true
    const text = isOdd ? 'null' : typeof value === 'bigint' ? String(value) : JSON.stringify(value)
    at.room -= text.length
    return text
  }

  const writeObject = (value: ObjectValue, at: Writing, depth: number): string | undefined => {
    if (value.kind === 'unknown') return writeChoices(value, at, depth)
    // Its brackets. A list in itself, twice at each depth, is 2^40 lists without a text.
    at.room -= 2
    if (value.kind === 'dict') return writeDict(value, at, (member) => write(member, at, depth + 1))
    if (value.kind === 'instance') return writeInstance(value, at, depth)
    return ITERABLE.has(value.kind) ? writeItems(value, at, depth) : undefined
  }

  /** The first, where a branch that could not be decided chose one of several. */
  const writeChoices = ({ oneOf = [] }: UnknownValue, at: Writing, depth: number) => {
    const [first, ...others] = oneOf.map((choice) => write(choice, at, depth + 1))
    if (others.some((text) => text !== first)) at.isDynamic = true
    return first
  }

  /** An instance of a subclass of str, dict …, or a member of an enumeration. */
  const writeInstance = (value: InstanceValue, at: Writing, depth: number): string | undefined => {
    if (isEnumMember(value)) {
      const content = interpreter.findAttribute(value, 'value')
      return content === undefined ? undefined : write(content, at, depth + 1)
    }
    return value.payload === undefined ? undefined : write(value.payload, at, depth + 1)
  }

  const writeItems = (value: Value, at: Writing, depth: number): string => {
    const { items, rest } = interpreter.readItems(value)
    if (rest || isUndecided(value)) at.isDynamic = true
    const texts = items.flatMap((item) => write(item, at, depth + 1) ?? leaveOut(at))
    // Several branches may have put the same there.
    const isUnited = isSequence(value) && value.maybe !== undefined
    return `[${(isUnited ? [...new Set(texts)] : texts).join(',')}]`
  }

  /** Members that can't be written are left out. */
  const writeDict = (
    dict: DictValue,
    at: Writing,
    writeMember: (value: Value, name: string) => string | undefined,
    markMember?: (name: string) => unknown,
  ): string => {
    if (dict.rest) at.isDynamic = true
    const members = [...dict.values].flatMap(([hash, value]) => {
      const name = keyText(dictKey(dict, hash))
      if (name !== undefined && dict.maybe?.has(hash)) {
        if (markMember) markMember(name)
        else at.isDynamic = true
      }
      const text = name === undefined ? undefined : writeMember(value, name)
      return text === undefined ? leaveOut(at) : [`${JSON.stringify(name)}:${text}`]
    })
    return `{${members.join(',')}}`
  }

  /** As Python's json writes keys: `1` is `"1"`, `True` is `"true"`. */
  const keyText = (key: Value): string | undefined => {
    if (typeof key === 'boolean' || key === null) return String(key)
    if (typeof key === 'object') {
      const payload = key.kind === 'instance' && !isEnumMember(key) ? key.payload : undefined
      return typeof payload === 'string' ? payload : undefined
    }
    return interpreter.text(key)
  }

  /** Sections, and in each the inputs: a type, which may be a list of choices, and options. */
  const writeInputTypes = (value: Value, at: Writing): string | undefined => {
    const sections = interpreter.asDict(value)
    if (!sections) return undefined
    return writeDict(sections, at, (section) => {
      const inputs = interpreter.asDict(section)
      if (!inputs) return write(section, at) ?? putInstead(at, '{}')
      return writeDict(
        inputs,
        at,
        (spec, name) => writeInput(spec, name, at),
        (name) => at.inputs.add(name),
      )
    })
  }

  const writeInput = (spec: Value, name: string, at: Writing): string => {
    const before = at.isDynamic
    at.isDynamic = false
    const text = writeSpec(spec, at)
    if (at.isDynamic) at.inputs.add(name)
    at.isDynamic = before
    return text
  }

  const writeSpec = (spec: Value, at: Writing): string => {
    if (!isSequence(spec)) return write(spec, at, 2) ?? putInstead(at, '["*"]')
    const { items, rest } = interpreter.readItems(spec)
    if (rest) at.isDynamic = true
    const texts = items.flatMap((item, index) => {
      const text = write(item, at, 3)
      // A list that only the machine knows is empty on a clean host.
      if (text !== undefined) return [text]
      return index === 0 ? [putInstead(at, '[]')] : leaveOut(at)
    })
    return `[${texts.join(',')}]`
  }

  /** Socket types or names: what can't be known is a socket of any type. */
  const writeTypes = (value: Value, at: Writing): string | undefined => {
    if (!isSequence(value)) return write(value, at)
    // Outputs have a place each: a list of what several branches give has them at wrong ones.
    if (isUndecided(value)) return undefined
    const { items, rest } = interpreter.readItems(value)
    if (rest) at.isDynamic = true
    return `[${items.map((item) => write(item, at, 1) ?? putInstead(at, '"*"')).join(',')}]`
  }

  return { inputTypes: making(writeInputTypes), types: making(writeTypes) }
}

/** Bounds a text, and says what stands in its place where it cannot be made. */
const making =
  (make: (value: Value, at: Writing) => string | undefined) =>
  (value: Value, otherwise: string): JsonText => {
    const at: Writing = { isDynamic: false, inputs: new Set(), room: TEXT_MAX }
    const text = make(value, at)
    return text !== undefined && at.room >= 0
      ? { text, isDynamic: at.isDynamic, inputs: [...at.inputs] }
      : { text: otherwise, isDynamic: true, inputs: [] }
  }

export type JsonWriter = ReturnType<typeof makeJsonWriter>

/** Most characters of one text. */
const TEXT_MAX = 256 * 1024

interface Writing {
  isDynamic: boolean
  inputs: Set<string>
  /** Characters that may still come. */
  room: number
}

const ITERABLE = new Set(['list', 'tuple', 'set', 'view', 'range'])

const isEnumMember = ({ cls }: InstanceValue): boolean =>
  cls.mro.some((base) => base.kind === 'class' && base.module === 'enum' && base.name === 'Enum')

/** Records that a part is left out, and gives what stands in its place. */
const leaveOut = (at: Writing): [] => {
  at.isDynamic = true
  return []
}

const putInstead = (at: Writing, text: string): string => {
  at.isDynamic = true
  return text
}

/** The names of a text of inputs among what is dynamic of a node. */
export const dynamicInputs = ({ isDynamic, inputs }: JsonText): string[] => [
  ...(isDynamic ? ['input_types'] : []),
  ...inputs.map((name) => `input_types.${name}`),
]
