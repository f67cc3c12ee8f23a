import { satisfies, valid, validRange } from '@renovatebot/pep440'

import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

/** Members of a node or version that hold a specifier set of PEP 440. */
const SPECIFIER_MEMBERS = ['supported_host_version', 'supported_host_frontend_version'] as const

const isSpecifierSet = (text: string): boolean => text.trim() === '' || validRange(text)

/** Lists warnings about what a body says of host versions: publishing tools send any text, and go on. */
export const hostVersionWarnings = (body: Readonly<Record<string, unknown>>, at = ''): string[] =>
  SPECIFIER_MEMBERS.flatMap((name) => {
    const given = body[name]
    if (typeof given !== 'string' || isSpecifierSet(given)) return []
    return [
      `${at}/${name} is stored, but says nothing to those who compare versions: it must be a specifier set (PEP 440) such as ">=1.2,<2", got ${shown(given)}.`,
    ]
  })

/** The rule of `host_version` in a query or body that its schema cannot say. */
export const validateHostVersion = (version: unknown, field = '?host_version'): Issue[] =>
  typeof version !== 'string' || version === '' || valid(version) !== null
    ? []
    : [makeIssue(field, `must be a version (PEP 440) such as 1.4.0, got ${shown(version)}`)]

/** Picks the specifier sets that leave a version out; a text that is none leaves nothing out. */
export const listExcluding = (given: readonly string[], version: string): string[] =>
  given.filter(
    (text) =>
      text.trim() !== '' &&
      isSpecifierSet(text) &&
      !satisfies(version, text, { prereleases: true }),
  )
