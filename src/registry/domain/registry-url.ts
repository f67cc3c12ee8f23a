import { shown } from '../../platform/domain/errors.ts'
import { URL_MAX, URL_SCHEMES } from './registry-fields.ts'
import { isLonger } from '../../platform/domain/text-length.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

/**
 * Says what is wrong with a URL of the registry, as the end of a sentence; undefined when nothing is. Only length and
 * scheme are validated, because the service shows such a URL and never calls it. A text without a scheme passes,
 * `git@host:name` among them.
 */
const registryUrlIssue = (text: string, kind: keyof typeof URL_SCHEMES): string | undefined => {
  if (isLonger(text, URL_MAX)) return `must be a URL of at most ${URL_MAX} characters`
  const schemes = URL_SCHEMES[kind]
  const scheme = schemeOf(text)
  return scheme === undefined || schemes.includes(scheme)
    ? undefined
    : `must be a URL whose scheme is one of ${schemes.join(', ')}`
}

/**
 * Validates those members of a body that hold a URL.
 * @param at pointer to the object they are members of
 */
export const validateRegistryUrls = (
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
  at = '',
): Issue[] =>
  names.flatMap((name) => {
    const value = body[name]
    if (typeof value !== 'string') return []
    const sentence = registryUrlIssue(value, name === 'repository' ? 'repository' : 'web')
    return sentence === undefined
      ? []
      : [makeIssue(`${at}/${name}`, `${sentence}, got ${shown(value)}`, 'url_refused')]
  })

/**
 * Browsers skip blanks and control characters at the start, and tabs and line ends anywhere; `javascript:` could hide
 * behind them.
 */
const schemeOf = (text: string): string | undefined =>
  // oxlint-disable-next-line no-control-regex -- they are what it is about
  /^[\u0000-\u0020]*([a-z][a-z\d+.-]*):/i.exec(text.replace(/[\t\r\n]/g, ''))?.[1]?.toLowerCase()
