import type { Expression } from '../../python/ast.ts'
import { findKeyword } from '../source/keywords.ts'
import { originsOf } from '../source/origins.ts'
import type { CallSite } from '../source/source-file.ts'
import { eachCall } from '../hit.ts'
import { isWhole } from '../source/text.ts'
import { textsOf } from '../source/values.ts'

/**
 * exfiltration: files or the environment are sent to a webhook, bot or paste that is written in the code. An address that
 * holds the user's own token or id is not: packs send pictures to the user's own channel.
 */
export const findExfiltration = eachCall((site) =>
  isExfiltration(site) ? { rule: 'exfiltration' } : undefined,
)

const isExfiltration = (site: CallSite): boolean => {
  if (!site.names.some((name) => SENDERS.test(name))) return false
  const address = addressOf(site)
  const addresses = address ? textsOf(address, site.scope) : []
  const sent = contentOf(site).map((node) => originsOf(node, site.scope))
  const has = (origin: 'environment' | 'file' | 'variable'): boolean =>
    sent.some((origins) => origins.has(origin))
  if (has('environment')) return addresses.some(isFixedAddress) || isWebhook(address)
  return (has('file') || has('variable')) && addresses.some(isDrop)
}

/** A webhook by its name only, as it comes from another file. */
const isWebhook = (address: Expression | undefined): boolean =>
  /webhook/i.test(
    address?.kind === 'Name' ? address.id : address?.kind === 'Attribute' ? address.attr : '',
  )

const SENDERS =
  /^(?:requests|httpx|aiohttp|urllib3|niquests)\.(?:(?:[sS]ession|Client|AsyncClient|ClientSession|PoolManager)\(\)\.)?(?:post|put|patch|request|get)$|^urllib\.request\.(?:urlopen|Request)$/

const addressOf = (site: CallSite): Expression | undefined =>
  findKeyword(site, 'url') ??
  site.call.args[site.names.some((name) => name.endsWith('.request')) ? 1 : 0]

/** Expressions that a request carries; headers are left out, since they carry credentials. */
const contentOf = (site: CallSite): Expression[] => {
  const address = addressOf(site)
  const content = site.call.keywords.filter(({ name }) => CONTENT.has(name ?? ''))
  return [
    ...content.map(({ value }) => value),
    ...site.call.args.filter((node) => node !== address),
    ...(address && address.kind !== 'Name' && address.kind !== 'Constant' ? [address] : []),
  ]
}

const CONTENT = new Set(['content', 'data', 'files', 'json', 'params', 'fields', 'body'])

/** Addresses to which anybody may send, without a part that only the user knows. */
const isDrop = (address: string): boolean => DROPS.some((drop) => drop.test(address))

const DROPS = [
  /^https?:\/\/(?:\w+\.)?discord(?:app)?\.com\/api(?:\/v\d+)?\/webhooks\/\d+\/[\w-]+/,
  /^https?:\/\/hooks\.slack\.com\/services\/T\w+\/B\w+\/\w+/,
  /^https?:\/\/api\.telegram\.org\/bot\d+:[\w-]+/,
  /^https?:\/\/(?:\w+\.)?(?:webhook\.site|requestbin\.\w+|pipedream\.net|requestcatcher\.com|beeceptor\.com|interact\.sh|oast\.\w+|burpcollaborator\.net|dnslog\.cn)(?:[/:]|$)/,
  /^https?:\/\/(?:[\w-]+\.)*(?:webhook\.site|m\.pipedream\.net|oast\.\w+|burpcollaborator\.net|interact\.sh|ngrok(?:-free)?\.(?:io|app|dev))(?:[/:]|$)/,
  /^https?:\/\/(?:pastebin\.com\/api|paste\.ee\/|hastebin\.com\/documents|rentry\.co\/api|dpaste\.org\/api|ix\.io)/,
  /^https?:\/\/(?:\w+\.)?(?:gofile\.io|anonfiles\.com|transfer\.sh|file\.io|bashupload\.com|oshi\.at)(?:[/:]|$)/,
]

/** An address whose host is written down, and is another machine. */
const isFixedAddress = (address: string): boolean => {
  const host = /^https?:\/\/([^/:]+)/.exec(address)?.[1]
  return (
    host !== undefined &&
    isWhole(host) &&
    !/^(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0|\[)/.test(host)
  )
}
