import data from './facts.json' with { type: 'json' }

/**
 * Facts about the host, generated from its public sources (`host` in the file names repository, version and
 * commit; each group names its files). Where `newer` occurs, the entry is taken from that later commit.
 */
interface Facts {
  constants: { values: Record<string, number | string[]> }
  /** Members of the enumeration of socket types, `IO`. */
  typeNames: { values: Record<string, string> }
  samplers: { values: Record<SamplerList, string[]> }
  folders: {
    modelExtensions: string[]
    /** File name extensions by folder; null stands for those of models. */
    values: Record<string, string[] | null>
  }
  v3: V3Facts
  /** Classes of all nodes by their name, by the module that brings them. */
  nodes: { values: Record<string, Record<string, string>> }
  /** Attributes of the classes that packs inherit from, by dotted name; an attribute that is not here does not exist. */
  classes: { values: Record<string, ClassFacts> }
}

type SamplerList = 'KSAMPLER_NAMES' | 'SAMPLER_NAMES' | 'SCHEDULER_NAMES'

/** JSON as the generator wrote it. `{ rest: [...] }` is a list that goes on with what the machine has. */
export type Fact = null | boolean | number | string | Fact[] | { [key: string]: Fact }
type ClassFacts = Record<string, Fact>

interface V3Facts {
  /** Socket types that are not the class's name in upper case. */
  socketTypes: Record<string, string>
  newerSocketTypes: Record<string, string>
  /** Parameters in their positional order, by type; `*` is any other type. */
  inputs: Record<string, string[]>
  outputs: Record<string, string[]>
  /** Parameters of everything else that takes part in a schema. */
  makers: Record<string, string[]>
  /** By maker; of inputs by type and maker. */
  defaults: Record<string, Record<string, string | number | boolean>>
  /** Spelling of an option in the older form, where that differs from the parameter. */
  options: Record<string, string>
  /** Results of methods of the host's enumerations, by the tail of their name. */
  choices: Record<string, string[]>
  /** Values of enumerations by member. */
  enums: Record<string, Record<string, string>>
}

export const FACTS = data as unknown as Facts
