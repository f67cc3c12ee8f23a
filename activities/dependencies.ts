import type { ImageEngine } from '../src/adapters/image-engine/image-engine.ts'
import type { Outbound } from '../src/adapters/outbound.ts'
import type { Storage } from '../src/adapters/storage/storage.ts'
import type { Sql } from '../src/db/client.ts'
import type { Log } from '../src/log.ts'

export interface CoreDependencies {
  sql: Sql
  storage: Storage
  log: Log
  /** Days that files stay after the end of their task. */
  retentionDays: number
}

export interface MediaDependencies extends CoreDependencies {
  engine: ImageEngine
  outbound: Outbound
  limits: ImageLimits
  /** Folder of this process for unfinished files. */
  scratchDir: string
}

export interface ImageLimits {
  maxBytes: number
  maxPixels: number
  downloadTimeoutMs: number
  redirects: number
}
