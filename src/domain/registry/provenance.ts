import { Type } from 'typebox'
import type { Static } from 'typebox'

import { readClaim } from './trusted-publisher.ts'
import type { Claims, TrustProvider } from './trusted-publisher.ts'

/** Where a version was published from, as an identity token has proved it. */
export const Provenance = Type.Object(
  {
    issuer: Type.String({ description: 'Who vouches for it: `iss` of the identity token.' }),
    repository: Type.Optional(Type.String({ format: 'uri', description: 'The repository.' })),
    commit: Type.Optional(Type.String({ description: 'The commit that the job ran for.' })),
    ref: Type.Optional(Type.String({ description: 'Its branch or tag.' })),
    run_url: Type.Optional(Type.String({ format: 'uri', description: 'The run of the workflow.' })),
  },
  {
    description:
      'Where it was published from. Only what the identity token of a CI job has proved; else absent.',
  },
)
export type Provenance = Static<typeof Provenance>

/**
 * Reads the provenance out of a verified token. The addresses begin with what the issuer's own address says of its
 * server, so that an issuer can name no repository on another one's.
 */
export const readProvenance = (provider: TrustProvider, claims: Claims): Provenance => {
  const of = (name: string, form: RegExp): string | undefined => {
    const text = readClaim(provider, claims, name)
    return text !== undefined && form.test(text) ? text : undefined
  }
  const issuer = String(claims['iss'])
  const { server, path, run } = PLACES[provider](issuer)
  // Without `..`, which would lead to another repository of the server.
  const project = of(path, /^(?!.*(^|\/)\.\.?(\/|$))[\w.-]+(\/[\w.-]+)+$/)
  const id = of(run.claim, /^\d{1,20}$/)
  const repository = server !== undefined && project !== undefined && `${server}/${project}`
  const commit = of('sha', /^[0-9a-f]{40,64}$/)
  const ref = of('ref', /^[^\p{Cc}\p{Cs}]{1,255}$/u)
  return {
    issuer,
    ...(repository && { repository }),
    ...(repository && commit && { commit }),
    ...(repository && ref && { ref }),
    ...(repository && id && { run_url: `${repository}${run.folder}${id}` }),
  }
}

interface Place {
  /** Where the repositories are; undefined when the issuer's address does not tell. */
  server: string | undefined
  /** The claim with the path of the repository, and the one with the id of the run. */
  path: string
  run: { claim: string; folder: string }
}

const GITHUB_ISSUER = /^https:\/\/token\.actions\.githubusercontent\.com(\/[\w-]+)?$/
const GITHUB_SERVER_ISSUER = /^(.+)\/_services\/token$/

const PLACES: Record<TrustProvider, (issuer: string) => Place> = {
  github: (issuer) => ({
    server: GITHUB_ISSUER.test(issuer)
      ? 'https://github.com'
      : GITHUB_SERVER_ISSUER.exec(issuer)?.[1],
    path: 'repository',
    run: { claim: 'run_id', folder: '/actions/runs/' },
  }),
  gitlab: (issuer) => ({
    server: issuer.replace(/\/$/, ''),
    path: 'project_path',
    run: { claim: 'job_id', folder: '/-/jobs/' },
  }),
  oidc: () => ({ server: undefined, path: '', run: { claim: '', folder: '' } }),
}
