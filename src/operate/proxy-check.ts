import type { Config } from '../compose/settings/env.ts'
import { makeProxy } from '../platform/outbound/proxy.ts'
import { openTrustedSocket } from '../platform/outbound/trusted.ts'
import { readOutboundRules } from '../platform/settings/settings.ts'
import type { Check } from './doctor.ts'

/** Addresses that a service calls by itself; the last one is for stars and for publishing from GitHub. */
const ASKED = ['AUTH_JWKS_URL', 'S3_ENDPOINT'] as const
const GITHUB = 'https://api.github.com'

/** Makes the check that the proxy lets connections out; none where there is no proxy. */
export const makeProxyChecks = (config: Config): Check[] =>
  config.OUTBOUND_PROXY === ''
    ? []
    : [
        [
          'way out',
          ['OUTBOUND_PROXY', 'OUTBOUND_NO_PROXY'],
          'let this machine resolve names, or set OUTBOUND_PROXY_RESOLVES=true',
          () => checkProxy(config),
        ],
      ]

const checkProxy = async (config: Config): Promise<string> => {
  const rules = readOutboundRules(config)
  const proxy = rules.proxy && makeProxy(rules.proxy)
  const url = [...ASKED.map((name) => config[name]), GITHUB]
    .filter((text) => URL.canParse(text))
    .map((text) => new URL(text))
    .find(({ hostname }) => proxy?.isBypassed(hostname, []) === false)
  if (!url) return 'OUTBOUND_NO_PROXY leaves it nothing to check'
  const socket = await openTrustedSocket(rules, url)
  socket.destroy()
  return `${proxy?.origin} lets ${url.host} through`
}
