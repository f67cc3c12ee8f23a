import type { IssuerKeys } from '../../identity/adapters/issuer-keys.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import type { Signer } from '../../platform/adapters/signing.ts'
import type { CountCache } from '../db/search/listed-count.ts'
import type { CheckTiming } from '../domain/check-timing.ts'
import type { Semaphore } from '../../platform/domain/semaphore.ts'
import type { Log } from '../../platform/log.ts'
import type { CheckTrust } from '../trust/check-trust.ts'
import type { LifeLimit } from '../../platform/domain/expiry.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import type { LiveDeps } from '../../platform/http/live/prefer.ts'
import type { ReaderDeps } from './readers.ts'

/** Dependencies of reads of a node or version, whose record holds addresses of this service. */
export interface RecordDeps extends ReadDeps {
  publicUrl: string
}

/** Validation of the addresses that this service is to call. */
interface AddressDeps {
  outbound: Pick<Outbound, 'validateUrl'>
}

/** Dependencies of changes of a node or version, which return it. */
export type RegistryDeps = CommitDeps & RecordDeps & AddressDeps

/** Dependencies of lists and searches. */
export interface ListDeps extends RecordDeps {
  /** Counts of filtered lists, of this process. */
  cache: CountCache
  /** Reads of lists that may be megabytes, a few at once in this process; and searches. */
  heavyReadSemaphore: Semaphore
  searches: Semaphore
  /** SEARCH_MAX_DEPTH */
  searchMaxDepth: number
}

export interface RatingDeps extends CommitDeps, RecordDeps, Pick<ListDeps, 'searchMaxDepth'> {
  /** REVIEW_MIN_AGE_HOURS */
  reviewMinAgeHours: number
}

export type NodeDeps = RegistryDeps & ListDeps

export interface VersionDeps extends RegistryDeps, ListDeps, LiveDeps, ReaderDeps {
  signer: Pick<Signer, 'signRead'>
  now: () => Date
}

export interface HostNodeDeps extends CommitDeps, ListDeps {
  /** EXTRACTION_TOKEN; undefined: strangers may report host nodes, too. */
  extractionToken: string | undefined
}

export interface PublisherDeps extends CommitDeps, RecordDeps, AddressDeps {
  /** MAX_PUBLISHERS_PER_USER */
  maxPublishersPerUser: number
}

/** Dependencies of making and checking personal access tokens. */
export interface TokenDeps extends CommitDeps, LifeLimit {
  log: Pick<Log, 'warn'>
  /** PUBLISH_AUTH */
  publishAuth: 'bearer+token' | 'token'
}

/** Dependencies of starting the checks of a version. */
export interface CheckDeps extends CommitDeps, RecordDeps {
  taskQueue: string
  checkTiming: Partial<CheckTiming>
}

export interface PublishDeps extends CheckDeps, TokenDeps, AddressDeps {
  signer: Signer
  /** ARCHIVE_MAX_BYTES */
  archiveMaxBytes: number
  /** UPLOAD_EXPIRY_SECONDS */
  uploadExpirySeconds: number
}

/** Dependencies of trusting CI jobs and exchanging their identity tokens. */
export interface TrustDeps extends CommitDeps {
  /** Keys of the issuers that nodes trust. */
  issuerKeys: IssuerKeys
  /** OIDC_AUDIENCE */
  oidcAudience: string
  signer: Signer
  outbound: Outbound
  checkTrust: CheckTrust
  now: () => Date
}
