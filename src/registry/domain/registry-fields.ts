import { Type } from 'typebox'

import { inAnyCase } from '../../platform/domain/address.ts'
import { text, texts } from '../../platform/domain/schema-fields.ts'

/** Members that several objects of the registry have in common. */

export const URL_MAX = 2_048
/** Longest license, changelog, translations as JSON, and text of a host node. */
export const LONG_TEXT_MAX = 65_536

/** Schemes of an address that the service shows and never calls. A repository may also be read by git. */
export const URL_SCHEMES = {
  web: ['http', 'https'],
  repository: ['http', 'https', 'git', 'ssh', 'git+https'],
}

/** A URL. `registry-url.ts` validates it: one that is too long or has another scheme is `url_refused`. */
export const url = (description: string, kind: keyof typeof URL_SCHEMES = 'web') =>
  Type.String({ maxLength: URL_MAX, 'x-pattern': patternOf(URL_SCHEMES[kind]), description })

const patternOf = (schemes: readonly string[]): string => {
  const known = schemes.map((scheme) => inAnyCase(scheme).replace('+', '\\+')).join('|')
  return `^(?![\\u0001-\\u0020]*(?!(?:${known}):)[A-Za-z][A-Za-z0-9+.-]*:)[^\\u0000]*$`
}

/** Sentences about a change that does not fail and may surprise. */
export const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'What may surprise or will not work, and why: a picture that cannot be shown, versions of the host that cannot be compared, translations that no language tag names, an id like another.',
  }),
)

export const tags = (description: string) => texts(50, 100, description)

/** In the document: a body that has one of the statuses and does not say why. `validateReason` rejects it. */
export const withoutReason = (member: string, statuses: readonly string[], of = 'status') => ({
  required: [of],
  properties: { [of]: { enum: statuses }, [member]: { not: { type: 'string', pattern: '\\S' } } },
})

/** Platforms on which a node or a version runs. Each says so for itself: a version inherits nothing. */

const os = tags('Operating systems it runs on; any text.')
const accelerators = tags('Accelerators it runs on, such as CUDA; any text.')

const versions = {
  supported_host_version: Type.Optional(
    text(
      256,
      'Versions of the host: a specifier set (PEP 440) such as `>=1.2,<2`. Any other text is stored with a warning.',
    ),
  ),
  supported_host_frontend_version: Type.Optional(
    text(256, 'Versions of the host’s frontend, likewise.'),
  ),
}

/** In bodies. */
export const writtenSupport = {
  supported_os: Type.Optional(os),
  supported_accelerators: Type.Optional(accelerators),
  ...versions,
}

/** In responses, where lists are always there. */
export const shownSupport = { supported_os: os, supported_accelerators: accelerators, ...versions }
