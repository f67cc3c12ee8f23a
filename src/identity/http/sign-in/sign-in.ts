import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Request, Response, Router } from 'express'
import { errors as providerErrors, type InteractionResults } from 'oidc-provider'

import { withinDeadline } from '../../../platform/db/client.ts'
import { findLiveAccount } from '../../db/account.ts'
import { readEmail } from '../../domain/email.ts'
import { errors } from '../../../platform/domain/errors.ts'
import { addressOf } from '../../../platform/http/access/principal.ts'
import type { SignInDeps } from './deps.ts'
import { messagePage, signInPage } from './pages.ts'
import { askForPasskey, checkPasskey } from './passkey.ts'
import { checkPassword, rememberDevice, WAIT } from './password.ts'
import { fieldOf, FORM, JSON_BODY, send, type State } from './request.ts'

const EXPIRED = messagePage(
  'Sign in again',
  'This sign-in has ended, or was begun in another browser.',
)

/** Adds the page of the password, and what its script asks for a passkey. */
export const addSignInPages = (router: Router, deps: SignInDeps, state: State): void => {
  const isOpen = (request: Request, response: Response) => findInteraction(state, request, response)
  router.get('/sign-in/:uid', async (request, response) => {
    const page = (await isOpen(request, response)) ? signInPage({}) : undefined
    send(response, page ? 200 : 400, page ?? EXPIRED)
  })
  router.post('/sign-in/:uid', FORM, async (request, response) => {
    if (!(await isOpen(request, response))) return send(response, 400, EXPIRED)
    const given = fieldOf(request, 'email')
    const email = readEmail(given) ?? given
    const password = fieldOf(request, 'password')
    const checked = await checkPassword(deps, { request, email, password })
    if (typeof checked === 'string') {
      const page = signInPage({ email: given, issue: checked })
      return send(response, checked === WAIT ? 429 : 401, page)
    }
    rememberDevice(deps, response, checked.id)
    await state.provider.interactionFinished(request, response, ...resultOf(checked.id, 'pwd'))
  })
  router.post('/sign-in/:uid/passkey/options', async (request, response) => {
    if (!(await isOpen(request, response))) throw errors.unauthorized()
    response.json(await askForPasskey(deps, request.params.uid))
  })
  router.post('/sign-in/:uid/passkey', JSON_BODY, async (request, response) => {
    const uid = String(request.params['uid'])
    const signed = Object(request.body) as AuthenticationResponseJSON
    const id = (await isOpen(request, response)) ? await checkPasskey(deps, uid, signed) : undefined
    const account = id && (await withinDeadline(deps.sql, findLiveAccount(deps.sql, id)))
    if (!account) {
      await deps.limits?.take('auth', addressOf(request))
      throw errors.unauthorized()
    }
    rememberDevice(deps, response, account.id)
    const result = resultOf(account.id, 'hwk')
    response.json({
      location: await state.provider.interactionResult(request, response, ...result),
    })
  })
}

/** Result of a sign-in, with its method as RFC 8176 names it. */
const resultOf = (
  accountId: string,
  by: 'pwd' | 'hwk',
): [InteractionResults, { mergeWithLastSubmission: false }] => [
  { login: { accountId, amr: [by] } },
  { mergeWithLastSubmission: false },
]

/** True in the browser that began the sign-in that the address names. */
const findInteraction = async ({ provider }: State, request: Request, response: Response) => {
  try {
    const { uid } = await provider.interactionDetails(request, response)
    return uid === request.params['uid']
  } catch (error) {
    if (error instanceof providerErrors.SessionNotFound) return false
    throw error
  }
}
