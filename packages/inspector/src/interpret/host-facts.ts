import type { Value } from './types.ts'

/** Facts about the host, by dotted name. */
export interface HostFacts {
  /** The value of a name such as `nodes.MAX_RESOLUTION` or `nodes.SaveImage.RETURN_TYPES`; undefined leaves it unknown. */
  find(dottedName: string): Value | undefined
  /** True when a name certainly does not exist, as an attribute of a class whose attributes are all known. */
  lacks?(dottedName: string): boolean
  /** True for the name of a module of the host below another. */
  isModule?(dottedName: string): boolean
}

export const NO_FACTS: HostFacts = { find: () => undefined }
