import { INDEX_HOSTS, KNOWN_BAD, VENDOR_CLIENTS } from '../data/known-bad.ts'
import type { Requirement } from './requirement.ts'

/** Why a requirement is malicious, for the finding's text; undefined if nothing is known against it. */
export const isBad = (requirement: Requirement): string | undefined =>
  knownBad(requirement) ?? impostor(requirement)

const knownBad = ({ name = '', specifier }: Requirement): string | undefined => {
  for (const { projects, reason, source } of KNOWN_BAD) {
    const bad = Object.hasOwn(projects, name) ? projects[name] : undefined
    if (bad === 'all') return `${name}: ${reason} (${source})`
    if (bad && pinsBad(specifier, bad)) return `${name}${specifier}: ${reason} (${source})`
  }
  return undefined
}

/** A wheel or sdist that has the name of a vendor's client and comes from elsewhere. A fork's repository has not. */
const impostor = ({ name, address }: Requirement): string | undefined => {
  const own = name === undefined ? undefined : VENDOR_CLIENTS.get(name)
  if (!own || address === undefined || !/\.(?:whl|zip|tar\.gz|tgz)(?:[?#]|$)/i.test(address))
    return undefined
  const place = address.toLowerCase().replace(/^(?:https?|file):\/\/(?:www\.)?/, '')
  return [...own, ...INDEX_HOSTS].some((start) => place.startsWith(start))
    ? undefined
    : `${name} from ${address.slice(0, 200)} is not its vendor's`
}

/** Returns the part of a requirement that comes from another place than the index; undefined if none does. */
export const foreignPart = ({ address, index }: Requirement): string | undefined => {
  const place = address ?? index
  if (place === undefined) return undefined
  const plain = place.toLowerCase().replace(/^https?:\/\//, '')
  return INDEX_HOSTS.some((host) => plain.startsWith(host)) ? undefined : place.slice(0, 200)
}

/**
 * True when a version specifier (PEP 440) leaves an installer only bad releases: `==8.3.41`, `===8.3.41`, or bounds
 * between which only bad ones lie. `==8.3.*` and `>=8.3.41` let it take another one.
 */
export const pinsBad = (specifier: string, bad: readonly string[]): boolean => {
  const clauses = specifier.split(',').map((clause) => CLAUSE.exec(clause.trim()))
  if (clauses.some((clause) => clause === null) || specifier.trim() === '') return false
  const parts = clauses.map((clause) => ({
    operator: clause?.[1] ?? '',
    version: clause?.[2] ?? '',
  }))
  const allowed = bad.filter((version) => parts.every((part) => allows(part, version)))
  return allowed.length > 0 && (parts.some(isExact) || isClosed(parts, allowed))
}

const CLAUSE = /^(===|==|~=|!=|<=|>=|<|>)\s*([^\s=<>!~]+)$/

interface Clause {
  operator: string
  version: string
}

const isExact = ({ operator, version }: Clause): boolean =>
  operator === '===' || (operator === '==' && !version.endsWith('.*'))

const allows = ({ operator, version }: Clause, candidate: string): boolean => {
  if (version.endsWith('.*')) {
    const inside = `${normal(candidate)}.`.startsWith(`${normal(version.slice(0, -2))}.`)
    return operator === '!=' ? !inside : inside
  }
  const order = compareReleases(readRelease(candidate), readRelease(version))
  switch (operator) {
    case '===':
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '<=':
      return order <= 0
    case '<':
      return order < 0
    case '>':
      return order > 0
    default:
      // `~=` also has an upper bound, which none of the closed ranges here are about.
      return order >= 0
  }
}

const normal = (version: string): string => readRelease(version).join('.')

/**
 * True when two bounds leave only bad releases between them: `>=8.3.41,<=8.3.42`, `>8.3.40,<8.3.42`. Between two
 * numbers with the same beginning lie only numbers that differ in the last part.
 */
const isClosed = (parts: Clause[], allowed: string[]): boolean => {
  const low = parts.find(({ operator }) => operator === '>=' || operator === '>')
  const high = parts.find(({ operator }) => operator === '<=' || operator === '<')
  if (!low || !high) return false
  const [from, to] = [readRelease(low.version), readRelease(high.version)]
  if (from.length !== to.length || from.slice(0, -1).join('.') !== to.slice(0, -1).join('.'))
    return false
  const first = (from.at(-1) ?? 0) + (low.operator === '>' ? 1 : 0)
  const last = (to.at(-1) ?? 0) - (high.operator === '<' ? 1 : 0)
  const excluded = parts.filter(({ operator }) => operator === '!=').length
  return last >= first && last - first + 1 - excluded <= allowed.length
}

/** Numbers of a release (`v1.2.0` is 1, 2), without trailing zeros; pre-releases and local labels count as their number. */
const readRelease = (version: string): number[] => {
  const text = /^v?(?:\d+!)?(\d+(?:\.\d+)*)/i.exec(version.trim())?.[1] ?? ''
  const numbers = text.split('.').map(Number)
  while (numbers.length > 1 && numbers.at(-1) === 0) numbers.pop()
  return numbers
}

const compareReleases = (left: number[], right: number[]): number => {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
