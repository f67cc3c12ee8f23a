import { Type } from 'typebox'
import type { Static } from 'typebox'

import { instant, map, uuid } from './registry-fields.ts'
import { registryFault } from './registry-fault.ts'
import { shown } from '../shared/errors.ts'
import type { Fault } from '../shared/validate.ts'

export const TrustProvider = Type.Enum(['github', 'gitlab', 'oidc'], {
  description:
    'GitHub Actions, GitLab CI/CD, or any other issuer of identity tokens by OpenID Connect.',
})
export type TrustProvider = Static<typeof TrustProvider>

const CLAIM = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
}

const claims = (description: string) =>
  map<string>(CLAIM, {
    minProperties: 1,
    maxProperties: 10,
    propertyNames: { minLength: 1, maxLength: 128 },
    description,
    'x-expectation': 'an object of 1 to 10 strings by the name of a claim',
  })

/** Body of POST /publishers/{p}/nodes/{n}/trusted-publishers. */
export const NewTrustedPublisher = Type.Object({
  provider: TrustProvider,
  issuer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'What `iss` of the identity tokens says, exactly. Needed with `oidc`, and for servers of one’s own: https://gitlab.example.com, https://github.example.com/_services/token.',
    }),
  ),
  claims: claims(
    'What an identity token must say, all of it. With `github`: `repository_id` (the number), `workflow_file` (such as `publish.yml`), and as one likes `repository_owner_id`, `environment`. With `gitlab`: `project_id`, `workflow_file` (such as `.gitlab-ci.yml`), and as one likes `namespace_id`, `environment`. With `oidc`: any claims of its tokens.',
  ),
})
export type NewTrustedPublisher = Static<typeof NewTrustedPublisher>

export const TrustedPublisher = Type.Object({
  id: uuid('Id of the trusted publisher.'),
  node_id: Type.String({ description: 'The node that its jobs may publish.' }),
  provider: TrustProvider,
  issuer: Type.String({ description: 'What `iss` of the identity tokens says.' }),
  claims: claims('What an identity token must say, all of it.'),
  created_by: Type.String({ description: 'Id of the user who trusts it.' }),
  createdAt: instant('When it was created.'),
})
export type TrustedPublisher = Static<typeof TrustedPublisher>

export const TrustedPublisherList = Type.Array(TrustedPublisher)

/** Body of POST /publishers/{p}/nodes/{n}/token-exchange. */
export const TokenExchange = Type.Object({
  identity_token: Type.String({
    minLength: 1,
    maxLength: 16_384,
    pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]*$',
    writeOnly: true,
    description: 'The identity token of the CI job, a JSON Web Token.',
    'x-expectation': 'a JSON Web Token of at most 16,384 characters',
  }),
})
export type TokenExchange = Static<typeof TokenExchange>

/** Its answer. */
export const ExchangedToken = Type.Object({
  token: Type.String({ description: 'Publishes the node: goes into `personal_access_token`.' }),
  expires_at: instant('When it ends.'),
})

export const IdentityAudience = Type.Object({
  audience: Type.String({ description: 'What `aud` of an identity token must name.' }),
})

/** `iss` of the providers that have one server for all. */
export const USUAL_ISSUERS: Partial<Record<TrustProvider, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
}

/** What a claim must look like, in words and as a pattern. */
interface ClaimForm {
  pattern: RegExp
  expectation: string
  required?: true
}

const ANY: ClaimForm = { pattern: /^/, expectation: 'a string' }
/** A number is never given again, unlike a name. */
const ID: ClaimForm = { pattern: /^\d+$/, expectation: 'the number, as a string' }

/** The claims of providers that have their own; any other has any. */
const FORMS: Partial<Record<string, Record<string, ClaimForm>>> = {
  github: {
    repository_id: { ...ID, required: true },
    workflow_file: {
      pattern: /^[^@/]+\.ya?ml$/,
      expectation: 'the name of a file in .github/workflows, such as publish.yml',
      required: true,
    },
    repository_owner_id: ID,
    environment: ANY,
  },
  gitlab: {
    project_id: { ...ID, required: true },
    workflow_file: {
      pattern: /^[^@/][^@]*\.ya?ml$/,
      expectation: 'the path of the file in the project, such as .gitlab-ci.yml',
      required: true,
    },
    namespace_id: ID,
    environment: ANY,
  },
}

/** What the schema of a new trusted publisher cannot say. */
export const judgeNewTrust = (body: Readonly<Record<string, unknown>>): Fault[] => {
  const { provider, issuer, claims } = body
  if (provider === 'oidc' && issuer === undefined)
    return [registryFault('/issuer', 'must be given with the provider oidc, but is absent')]
  if (typeof claims !== 'object' || claims === null) return []
  const given = Object.entries(claims)
  const forms = Object.hasOwn(FORMS, String(provider)) ? FORMS[String(provider)] : undefined
  if (!forms) return given.flatMap(([name]) => (NAME.test(name) ? [] : [nameFault('claims', name)]))
  const names = Object.keys(forms)
  const missing = names.filter((name) => forms[name]?.required && !Object.hasOwn(claims, name))
  return [
    ...missing.map((name) =>
      registryFault(`/claims/${name}`, `must be ${forms[name]?.expectation}, but is absent`),
    ),
    ...given.flatMap(([name, value]) => {
      const form = Object.hasOwn(forms, name) ? forms[name] : undefined
      if (!form) return [nameFault(names.join(', '), name)]
      if (typeof value !== 'string' || form.pattern.test(value)) return []
      return [registryFault(`/claims/${name}`, `must be ${form.expectation}, got ${shown(value)}`)]
    }),
  ]
}

const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u

const nameFault = (names: string, name: string): Fault =>
  registryFault('/claims', `must have the names of ${names} alone, got ${shown(name)}`)

export type Claims = Readonly<Record<string, unknown>>

/** The names of the claims by which a token is not the one that is trusted; none when it is. */
export const findMismatches = (
  { provider, claims: trusted }: Pick<TrustedPublisher, 'provider' | 'claims'>,
  claims: Claims,
): string[] =>
  Object.entries(trusted)
    .filter(([name, value]) => !isSame(provider, name, value, readClaim(provider, claims, name)))
    .map(([name]) => name)

/** GitHub takes `Release` and `release` for one environment. */
const isSame = (provider: TrustProvider, name: string, trusted: string, said?: string): boolean =>
  provider === 'github' && name === 'environment'
    ? said?.toLowerCase() === trusted.toLowerCase()
    : said === trusted

/** What a token says under the name of a trusted claim; undefined for what is no single word. */
export const readClaim = (
  provider: TrustProvider,
  claims: Claims,
  name: string,
): string | undefined => {
  const of = (claim: string): string | undefined => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
  }
  if (provider === 'github' && name === 'workflow_file')
    return fileOf(of('workflow_ref'), `${of('repository')}/.github/workflows/`)
  if (provider === 'gitlab' && name === 'workflow_file')
    return fileOf(of('ci_config_ref_uri'), `${hostOf(of('iss'))}/${of('project_path')}//`)
  return of(name)
}

/** The file of `<folder><file>@<ref>`. Neither a file in another repository nor one that has `@` in its name is it. */
const fileOf = (text: string | undefined, folder: string): string | undefined =>
  text?.startsWith(folder) ? text.slice(folder.length, text.lastIndexOf('@refs/')) : undefined

const hostOf = (url: string | undefined): string =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : ''
