import type { Inspection } from '../../../packages/inspector/src/inspection.ts'
import type { ReadOrder } from '../../../packages/inspector/src/messages.ts'

export interface InspectRequest extends ReadOrder {
  signal?: AbortSignal | undefined
}

/** Reads archives in a process of its own: an archive that eats memory or time costs its own inspection only. */
export interface Inspector {
  /** Raised with every change that can alter which host nodes are found. */
  extractorVersion: number
  /** Raised with every change that can alter which findings there are. */
  scanner: string
  scannerVersion: number
  /**
   * Reads an archive. What the archive does to its reader is part of the result. It rejects for errors of this machine
   * only (no process, no file), which are worth another attempt, and for the signal.
   */
  inspect(request: InspectRequest): Promise<Inspection>
  /** Ends the processes. */
  close(): Promise<void>
}
