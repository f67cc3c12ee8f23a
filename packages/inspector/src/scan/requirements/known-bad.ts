import { INDEX_HOSTS, KNOWN_BAD, VENDOR_CLIENTS } from '../data/known-bad.ts'
import { pinsBad } from './specifier.ts'
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
