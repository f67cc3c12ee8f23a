import { Type, type Static } from 'typebox'

import { instant, map, uuid } from '../../platform/domain/schema-fields.ts'
import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

export const TrustProvider = Type.Enum(['github', 'gitlab', 'oidc'], {
  description: 'GitHub Actions, GitLab CI/CD, or any other issuer of OpenID Connect.',
})
export type TrustProvider = Static<typeof TrustProvider>

const claims = map<string>(Type.String({ minLength: 1, maxLength: 512 }), {
  minProperties: 1,
  maxProperties: 10,
  description:
    'What an identity token must say, all of it. With `github` at least `repository_id` (the number) and `workflow_file` (such as `.github/workflows/publish.yml`), with `gitlab` `project_id` and `workflow_file` (such as `.gitlab-ci.yml`); and any other, such as `environment` or `ref`.',
  'x-expectation': 'an object of 1 to 10 strings by the name of a claim',
})

/** Body of POST /publishers/{p}/nodes/{n}/trusted-publishers. */
export const NewTrustedPublisher = Type.Object({
  provider: TrustProvider,
  issuer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^[^?#]+$',
      'x-expectation': 'a URL of at most 512 characters without query and fragment',
      description:
        '`iss` of the identity tokens, exactly. Needed with `oidc`, and for servers of one’s own: https://gitlab.example.com, https://github.example.com/_services/token.',
    }),
  ),
  claims,
})
export type NewTrustedPublisher = Static<typeof NewTrustedPublisher>

export const TrustedPublisher = Type.Object({
  id: uuid('Id of the trusted publisher.'),
  node_id: Type.String({
    description: 'The pack that its jobs may publish; in small letters where it was to come.',
  }),
  provider: TrustProvider,
  issuer: Type.String({ description: '`iss` of the identity tokens.' }),
  claims,
  created_by: Type.String({ description: 'Id of the user who trusts it.' }),
  createdAt: instant('When it was created.'),
})
export type TrustedPublisher = Static<typeof TrustedPublisher>

export const TrustedPublisherList = Type.Array(TrustedPublisher)

/** Response of POST /publishers/{p}/nodes/{n}/trusted-publishers. */
export const CreatedTrust = Type.Object({
  ...TrustedPublisher.properties,
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What the code host did not let us know of the repository and its workflow.',
    }),
  ),
})

/** Body of POST /publishers/{p}/nodes/{n}/token-exchange. */
export const TokenExchange = Type.Object({
  identity_token: Type.String({
    minLength: 1,
    maxLength: 16_384,
    pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]*$',
    writeOnly: true,
    description: 'The identity token of the CI job.',
    'x-expectation': 'a JSON Web Token of at most 16,384 characters',
  }),
})
export type TokenExchange = Static<typeof TokenExchange>

/** Lifetime of a token that a CI job, or a member's session, gets for one publication: as PyPI has it. */
export const PUBLISH_TOKEN_SECONDS = 900

/** Response to it, and to POST /publishers/{p}/nodes/{n}/publish-tokens. */
export const ExchangedToken = Type.Object({
  token: Type.String({ description: 'Publishes the pack: goes into `personal_access_token`.' }),
  expires_at: instant('When it ends.'),
})

/** Origin of a published version, as an identity token has proved it. */
export const Provenance = Type.Object(
  {
    issuer: Type.String({ description: 'Who vouches for it: `iss` of the identity token.' }),
    repository: Type.Optional(Type.String({ format: 'uri', description: 'The repository.' })),
    commit: Type.Optional(Type.String({ description: 'The commit that the job ran for.' })),
    ref: Type.Optional(Type.String({ description: 'Its branch or tag.' })),
    run_url: Type.Optional(Type.String({ format: 'uri', description: 'The run of the workflow.' })),
  },
  { description: 'Where it was published from, if the identity token of a CI job has proved it.' },
)
export type Provenance = Static<typeof Provenance>

interface Provider {
  /** `iss` of the server for all. */
  issuer: string
  /** The claims that a trust must name. An id is a number that is never given again, unlike a name. */
  needs: readonly string[]
  /** The claims with the file of the workflow, the path of the repository, and the id of the run. */
  file: string
  path: string
  run: string
  /** Text before that file, and before that id. */
  beforeFile: (path: string, issuer: string) => string
  beforeRun: string
  /** Server of the repositories, by the issuer's own address: it can name none on another server. */
  server: (issuer: string) => string | undefined
}

const PROVIDERS: Partial<Record<TrustProvider, Provider>> = {
  github: {
    issuer: 'https://token.actions.githubusercontent.com',
    needs: ['repository_id', 'workflow_file'],
    file: 'workflow_ref',
    path: 'repository',
    run: 'run_id',
    beforeFile: (path) => `${path}/`,
    beforeRun: '/actions/runs/',
    server: (issuer) =>
      /^https:\/\/token\.actions\.githubusercontent\.com(\/[\w-]+)?$/.test(issuer)
        ? 'https://github.com'
        : /^(.+)\/_services\/token$/.exec(issuer)?.[1],
  },
  gitlab: {
    issuer: 'https://gitlab.com',
    needs: ['project_id', 'workflow_file'],
    file: 'ci_config_ref_uri',
    path: 'project_path',
    run: 'job_id',
    beforeFile: (path, issuer) => `${issuer.split('/')[2]}/${path}//`,
    beforeRun: '/-/jobs/',
    server: (issuer) => issuer.replace(/\/$/, ''),
  },
}

/** Finds the server with the repositories of an issuer; undefined of one that is no known CI. */
export const serverOf = (provider: TrustProvider, issuer: string): string | undefined =>
  PROVIDERS[provider]?.server(issuer)

export const usualIssuer = (provider: TrustProvider): string | undefined =>
  PROVIDERS[provider]?.issuer

/** The rules of a new trusted publisher that its schema cannot say. */
export const validateNewTrust = (body: Readonly<Record<string, unknown>>): Issue[] => {
  const { claims: given, issuer } = body
  const provider = TrustProvider.enum.find((one) => one === body['provider'])
  if (provider === undefined || typeof given !== 'object' || given === null) return []
  const claims = new Map<string, unknown>(Object.entries(given))
  const reported = [...claims.keys()].filter((name) => name.length > NAME_MAX)
  return [
    ...(issuer === undefined && !usualIssuer(provider)
      ? [makeIssue('/issuer', `must be given with ${provider}, but is absent`)]
      : []),
    ...reported.map((name) => makeIssue('/claims', `must have short names, got ${shown(name)}`)),
    ...[...claims].flatMap(([name, value]) => {
      if (typeof value === 'string' && value !== value.trim())
        return [makeIssue(`/claims/${name}`, `must have no blanks around it, got ${shown(value)}`)]
      const rule = OTHER_FORMS[provider]?.[name]
      return !rule || typeof value !== 'string' || rule.form.test(value)
        ? []
        : [makeIssue(`/claims/${name}`, `must be ${rule.words}, got ${shown(value)}`)]
    }),
    ...(PROVIDERS[provider]?.needs ?? []).flatMap((name) => {
      const { form, words } = name === 'workflow_file' ? FILES[provider] : ID
      const value = claims.get(name)
      if (value !== undefined && (typeof value !== 'string' || form.test(value))) return []
      const came = value === undefined ? 'but is absent' : `got ${shown(value)}`
      return [makeIssue(`/claims/${name}`, `must be ${words}, ${came}`)]
    }),
  ]
}

const NAME_MAX = 128
const ID = { form: /^[1-9]\d*$/, words: 'the number above 0, as a string' }
const FILES = {
  // Where alone GitHub runs workflows.
  github: {
    form: /^\.github\/workflows\/[^@/]+\.ya?ml$/,
    words:
      'the whole path of a workflow file in the repository, such as .github/workflows/publish.yml',
  },
  gitlab: {
    form: /^[^@/][^@]*\.ya?ml$/,
    words: 'the path of a YAML file in the repository, such as .gitlab-ci.yml',
  },
  oidc: { form: /^/, words: '' },
}

interface Form {
  form: RegExp
  words: string
}

/** Forms that the claims of a provider always have: a trust in any other text would match no token. */
const OTHER_FORMS: Partial<Record<TrustProvider, Record<string, Form>>> = {
  github: {
    repository_owner_id: ID,
    ref: { form: /^refs\//, words: 'a whole ref, such as refs/heads/main' },
    repository: { form: /^[^/]+\/[^/]+$/, words: 'owner and name, such as acme/image-tools' },
  },
  gitlab: {
    namespace_id: ID,
    ref: { form: /^(?!refs\/)/, words: 'the name of a branch or tag without refs/, such as main' },
    project_path: { form: /^[^/]+(\/[^/]+)+$/, words: 'a path such as acme/image-tools' },
  },
}

export type Claims = Readonly<Record<string, unknown>>

/** The names of the claims by which a token is not the one that is trusted; none when it is. */
export const findMismatches = (
  { provider, claims: trusted }: Pick<TrustedPublisher, 'provider' | 'claims'>,
  claims: Claims,
): string[] =>
  Object.keys(trusted).filter((name) => readClaim(provider, claims, name) !== trusted[name])

/** Reads what a token says under the name of a trusted claim; undefined for what is no single word. */
export const readClaim = (
  provider: TrustProvider,
  claims: Claims,
  name: string,
): string | undefined => {
  const ci = PROVIDERS[provider]
  if (!ci || name !== 'workflow_file') return readWord(claims, name)
  const text = readWord(claims, ci.file)
  // `<folder><file>@<ref>`, and trusted files have no `@`: one of another repository, or `a.yml@refs/b.yml`, is not it.
  const folder = ci.beforeFile(String(readWord(claims, ci.path)), String(claims['iss']))
  return text?.startsWith(folder)
    ? text.slice(folder.length, text.lastIndexOf('@refs/'))
    : undefined
}

const readWord = (claims: Claims, name: string): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

/** Reads the provenance out of a verified token. What has not the form of what it should be is left out. */
export const readProvenance = (provider: TrustProvider, claims: Claims): Provenance => {
  const of = (name = '', form: RegExp): string | undefined => {
    const text = readWord(claims, name)
    return text !== undefined && form.test(text) ? text : undefined
  }
  const ci = PROVIDERS[provider]
  const issuer = String(claims['iss'])
  const server = ci?.server(issuer)
  // Without `..`, which would lead to another repository of the server.
  const path = of(ci?.path, /^(?!.*(^|\/)\.\.?(\/|$))[\w.-]+(\/[\w.-]+)+$/)
  if (!ci || server === undefined || path === undefined) return { issuer }
  const commit = of('sha', /^[0-9a-f]{40,64}$/)
  const ref = of('ref', /^[^\p{Cc}\p{Cs}]{1,255}$/u)
  const id = of(ci.run, /^\d{1,20}$/)
  return {
    issuer,
    repository: `${server}/${path}`,
    ...(commit && { commit }),
    ...(ref && { ref }),
    ...(id && { run_url: `${server}/${path}${ci.beforeRun}${id}` }),
  }
}
