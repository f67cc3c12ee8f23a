import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { LiveDeps } from '../live/prefer.ts'

/** What reads a task: its record holds links to files. */
export interface TaskReadDeps extends ReadDeps {
  signer: Signer
  now: () => Date
}

/** What takes the inputs of a task. */
export interface InputDeps extends TaskReadDeps {
  storage: Storage
  outbound: Outbound
}

/** What the routes of either family of tasks work with. */
export interface TaskDeps extends CommitDeps, InputDeps, LiveDeps {
  publicUrl: string
  taskQueue: string
  quotas: Quotas
}
