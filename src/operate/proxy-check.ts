import type { Config } from '../compose/settings/env.ts'
import { makeProxy, type ProxyRules } from '../platform/outbound/proxy.ts'
import { openTrustedSocket } from '../platform/outbound/trusted.ts'
import { readOutboundRules } from '../platform/settings/settings.ts'
import type { Check } from './doctor.ts'

/** Asked for stars, and where a service calls nothing else by itself. */
const GITHUB = 'https://api.github.com'
const ADVICE = 'let this machine resolve names, or set OUTBOUND_PROXY_RESOLVES=true'

/** Makes the check that the proxy lets connections out; none where there is no proxy. */
export const makeProxyChecks = (config: Config): Check[] => {
  const { proxy } = readOutboundRules(config)
  const urls = [config.AUTH_JWKS_URL, config.S3_ENDPOINT, GITHUB]
  const needs = ['OUTBOUND_PROXY', 'OUTBOUND_NO_PROXY'] as const
  return proxy ? [['way out', needs, ADVICE, () => checkProxy(proxy, urls)]] : []
}

const checkProxy = async (rules: ProxyRules, urls: readonly string[]): Promise<string> => {
  const { origin, isBypassed } = makeProxy(rules)
  const url = urls
    .filter((text) => URL.canParse(text))
    .map((text) => new URL(text))
    .find(({ hostname }) => !isBypassed(hostname, []))
  if (!url) return 'OUTBOUND_NO_PROXY leaves it nothing to check'
  ;(await openTrustedSocket(url, rules)).destroy()
  return `${origin} lets ${url.host} through`
}
