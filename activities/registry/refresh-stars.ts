import type { FetchedStars } from '../../src/registry/stars/stars.ts'
import {
  addRepositories,
  listDueRepositories,
  recordStars,
  restHost,
  syncStars,
} from '../../src/registry/db/stars.ts'
import type { DueRepository, StarsRecord } from '../../src/registry/db/stars.ts'
import type { StarsDependencies } from './dependencies.ts'

/** Repositories of one call, which are asked for one after the other, as hosts wish. */
const BATCH = 50
const HOUR = 3_600
const DAY = 24 * HOUR

export type RefreshStars = ReturnType<typeof makeRefreshStars>

/**
 * Makes the activity that asks for the stars of a batch of repositories, and returns how many those were. Once none is
 * due, the nodes get their numbers. Killed and run again it asks again for what was not recorded.
 */
export const makeRefreshStars =
  ({ sql, log, stars, random }: StarsDependencies) =>
  async (): Promise<number> => {
    if (!stars) return 0
    await addRepositories(sql, stars.hosts)
    const due = await listDueRepositories(sql, BATCH)
    const resting = new Set<string>()
    for (const repository of due) {
      const [host = ''] = repository.key.split('/')
      if (resting.has(host)) continue
      const fetched = await stars.fetch(repository)
      if (fetched.result === 'limited') {
        resting.add(host)
        await restHost(sql, host, fetched.seconds)
        log.info({ host, seconds: fetched.seconds }, 'the host of repositories limits requests')
      } else await recordStars(sql, toRecord(repository, fetched, random()))
    }
    if (due.length === 0) {
      const nodes = await syncStars(sql)
      if (nodes > 0) log.info({ nodes }, 'stars of nodes changed')
    }
    return due.length
  }

/** Success waits a day, give or take an hour, so that requests spread; what is not there, a week. */
const toRecord = (
  { key }: DueRepository,
  fetched: Exclude<FetchedStars, { result: 'limited' }>,
  random: number,
): StarsRecord => {
  const waitSeconds = DAY + (random * 2 - 1) * HOUR
  switch (fetched.result) {
    case 'stars':
      return { key, stars: fetched.stars, etag: fetched.etag, waitSeconds }
    case 'unchanged':
      return { key, waitSeconds }
    case 'missing':
      return { key, error: fetched.error, waitSeconds: 7 * DAY }
    case 'failed':
      return { key, error: fetched.error, waitSeconds: HOUR }
  }
}
