import type { Outbound } from '../adapters/outbound/client.ts'
import type { Signer } from '../adapters/signing.ts'
import type { Storage } from '../adapters/storage/storage.ts'
import type { Sql } from '../db/client.ts'
import type { AdmissionRules } from '../db/task/admission.ts'
import type { UnitDeps } from '../db/unit-of-work.ts'
import type { EngineName } from '../domain/task/engine.ts'
import type { Quotas } from '../domain/task/quota.ts'

/** Dependencies of reads of a task, whose record holds links to files. */
export interface TaskReadDeps {
  sql: Sql
  signer: Signer
  now: () => Date
}

/** Dependencies of taking the inputs of a task. */
export interface InputDeps extends TaskReadDeps {
  storage: Storage
  outbound: Outbound
}

/** Dependencies of making tasks of either family. */
export interface TaskDeps extends Required<UnitDeps>, InputDeps, AdmissionRules {
  publicUrl: string
  quotas: Quotas
  /** Finds who renders the tasks of a kind that are made from now on. */
  engineOf(kind: string, owner: string): EngineName
}
