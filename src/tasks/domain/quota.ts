/** Most that one account may have at once. */
export interface Quota {
  /** Tasks that have not ended. */
  tasks: number
  /** Bytes of inputs, results, uploads and payloads that are not removed yet. */
  bytes: number
  /** Days after which the bytes of an ended task are removed. */
  retentionDays: number
}

/** By what an account is: an owner, or an address without a credential. */
export type Quotas = Readonly<Record<'owner' | 'address', Quota>>
