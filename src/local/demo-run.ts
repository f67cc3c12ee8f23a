import { join } from 'node:path'

import type { DemoState } from './demo-progress.ts'
import { ROOT } from './root.ts'

/** A job, and what became of it. */
export interface DemoRun extends DemoState {
  workflowId?: string
  /** The input, then what was made of it. */
  files: string[]
  /** Further facts that a person would like to know of it, a line each. */
  notes: string[]
  hasSucceeded: boolean
  /** Why it did not end well. */
  issue?: string
}

/** Folder of the inputs. */
export const SAMPLES = join(ROOT, 'samples')
