import type { Sql, Transaction } from '../../src/db/client.ts'

export const PEERS = ['graphile-worker', 'pg-boss', 'bullmq'] as const
export type PeerName = (typeof PEERS)[number]

/** What a process of a peer is started with, as JSON. */
export interface PeerOptions {
  peer: PeerName
  /** Whether locks of a killed worker end as the peer's documentation says, or when they do by default. */
  tuned: boolean
  databaseUrl: string
  /** Of Redis, for `bullmq`. */
  redisPort: number
  storagePath: string
  /** Of the api. */
  port: number
  /** Signs what receivers are told. */
  secret: string
}

/** Runs work, then tells its receiver: each is a job of its own, so that either may be run again alone. */
export const JOB_NAMES = ['render', 'tell'] as const
export type JobName = (typeof JOB_NAMES)[number]

/** Renders at once, as many as MEDIA_SLOTS of the measured service; and receivers told at once. */
export const CONCURRENCY: Record<JobName, number> = { render: 2, tell: 20 }
/** A job that throws is tried so often, as far as that is not the peer's own default. */
export const ATTEMPTS = 10
/** HEARTBEAT_SECONDS of the service: how long a tuned peer may hold a job without a sign of life. */
export const LOCK_SECONDS = 5

/** A queue of jobs, as a peer has it. */
export interface PeerQueue {
  /** Makes its tables; once, before any process starts. */
  prepare(): Promise<void>
  /**
   * Writes rows, and adds a job if they were written: in one transaction where the queue is in PostgreSQL. Elsewhere the
   * job is added after the commit, in any case, because an earlier process may have been killed between the two.
   */
  commit(sql: Sql, write: Write, job: { name: JobName; id: string }): Promise<void>
  /** Runs jobs from now on. */
  work(jobs: Record<JobName, (id: string) => Promise<void>>): Promise<void>
}

/** Answers whether there was something to write. */
export type Write = (sql: Transaction) => Promise<boolean>
