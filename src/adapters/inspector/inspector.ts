import type { Inspection } from '../../domain/registry/inspection.ts'

export interface InspectRequest {
  /** Local path of the archive, which Kiln chose. */
  path: string
  /** A name under which the pack may import itself. */
  nodeId: string
  /** Requirements of the version, besides those in the archive. */
  dependencies: readonly string[]
  signal?: AbortSignal | undefined
}

/** What reads archives, in a process of its own: one that eats memory or time costs its own inspection only. */
export interface Inspector {
  /** Raised with every change that can alter what is found of host nodes. */
  extractorVersion: number
  /** The same of findings. */
  scanner: string
  scannerVersion: number
  /**
   * Reads an archive. What the archive does to its reader is part of the answer; rejected are faults of this machine
   * alone (no process, no file), which are worth another try, and the signal.
   */
  inspect(request: InspectRequest): Promise<Inspection>
  /** Ends the processes. */
  close(): Promise<void>
}
