import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { POST_LIMITS, type Posted } from '../../platform/outbound/post.ts'
import { serverOf, type NewTrustedPublisher } from '../domain/trusted-publisher.ts'

/** Findings of a code host about what is to be trusted: issues reject it, warnings say what cannot be known. */
interface TrustCheck {
  issues: Issue[]
  warnings: string[]
}

interface CodeHost {
  /** Claims that name the repository: by its number, and by its path, which is a member of the response, too. */
  id: string
  path: string
  member: string
  repository: (id: string) => string
  /** Behind the address of the repository. */
  file: (path: string) => string
}

const HOSTS: Partial<Record<NewTrustedPublisher['provider'], CodeHost>> = {
  github: {
    id: 'repository_id',
    path: 'repository',
    member: 'full_name',
    repository: (id) => `/repositories/${id}`,
    file: (path) => `/contents/${path.split('/').map(encodeURIComponent).join('/')}`,
  },
  gitlab: {
    id: 'project_id',
    path: 'project_path',
    member: 'path_with_namespace',
    repository: (id) => `/projects/${id}`,
    file: (path) => `/repository/files/${encodeURIComponent(path)}?ref=HEAD`,
  },
}

interface CheckDeps {
  outbound: Pick<Outbound, 'post'>
  /** GITHUB_API */
  githubApi: string
  /** CODE_HOST_MS */
  maxMs: number
}

/** Makes what asks the code host of a new trust for its repository and workflow, without a credential. */
export const makeCheckTrust = ({ outbound, githubApi, maxMs }: CheckDeps) => {
  const bytes = { bodyBytes: 262_144, excerptBytes: 262_144 }
  const limits = { ...POST_LIMITS, connectMs: maxMs, headersMs: maxMs, totalMs: maxMs, ...bytes }
  const headers = { accept: 'application/json' }
  return async ({
    provider,
    issuer,
    claims,
  }: NewTrustedPublisher & { issuer: string }): Promise<TrustCheck> => {
    const host = HOSTS[provider]
    const server = serverOf(provider, issuer)
    if (!host || server === undefined) return { issues: [], warnings: [] }
    const api = apiOf(provider, server, githubApi)
    const { [host.id]: id = '', workflow_file: file = '', [host.path]: path } = claims
    const url = `${api}${host.repository(id)}`
    const repository = await outbound.post({ url, headers, limits })
    if (repository.status === 404)
      return warn(
        `${server} shows nobody a repository with the ${host.id} ${id}: it is private, or the number is wrong.`,
      )
    const name = readName(repository, host.member)
    if (name === undefined) return warn(notChecked(server, repository))
    if (path !== undefined && path.toLowerCase() !== name.toLowerCase())
      return reject(`/claims/${host.path}`, `must be ${shown(name)}, which ${host.id} names`, path)
    const found = await outbound.post({ url: url + host.file(file), headers, limits })
    if (found.status === 404)
      return reject('/claims/workflow_file', `must be in the default branch of ${name}`, file)
    return found.status === 200 ? { issues: [], warnings: [] } : warn(notChecked(server, found))
  }
}

export type CheckTrust = ReturnType<typeof makeCheckTrust>

const apiOf = (provider: string, server: string, githubApi: string): string => {
  if (provider === 'gitlab') return `${server}/api/v4`
  return server === 'https://github.com' ? githubApi : `${server}/api/v3`
}

const warn = (warning: string): TrustCheck => ({ issues: [], warnings: [warning] })

const reject = (field: string, rule: string, got: string): TrustCheck => ({
  issues: [makeIssue(field, `${rule}, got ${shown(got)}`)],
  warnings: [],
})

const notChecked = (server: string, { status, reason }: { status?: number; reason?: string }) =>
  `Whether the repository has the workflow was not checked, because ${server} did not say so: ${reason ?? `status ${status}`}.`

const readName = ({ status, excerpt }: Posted & { excerpt?: string }, member: string) => {
  if (status !== 200) return undefined
  try {
    const name = (JSON.parse(excerpt ?? '') as Record<string, unknown> | null)?.[member]
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
