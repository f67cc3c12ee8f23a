import type { HostFacts } from '../interpret/host-facts.ts'
import {
  makeEmptyDict,
  makeInstance,
  makeList,
  makeNamespaceDict,
  makeTuple,
  makeUnknown,
} from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import type { DictValue, NativeCall, Value } from '../interpret/types.ts'
import { findClassFact, lacksAttribute, ownEntry } from './class-facts.ts'
import { FACTS } from './facts.ts'
import { makeSchemaTypes } from './schema-types.ts'
import { isClass, isUnknown } from '../interpret/values/read-value.ts'
import { words } from '../words.ts'

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
  return { find, lacks: lacksAttribute, isModule: isHostModule }
}

/** True for what stands directly in a package of the host that has modules alone. */
const isHostModule = (dottedName: string): boolean =>
  MODULE_FOLDERS.has(dottedName.slice(0, dottedName.lastIndexOf('.')))

const MODULE_FOLDERS = new Set(
  words('app comfy comfy.k_diffusion comfy.ldm.modules comfy_api comfy_execution'),
)

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

/** Numbers that packs take from `numpy` for the limits of their inputs. */
const findNumpyFact = (name: string): Value | undefined =>
  name === 'iinfo' ? nativeFunction('numpy.iinfo', iinfo) : CONSTANTS.get(name)

const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['inf', Infinity],
  ['nan', NaN],
])

/** Limits of a type of whole numbers: `np.int32`, `'int32'`, `int`. */
const iinfo: NativeCall = (rt, [type]) => {
  const [, unsigned, width] = INTEGER.exec(typeNameOf(type)) ?? []
  if (unsigned === undefined || width === undefined) return undefined
  const values = BigInt(2) ** BigInt(width)
  const min = unsigned === 'u' ? 0n : -values / 2n
  const numbers = { bits: BigInt(width), min, max: min + values - 1n }
  return makeInstance(rt.builtinClass('object'), undefined, undefined, numbers)
}

const INTEGER = /^(?:numpy\.)?(u?)int(8|16|32|64)$/

const typeNameOf = (type: Value | undefined): string => {
  if (isUnknown(type)) return type.name
  if (isClass(type)) return type.name === 'int' ? 'int64' : ''
  return typeof type === 'string' ? type : ''
}

/** Files of the machine: none on a clean host, with a rest that nobody knows. */
const someFiles = (): Value => makeList([], true)

/** Functions of `folder_paths` that list files, which depend on the machine. */
const LISTS = new Set(
  words(`
    get_filename_list filter_files_content_types filter_files_extensions get_input_subfolders`),
)

/**
 * Names of the host's module of folders. Every path is the machine's. The dict of folders knows the host's own ones and
 * has a rest: other packs add theirs.
 */
const makeFolderFacts = (): ((name: string) => Value | undefined) => {
  const folders = makeFolders()
  return (name) => {
    if (LISTS.has(name)) return nativeFunction(`folder_paths.${name}`, someFiles)
    if (name === 'folder_names_and_paths') return folders
    if (name === 'supported_pt_extensions') return textSet(FACTS.folders.modelExtensions)
    if (name === 'get_folder_paths')
      return nativeFunction('folder_paths.get_folder_paths', (_rt, [folder]) => paths(folder))
    if (name === 'recursive_search')
      return nativeFunction('folder_paths.recursive_search', () =>
        makeTuple([someFiles(), makeEmptyDict(true)]),
      )
    return MACHINE.has(name) ? makeUnknown(`folder_paths.${name}`, 'machine') : undefined
  }
}

const MACHINE = new Set(
  words(`
    base_path models_dir output_directory temp_directory input_directory user_directory
    get_output_directory get_temp_directory get_input_directory get_user_directory
    get_directory_by_type get_full_path get_full_path_or_raise get_annotated_filepath
    exists_annotated_filepath get_save_image_path`),
)

const makeFolders = (): DictValue => {
  const entries = Object.entries(FACTS.folders.values).map(
    ([folder, extensions]): [string, Value] => [
      folder,
      makeTuple([paths(folder), textSet(extensions ?? FACTS.folders.modelExtensions)]),
    ],
  )
  return makeNamespaceDict(new Map(entries), true)
}

/** At least one folder, and whatever the machine's settings add. */
const paths = (folder: Value | undefined): Value => {
  const name = typeof folder === 'string' ? folder : ''
  return makeList([makeUnknown(`folder_paths.get_folder_paths("${name}")[]`, 'machine')], true)
}

const textSet = (texts: readonly string[]): Value => ({
  kind: 'set',
  frozen: false,
  items: new Map(texts.map((text) => [text, text])),
  rest: false,
})
