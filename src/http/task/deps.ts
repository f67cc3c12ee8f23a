import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'

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

/** Dependencies of the routes on which tasks of either family are made. */
export interface TaskDeps extends CommitDeps, InputDeps {
  publicUrl: string
  taskQueue: string
  quotas: Quotas
}
