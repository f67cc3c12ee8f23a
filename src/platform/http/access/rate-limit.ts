import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

import { errors } from '../../domain/errors.ts'

interface Quota {
  /** Requests in a window. */
  requests: number
  /** Window in seconds. */
  seconds: number
  /** Most at once. Absent: the whole window's. */
  burst?: number | undefined
}

/**
 * Numbers of requests that one address (ip, read, registration, auth, workflow) or one caller (create, write) may send. `auth`
 * counts rejected credentials alone.
 */
export const QUOTAS = {
  ip: { requests: 200, seconds: 1, burst: 400 },
  read: { requests: 6000, seconds: 60 },
  registration: { requests: 600, seconds: 60 },
  auth: { requests: 20, seconds: 60 },
  workflow: { requests: 60, seconds: 60 },
  create: { requests: 600, seconds: 60, burst: 60 },
  write: { requests: 600, seconds: 60, burst: 60 },
} as const satisfies Record<string, Quota>

export type QuotaName = keyof typeof QUOTAS

export interface RateLimits {
  /** Counts one request of a key, whose quota may be so many times as large. Returns the headers that say what is left; throws the 429 when nothing is. */
  take(name: QuotaName, key: string, factor?: number): Promise<Record<string, string>>
  /** Gives back what was taken for something that turned out not to count. */
  giveBack(name: QuotaName, key: string): Promise<void>
}

/** Makes the quotas of one process, each times `factor`. They are kept in memory: every process has its own. */
export const makeRateLimits = (factor: number): RateLimits => {
  const quotas = new Map<string, ReturnType<typeof makeQuota>>()
  /** One for each factor that an admin has given: a few. */
  const get = (name: QuotaName, own: number) => {
    const id = `${name} ${own}`
    const quota = quotas.get(id) ?? makeQuota(name, QUOTAS[name], factor * own)
    quotas.set(id, quota)
    return quota
  }
  return {
    async take(name, key, own = 1) {
      const quota = get(name, own)
      const { isTaken, left, seconds } = await quota.take(key)
      const headers = {
        'ratelimit-policy': quota.policy,
        ratelimit: `"${name}";r=${left};t=${seconds}`,
      }
      if (isTaken) return headers
      throw errors.rateLimited({ name, policy: quota.words, seconds, headers })
    },
    giveBack: async (name, key) => void (await get(name, 1).giveBack(key)),
  }
}

interface Taken {
  isTaken: boolean
  left: number
  /** Until there are more. */
  seconds: number
}

const makeQuota = (name: string, { requests, seconds, burst }: Quota, factor: number) => {
  const whole = Math.max(1, Math.round(requests * factor))
  const quota = {
    requests: whole,
    seconds,
    burst: burst && Math.max(1, Math.round(burst * factor)),
  }
  return {
    policy: `"${name}";q=${whole};w=${seconds}`,
    words: `${whole} in ${seconds} s`,
    ...(quota.burst === undefined ? makeWindow(quota) : makeBucket(quota, quota.burst)),
  }
}

const makeWindow = ({ requests, seconds }: Quota) => {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  return {
    take: async (key: string): Promise<Taken> => toTaken(await consume(limiter, key)),
    giveBack: (key: string) => limiter.reward(key),
  }
}

/** The library's pair for a token bucket: what a second refills, and a reserve that takes a minute to come back. */
const makeBucket = ({ requests, seconds }: Quota, burst: number) => {
  const each = Math.max(1, Math.floor(requests / seconds))
  const flow = new RateLimiterMemory({ points: each, duration: 1 })
  const reserve = new RateLimiterMemory({ points: Math.max(1, burst - each), duration: 60 })
  const limiter = new BurstyRateLimiter(flow, reserve)
  const take = async (key: string): Promise<Taken> => {
    const { isTaken, result } = await consume(limiter, key)
    const kept = await reserve.get(key)
    const { left, seconds } = toTaken({ isTaken, result })
    return { isTaken, left: left + (kept ? kept.remainingPoints : reserve.points), seconds }
  }
  return { take, giveBack: (key: string) => flow.reward(key) }
}

const consume = async (
  limiter: Pick<RateLimiterMemory, 'consume'>,
  key: string,
): Promise<{ isTaken: boolean; result: RateLimiterRes }> => {
  try {
    return { isTaken: true, result: await limiter.consume(key) }
  } catch (error) {
    // A rejection is thrown as a result; anything else is an error.
    if (!(error instanceof RateLimiterRes)) throw error
    return { isTaken: false, result: error }
  }
}

const toTaken = ({ isTaken, result }: { isTaken: boolean; result: RateLimiterRes }): Taken => ({
  isTaken,
  left: Math.max(0, result.remainingPoints),
  seconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
})
