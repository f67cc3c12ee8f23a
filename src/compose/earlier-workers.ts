import { VERSION } from '../platform/domain/release.ts'
import type { Sql } from '../platform/db/client.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { readQueues } from '../platform/temporal/queues.ts'
import { readQueueFacts } from './dependencies.ts'

interface Asked {
  taskQueue: string
  roles: readonly string[]
  /** That of this code, unless a test says otherwise. */
  release?: string
}

/**
 * Lists the workers of these roles that live and are of an earlier release. Later ones are there when a release is rolled
 * back: then apis go first, and wait for nobody. Throws while Temporal or PostgreSQL cannot be asked.
 */
export const listEarlierWorkers = async (
  jobs: Jobs,
  sql: Sql,
  { taskQueue, roles, release = VERSION }: Asked,
): Promise<string[]> => {
  const { gone } = await readQueueFacts(sql)
  const state = await readQueues(jobs, taskQueue, { engines: [], gone })
  if (!state.reachable) throw new Error(state.error)
  const earlier = state.queues
    .flatMap(({ pollers }) => pollers)
    .filter((poller) => roles.includes(poller.identity.split('@')[0] ?? ''))
    .filter((poller) => isEarlier(poller.release ?? '', release))
  return [...new Set(earlier.map(({ identity }) => identity))]
}

/** Builds of one number have no order: any other build is earlier, and each is earlier than the release of its number. */
const isEarlier = (release: string, than: string): boolean => {
  const [number = '', other = ''] = [release, than].map((text) => text.replace(/[-+].*/, ''))
  const order = number.localeCompare(other, 'en', { numeric: true })
  return order === 0 ? release !== than && release !== number : order < 0
}
