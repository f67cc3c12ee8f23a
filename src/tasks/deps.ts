import type { Outbound } from '../platform/outbound/client.ts'
import type { Signer } from '../platform/adapters/signing.ts'
import type { Storage } from '../platform/storage/storage.ts'
import type { Sql } from '../platform/db/client.ts'
import type { AdmissionRules } from './db/admission.ts'
import type { UnitDeps } from '../platform/db/unit-of-work.ts'
import type { FurtherMembers } from '../platform/domain/schema-fields.ts'
import type { EngineName } from './domain/engine.ts'
import type { Quotas } from './domain/quota.ts'

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
  /** Finds what an upstream takes beside the interface on a path; the same object until that changes. */
  upstreamMembers?(path: string): FurtherMembers | undefined
}
