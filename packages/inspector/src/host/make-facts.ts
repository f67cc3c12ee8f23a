import type { HostFacts } from '../interpret/host-facts.ts'
import { makeList, makeNamespaceDict, makeUnknown } from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import type { DictValue, Value } from '../interpret/values/value.ts'
import { findClassFact, lacksAttribute, ownEntry } from './class-facts.ts'
import { FACTS } from './facts.ts'
import { makeFolderFacts } from './folder-facts.ts'
import { findNumpyFact } from './numpy-facts.ts'
import { makeSchemaTypes } from './schema-types.ts'

/** Names that a pack can't replace: the host ignores them. */
export const BUILT_IN_NODE_NAMES: ReadonlySet<string> = new Set(
  Object.values(FACTS.nodes.values).flatMap((names) => Object.keys(names)),
)

/**
 * Makes the facts about the host for the reading of one pack, which keeps what it changes in these values (an appended
 * sampler, a folder of its own).
 */
export const makeHostFacts = (): HostFacts => {
  const sources: Source[] = [
    makeConstants(),
    findClassFact,
    findTypeName,
    findChoices,
    below('folder_paths.', makeFolderFacts()),
    below('numpy.', findNumpyFact),
    makeSchemaTypes(),
  ]
  const find = (dottedName: string): Value | undefined => {
    for (const source of sources) {
      const value = source(dottedName)
      if (value !== undefined) return value
    }
    return undefined
  }
  return { find, lacks: lacksAttribute }
}

/** Gives the value of a dotted name, or leaves it unknown. */
type Source = (dottedName: string) => Value | undefined

const below =
  (prefix: string, find: Source): Source =>
  (dottedName) =>
    dottedName.startsWith(prefix) ? find(dottedName.slice(prefix.length)) : undefined

/** The host's `KSampler` shares its lists with the module. */
const makeConstants = (): Source => {
  const { SAMPLER_NAMES, SCHEDULER_NAMES, KSAMPLER_NAMES } = FACTS.samplers.values
  const [samplers, schedulers] = [makeList([...SAMPLER_NAMES]), makeList([...SCHEDULER_NAMES])]
  const values = new Map<string, Value>([
    ['comfy.samplers.SAMPLER_NAMES', samplers],
    ['comfy.samplers.KSampler.SAMPLERS', samplers],
    ['comfy.samplers.SCHEDULER_NAMES', schedulers],
    ['comfy.samplers.KSampler.SCHEDULERS', schedulers],
    ['comfy.samplers.KSAMPLER_NAMES', makeList([...KSAMPLER_NAMES])],
    ['comfy.samplers.SCHEDULER_HANDLERS', makeHandlers(SCHEDULER_NAMES)],
    ['nodes.NODE_CLASS_MAPPINGS', makeMapping()],
  ])
  for (const [name, value] of Object.entries(FACTS.constants.values))
    values.set(name, typeof value === 'number' ? BigInt(value) : makeList([...value]))
  return (dottedName) => values.get(dottedName)
}

const makeHandlers = (names: readonly string[]): DictValue =>
  makeNamespaceDict(
    new Map(
      names.map((name) => [name, makeUnknown('comfy.samplers.SCHEDULER_HANDLERS[]', 'host')]),
    ),
  )

/** Nodes of the host by name; other packs may have added theirs before. */
const makeMapping = (): DictValue =>
  makeNamespaceDict(
    new Map(
      Object.entries(FACTS.nodes.values).flatMap(([module, names]) =>
        Object.entries(names).map(
          ([name, cls]) => [name, makeUnknown(`${module}.${cls}`, 'host')] as const,
        ),
      ),
    ),
    true,
  )

const TYPE_NAME = /^comfy\.comfy_types\.(?:node_typing\.)?IO\.(\w+)$/

const findTypeName: Source = (dottedName) => {
  const [, member] = TYPE_NAME.exec(dottedName) ?? []
  return member === undefined ? undefined : ownEntry(FACTS.typeNames.values, member)
}

const CHOICES = /^comfy_api\..*?(\w+\.\w+)$/

/** `Types.VideoCodec.as_input`, under each of the versions of the host's interface. */
const findChoices: Source = (dottedName) => {
  const [, tail] = CHOICES.exec(dottedName) ?? []
  const choices = tail === undefined ? undefined : ownEntry(FACTS.v3.choices, tail)
  return choices && nativeFunction(dottedName, () => makeList([...choices]))
}
