/**
 * Results of reading one archive, in three sections that do not depend on each other: is the archive sound, which
 * host nodes does it provide, is it dangerous. They cross from the child process to its parent as JSON.
 */
export interface Inspection {
  archive: ArchiveSection
  nodes: NodesSection
  findings: FindingsSection
}

/** Is the archive sound? */
export type ArchiveSection =
  | { verdict: 'sound'; entries: number; unpackedBytes: number; files?: ArchiveFile[] }
  | {
      verdict: 'rejected'
      code: string
      /** One sentence that a publisher can act on. */
      message: string
      /** The entry that it is about, as far as there is one. */
      entry?: string | undefined
    }

/** A file of an archive with its place, so that its content can be read without the archive's directory. */
export type ArchiveFile = {
  path: string
  /** Unpacked. */
  bytes: number
  /** SHA-256 of the content, in lower-case hex. */
  sha256: string
  /** Offset of its packed data. */
  dataOffset: number
  packedBytes: number
  isDeflated: boolean
}

/** Ways to find the names of the host nodes; `none` for a pack without any. */
export const HOWS = ['v1', 'v3', 'node_list', 'literal_scan', 'none'] as const
export type How = (typeof HOWS)[number]

/** Which host nodes does it provide? */
export interface NodesSection {
  /** Raised with every change that can alter a result. */
  extractorVersion: number
  status: 'success' | 'failed'
  /** Why it failed: a key of `ADVICE`, `archive_<code>` or `budget_…`. */
  reason?: string | undefined
  how: How
  /** True when some nodes may be missing. */
  partial: boolean
  /** Why it is partial, each once, in the order met. */
  reasons: string[]
  /** Sentences for the publisher; absent without any. */
  hints?: string[]
  /** Values of the mapping that are no nodes. */
  dropped: number
  nodes: ExtractedNode[]
  /** Example workflows in the archive; absent without any. */
  examples?: ExampleWorkflow[]
  /** Absent without any. */
  workflow_names?: WorkflowName[]
  /** Measurements of this run, which no two runs share. */
  stats: Record<string, number>
}

/** One host node, in the form in which the registry stores and returns it. */
export interface ExtractedNode {
  name: string
  /** Name that the host shows; absent where it is `name`. */
  display_name?: string
  category: string
  description: string
  function: string
  deprecated: boolean
  experimental: boolean
  /** True where the host runs it without anything behind it. */
  output_node: boolean
  /** JSON text, as are the next two. */
  input_types: string
  return_types: string
  return_names: string
  output_is_list: boolean[]
  /**
   * Parts that depend on the machine or could not be known: fields, `input_types.<input>` where it is one input alone,
   * and `host_node_name` where the machine decides whether the node is there at all, mostly by another pack that is
   * installed or not.
   */
  dynamic: string[]
}

/** A name that workflows have, and no host node of the pack: one of the editor alone, or one that the pack has replaced. */
export interface WorkflowName {
  name: string
  /** Absent of a node of the editor alone. */
  replaced_by?: {
    host_node: string
    /** Inputs that have other names, or are set. */
    inputs: { input: string; from?: string; value?: string }[]
  }
}

/** A workflow that a pack shows its host nodes by. */
export interface ExampleWorkflow {
  /** Path in the archive. */
  path: string
  bytes: number
  /** `none` for a file that is no JSON. */
  form: 'editor' | 'api' | 'none'
  host_nodes: {
    name: string
    count: number
    /** The pack that it was saved with, by id or `owner/repository`. */
    pack?: string
    /** Absent unless that is the pack itself, and none of its scripts has the name. */
    own?: true
  }[]
}

/** Is it dangerous? */
export interface FindingsSection {
  scanner: string
  /** Raised with every change that can alter a result. */
  scannerVersion: number
  /** False when the scan could not end: unseen code must not become active. */
  complete: boolean
  findings: ScannedFinding[]
  /** Counts of all findings, those beyond the caps included. */
  counts: { high: number; medium: number; info: number }
  /** `security:<rule>` of each finding of medium severity. */
  tags: string[]
}

/** `high` flags a version, `medium` is shown, `info` is only counted. */
export type Severity = 'high' | 'medium' | 'info'

export interface ScannedFinding {
  issue_type: string
  severity: Severity
  /** Relative to the archive; undefined when it is about the whole. */
  file_path?: string | undefined
  /** From 1; undefined for whole files. */
  line_number?: number | undefined
  code_snippet?: string | undefined
  message: string
}
