import type { Inspector } from '../../src/registry/inspector/inspector.ts'
import type { FindLicenseId } from './read-license.ts'
import type { FetchStars } from '../../src/registry/stars/stars.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'

export interface StarsDependencies extends CommonDependencies {
  /** Absent: nobody is asked (STARS). */
  stars?: { hosts: readonly string[]; fetch: FetchStars } | undefined
  /** From 0 up to 1. */
  random(): number
}

/** Dependencies of reading archives. */
export interface InspectDependencies extends CommonDependencies {
  /** Folder of this process for unfinished files. */
  scratchDir: string
  inspector: Inspector
  findLicenseId: FindLicenseId
}
