import type { ImageEngine } from '../src/adapters/image-engine/image-engine.ts'
import type { Outbound } from '../src/adapters/outbound.ts'
import type { Storage } from '../src/adapters/storage/storage.ts'
import type { VideoEngine } from '../src/adapters/video-engine/video-engine.ts'
import type { Sql } from '../src/db/client.ts'
import type { OutboxRow } from '../src/db/outbox.ts'
import type { MediaLimits } from '../src/domain/media-limits.ts'
import type { Log } from '../src/log.ts'

/** What the activities of every worker use. */
export interface CommonDependencies {
  sql: Sql
  storage: Storage
  log: Log
}

export interface CoreDependencies extends CommonDependencies {
  /** Days that files stay after the end of their task. */
  retentionDays: number
  /** Video tasks of an owner that may hold a slot at once. */
  slots: number
  /** Begins to tell Temporal of a committed row of the outbox; what fails there is the relay's. */
  kick(row: OutboxRow): void
}

export interface MediaDependencies extends CommonDependencies {
  engine: ImageEngine
  videoEngine: VideoEngine
  outbound: Outbound
  limits: MediaLimits
  /** Folder of this process for unfinished files. */
  scratchDir: string
  /** VIDEO_TINY: 8 frames of 64×36, whatever a video task asks for. */
  tinyVideos: boolean
}
