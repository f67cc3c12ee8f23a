import { shown } from '../../domain/shared/errors.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { InputDeps } from './deps.ts'

/** Judges the address of a file. A link of our own must be valid; the guard judges any other. */
export const judgeSource = (
  deps: Pick<InputDeps, 'signer' | 'outbound' | 'now'>,
  field: string,
  value: unknown,
): Fault[] => {
  if (typeof value !== 'string' || value === '') return []
  const own = deps.signer.parseOwnLink(value, deps.now())
  if (own === undefined) return judgeUrl(deps, field, value)
  if (own !== 'bad') return []
  return [refused(field, 'is a link of this service that is not valid or has expired', value)]
}

/** Judges an address that this service will call, as far as that is possible without a look-up. */
export const judgeUrl = (
  { outbound }: Pick<InputDeps, 'outbound'>,
  field: string,
  value: unknown,
): Fault[] => {
  if (typeof value !== 'string' || value === '') return []
  const judged = outbound.judge(value)
  return judged.refused === undefined
    ? []
    : [refused(field, `must be an https URL that this service calls (${judged.refused})`, value)]
}

const refused = (field: string, sentence: string, value: string): Fault => ({
  field,
  code: 'url_refused',
  message: `${field} ${sentence}, got ${shown(withoutSecrets(value))}`,
})

/** The query of a signed link is a secret, and that of a caller's URL may be one. User and password always are. */
const withoutSecrets = (url: string): string =>
  url.replace(/\?.*$/s, '?…').replace(/^([a-z][a-z\d+.-]*:)?\/*[^/]*@/i, '$1//…@')
