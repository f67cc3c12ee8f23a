import { parseRetryAfter } from '../../platform/domain/retry-after.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { POST_LIMITS } from '../../platform/outbound/post.ts'
import type { Responded } from '../../platform/outbound/post.ts'

/** Outcome of asking a host for the stars of a repository. */
export type FetchedStars =
  | { result: 'stars'; stars: number; etag: string | undefined }
  | { result: 'unchanged' }
  /** The host takes no request for so many seconds. */
  | { result: 'limited'; seconds: number }
  | { result: 'missing' | 'failed'; error: string }

export interface StarsHost {
  host: string
  /** Address of what its API says of a repository. */
  locate: (owner: string, name: string) => string
  /** Member of the response. */
  member: string
}

const encode = encodeURIComponent

/** The hosts that say how many stars a repository has. */
export const STARS_HOSTS: readonly StarsHost[] = [
  {
    host: 'github.com',
    locate: (owner, name) => `https://api.github.com/repos/${encode(owner)}/${encode(name)}`,
    member: 'stargazers_count',
  },
  {
    host: 'gitlab.com',
    locate: (owner, name) => `https://gitlab.com/api/v4/projects/${encode(`${owner}/${name}`)}`,
    member: 'star_count',
  },
  {
    host: 'codeberg.org',
    locate: (owner, name) => `https://codeberg.org/api/v1/repos/${encode(owner)}/${encode(name)}`,
    member: 'stars_count',
  },
]

interface StarsDeps {
  outbound: Pick<Outbound, 'post'>
  /** GITHUB_TOKEN; sent to the API of github.com alone. */
  githubToken: string | undefined
  hosts?: readonly StarsHost[]
}

/** A description of a repository with a long text and its owner fits in. */
const LIMITS = { ...POST_LIMITS, bodyBytes: 262_144, excerptBytes: 262_144 }

/** Rest of a host that names no time. */
const REST_SECONDS = 900
const MAX_REST_SECONDS = 86_400

/** Makes what asks a host for the stars of a repository `<host>/<owner>/<name>`. */
export const makeFetchStars = ({ outbound, githubToken, hosts = STARS_HOSTS }: StarsDeps) => {
  const get = async (url: string, headers: Record<string, string>) => {
    const response = await outbound.post({ url, headers, limits: LIMITS })
    // A repository that has another name now.
    const target = response.status !== undefined && response.redirectsTo
    return target && new URL(target).origin === new URL(url).origin
      ? await outbound.post({ url: target, headers, limits: LIMITS })
      : response
  }
  return async ({ key, etag }: { key: string; etag: string | null }): Promise<FetchedStars> => {
    const [host = '', owner = '', name = ''] = key.split('/')
    const source = hosts.find((known) => known.host === host)
    if (!source) return { result: 'missing', error: 'the host is not asked for stars' }
    const response = await get(source.locate(owner, name), {
      accept: 'application/json',
      ...(etag !== null && { 'if-none-match': etag }),
      ...(host === 'github.com' && githubToken && { authorization: `Bearer ${githubToken}` }),
    })
    if (response.status === undefined) return { result: 'failed', error: response.reason }
    return readStars(response, source.member)
  }
}

export type FetchStars = ReturnType<typeof makeFetchStars>

const readStars = (response: Responded, member: string): FetchedStars => {
  const { status, headers = {}, excerpt } = response
  if (status === 304) return { result: 'unchanged' }
  const seconds = readRest(response)
  if (seconds !== undefined) return { result: 'limited', seconds }
  if (status === 404 || status === 410 || status === 451)
    return { result: 'missing', error: `status ${status}` }
  if (status !== 200) return { result: 'failed', error: `status ${status}` }
  const stars = readMember(excerpt, member)
  return stars === undefined
    ? { result: 'failed', error: `no ${member} in the response` }
    : { result: 'stars', stars, etag: headers['etag'] }
}

/** Seconds for which the host takes no request; undefined while it does. */
const readRest = ({ status, retryAfter, headers = {} }: Responded): number | undefined => {
  const left = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']
  if (status !== 429 && !(status === 403 && (left === '0' || retryAfter !== undefined)))
    return undefined
  const reset = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']
  const now = new Date()
  const asked = parseRetryAfter(retryAfter, now) ?? Number(reset) - now.getTime() / 1000
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 60), MAX_REST_SECONDS) : REST_SECONDS
}

const readMember = (text: string, member: string): number | undefined => {
  try {
    const value = (JSON.parse(text) as Record<string, unknown> | null)?.[member]
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31
      ? value
      : undefined
  } catch {
    return undefined
  }
}
