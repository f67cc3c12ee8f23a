import type { InspectRequest } from '../../../src/adapters/inspector/inspector.ts'

/** The three parts of an inspection, in the order in which they are made. */
export const SECTIONS = ['archive', 'nodes', 'findings'] as const
export type SectionName = (typeof SECTIONS)[number]

/** What a child is asked for: one archive, without the sections that are there already. */
export interface ChildOrder extends Pick<InspectRequest, 'path' | 'nodeId' | 'dependencies'> {
  skip: readonly SectionName[]
}

/** What a child tells: it begins a section, it has made one (as JSON text), it is done, or this machine failed it. */
export type ChildNews =
  | { kind: 'begin'; section: SectionName }
  | { kind: 'section'; section: SectionName; json: string }
  | { kind: 'done' }
  | { kind: 'fault'; message: string; code: string | undefined }
