import assert from 'node:assert/strict'

import { makeUpstreamSettings, startService } from '../support/service.ts'
import type { Service, ServiceOptions } from '../support/service.ts'

/** Two services: `near` has `far` render. */
export interface Pair {
  near: Service
  far: Service
  /** The near one's key at the far one. */
  key: string
  stop(): Promise<void>
}

/** Whom the tasks of the far one belong to. */
const CALLER = 'near'

/** Unless it is to read packs as well, the near one has nothing to render with. */
export const startPair = async ({
  env = {},
  roles = ['api', 'core'],
}: Pick<ServiceOptions, 'env' | 'roles'> = {}): Promise<Pair> => {
  const common = { OVERRIDE_VIDEO_TINY: 'true', OVERRIDE_HEARTBEAT_SECONDS: '2', ...env }
  const far = await startService({
    env: {
      ...common,
      OWNER_TASK_LIMIT: '100000',
      VIDEO_CONCURRENCY_PER_OWNER: '1000',
      VIDEO_EXTEND_SOURCE: 'any',
    },
  })
  const key = await far.token(CALLER)
  try {
    const near = await startService({
      roles,
      env: {
        ...common,
        ...makeUpstreamSettings(`${far.baseUrl}|resubmit=1`, key),
        OVERRIDE_VENDOR_RATE: '200',
        OVERRIDE_VENDOR_CONCURRENCY: '40',
        OVERRIDE_VENDOR_SLOTS: '200',
        VIDEO_CONCURRENCY_PER_OWNER: '1000',
      },
    })
    const stop = async (): Promise<void> => {
      await near.stop()
      await far.stop()
    }
    return { near, far, key, stop }
  } catch (error) {
    await far.stop()
    throw error
  }
}

/** Whom a task of the far one belongs to once that has forgotten it. */
export const NOBODY = 'nobody'

/** Asserts that each task that is for the far one is one task of it, under the id that the near one knows. */
export const assertOneEach = async ({ near, far }: Pair): Promise<void> => {
  const here = await near.database.sql<{ upstreamId: string }[]>`
    select upstream_id as "upstreamId" from task where engine = 'vendor'
  `
  const there = await far.database.sql<{ id: string }[]>`
    select id from task where owner <> ${NOBODY}
  `
  assert.deepEqual(
    there.map(({ id }) => id).toSorted(),
    here.map(({ upstreamId }) => upstreamId).toSorted(),
    'tasks there',
  )
}
