import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { LiveDeps } from '../live/prefer.ts'

/** Dependencies of reads of a task, whose record holds links to files. */
export interface TaskReadDeps extends ReadDeps {
  signer: Signer
  now: () => Date
}

/** Dependencies of taking the inputs of a task. */
export interface InputDeps extends TaskReadDeps {
  storage: Storage
  outbound: Outbound
}

/** Dependencies of the routes of either family of tasks. */
export interface TaskDeps extends CommitDeps, InputDeps, LiveDeps {
  publicUrl: string
  taskQueue: string
  quotas: Quotas
}
