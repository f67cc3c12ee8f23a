import type { CancelOnOthers } from '../../adapters/accounts.ts'
import type { Secrets } from '../../../platform/adapters/secrets.ts'
import type { Sql } from '../../../platform/db/client.ts'
import type { Log } from '../../../platform/log.ts'
import type { IsAdmin } from '../access/claims.ts'
import type { RateLimits } from '../../../platform/http/access/rate-limit.ts'
import type { SigningKeys } from './keys.ts'

/** Dependencies of the provider and its pages. */
export interface SignInDeps {
  sql: Sql
  secrets: Secrets
  log: Log
  keys: SigningKeys
  /** `iss` of the tokens: PUBLIC_URL and `/auth`. */
  issuer: string
  /** Origin of PUBLIC_URL, where the pages are, and the only one whose forms count. */
  origin: string
  /** The console. */
  clientId: string
  audience: string
  /** Sign cookies; the first signs, all verify. */
  cookieKeys: readonly string[]
  /** Claim of the tokens of admins. */
  adminClaim: { name: string; value: string }
  isPlatformAdmin: IsAdmin
  cancelOnOthers: CancelOnOthers
  /** Absent: nobody is limited by address. */
  limits: RateLimits | undefined
}
