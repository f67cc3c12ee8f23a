import type { OutboxRow } from '../../src/platform/db/outbox.ts'
import type { AdmissionRules } from '../../src/tasks/db/admission.ts'
import type { BulkWork } from '../../src/tasks/bulk-work.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'

/** Dependencies of whatever may end a task. */
export interface EndDependencies extends CommonDependencies, AdmissionRules {
  /** Begins to dispatch a committed row of the outbox to Temporal. If that fails, the relay does it. */
  jobs: { dispatchNow(row: OutboxRow): void }
}

export interface CoreDependencies extends EndDependencies {
  /** Days that files stay after the end of their task. */
  retentionDays: number
}

/** Dependencies of batches and operations. Either function throws what its route would respond with. */
export interface BulkDependencies extends CoreDependencies, BulkWork {
  /** Reads again what requests go by, as an api has it. */
  readRules(): Promise<void>
  /** Waits until Temporal has everything whose dispatch has begun, so that the work goes at Temporal's pace. */
  drain(): Promise<void>
  /** Milliseconds of pause for each millisecond of work. */
  pauseFactor: number
}
