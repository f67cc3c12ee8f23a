/** The three parts of an inspection, in the order in which they are made. */
export const SECTIONS = ['archive', 'nodes', 'findings'] as const
export type SectionName = (typeof SECTIONS)[number]

/** One archive to be read. */
export interface ReadOrder {
  /** Local path of the archive, which the caller chose. */
  path: string
  /** A name under which the pack may import itself; absent: those that it says itself. */
  nodeId?: string | undefined
  /** Requirements of the version, besides those in the archive. */
  dependencies: readonly string[]
}

/** Order of a child: one archive, without the sections that are there already. */
export interface ChildOrder extends ReadOrder {
  skip: readonly SectionName[]
}

/** Message of a child: it begins a section, it has made one (as JSON text), it is done, or this machine failed it. */
export type ChildMessage =
  | { kind: 'begin'; section: SectionName }
  | { kind: 'section'; section: SectionName; json: string }
  | { kind: 'done' }
  | { kind: 'error'; message: string; code: string | undefined }
