import express from 'express'
import type { RequestHandler } from 'express'

import { apiError, shown } from '../../../platform/domain/errors.ts'
import { addressOf } from '../../../platform/http/access/principal.ts'
import { addAccountPages } from './account.ts'
import { addAssets } from './assets.ts'
import type { SignInDeps } from './deps.ts'
import { addLinkPage } from './link.ts'
import { PAGE_POLICY } from './pages.ts'
import { addPeoplePages } from './people.ts'
import { makeProvider } from './provider.ts'
import { addSignInPages } from './sign-in.ts'

/** The pages of AUTH=builtin and its OpenID provider, for `/auth`. */
export interface SignIn {
  handle: RequestHandler
  /** Makes the provider again when its keys have changed. */
  renew(): Promise<void>
}

export const makeSignIn = async (deps: SignInDeps): Promise<SignIn> => {
  const state = { provider: makeProvider(deps) }
  const router = express.Router({ caseSensitive: true })
  router.use(makePrepare(deps))
  await addAssets(router)
  addSignInPages(router, deps, state)
  addLinkPage(router, deps)
  addAccountPages(router, deps, state)
  addPeoplePages(router, deps, state)
  router.use((request, response) => state.provider.callback()(request, response))
  return {
    handle: router,
    renew: async () => {
      if (await deps.keys.renew()) state.provider = makeProvider(deps)
    },
  }
}

/**
 * Makes what comes before all: it counts the request, sets the headers of pages, has the provider build its addresses
 * from PUBLIC_URL and no header, and rejects a form or script that is not of a page of ours.
 */
const makePrepare = ({ origin, limits }: SignInDeps): RequestHandler => {
  const { host, protocol } = new URL(origin)
  return async (request, response, next) => {
    const { headers, method, path } = request
    const isRead = method === 'GET' || method === 'HEAD'
    const address = addressOf(request)
    await limits?.take('ip', address)
    // These leave rows behind.
    if (!isRead || path === '/authorize') await limits?.take('write', address)
    response.set({
      'content-security-policy': PAGE_POLICY,
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      // Browsers hide the origin of a form under a stricter one.
      'referrer-policy': 'same-origin',
    })
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    delete headers['x-forwarded-host']
    if (!isRead && headers.origin !== origin)
      throw apiError('forbidden', `Origin must be ${origin}, got ${shown(headers.origin)}`)
    next()
  }
}
