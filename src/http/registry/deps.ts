import type { IssuerKeys } from '../../adapters/issuer-keys.ts'
import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Sql } from '../../db/client.ts'
import type { CountMemo } from '../../db/search/listed-count.ts'
import type { Jobs } from '../../jobs/client.ts'
import type { Log } from '../../log.ts'
import type { LiveDeps } from '../live/prefer.ts'
import type { Gate } from '../../domain/shared/gate.ts'

/** What the routes of the registry work with. */
export interface RegistryDeps extends LiveDeps {
  sql: Sql
  jobs: Jobs
  signer: Signer
  outbound: Outbound
  /** Keys of the issuers that nodes trust. */
  issuerKeys: IssuerKeys
  /** Audience of the identity tokens of CI jobs: the host of PUBLIC_URL. */
  oidcAudience: string
  log: Pick<Log, 'warn'>
  /** Counts of filtered lists, of this process. */
  memo: CountMemo
  /** Reads of lists that may be megabytes, a few at once in this process; and searches. */
  heavyReads: Gate
  searches: Gate
  publicUrl: string
  taskQueue: string
  now: () => Date
  /** PUBLISH_AUTH */
  publishAuth: 'bearer+token' | 'token'
  /** MAX_PUBLISHERS_PER_USER */
  maxPublishersPerUser: number
  /** SEARCH_MAX_DEPTH */
  searchMaxDepth: number
  /** EXTRACTION_TOKEN; undefined: anybody may register host nodes. */
  extractionToken: string | undefined
  /** ARCHIVE_MAX_BYTES */
  archiveMaxBytes: number
  /** UPLOAD_EXPIRY_SECONDS */
  uploadExpirySeconds: number
}
