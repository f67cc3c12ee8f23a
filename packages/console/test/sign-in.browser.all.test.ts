import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { AUDIENCE, CLIENT, startOidcIssuer } from '../../../test/support/oidc-issuer.ts'
import type { OidcIssuer } from '../../../test/support/oidc-issuer.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { inLong, skip, useConsole } from './harness.ts'

describe('signing in at an issuer', { skip }, () => {
  const console = useConsole()
  let issuer: OidcIssuer
  let baseUrl: string

  before(async () => {
    issuer = await startOidcIssuer()
    const api = await console.service.startSecondApi({
      AUTH_ISSUER: issuer.issuer,
      AUTH_AUDIENCE: AUDIENCE,
      AUTH_JWKS_URL: issuer.jwksUrl,
      OVERRIDE_DEVELOPMENT_ISSUER_KEY: '',
      CONSOLE_CLIENT_ID: CLIENT,
      CONSOLE_AUTH_PARAMS: 'audience=kiln',
    })
    baseUrl = api.baseUrl
  })
  beforeEach(() => Object.assign(issuer.rules, { seconds: 3600, refresh: true, renews: true }))
  after(() => issuer?.stop())

  const callsOf = (endpoint: string): URLSearchParams[] =>
    issuer.calls.filter((call) => call.endpoint === endpoint).map(({ parameters }) => parameters)

  const signIn = async (path: string): Promise<Page> => {
    const page = await console.open(path, { baseUrl, allowed: [issuer.issuer] })
    await page.getByRole('button', { name: 'Sign in at' }).click()
    await page.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    return page
  }

  /** Reads the traces that a page has left where others may find them. */
  const findTraces = (page: Page): Promise<string> =>
    page.evaluate<string>(
      `JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])`,
    )

  test('goes there and back to the page that was left, and keeps no token anywhere', async () => {
    const page = await signIn('/tasks?q=sunset')
    assert.equal(page.url(), `${baseUrl}/console/tasks?q=sunset`)
    const asked = callsOf('authorize').at(-1)
    assert.equal(asked?.get('code_challenge_method'), 'S256')
    assert.equal(asked?.get('audience'), 'kiln')
    assert.equal(asked?.get('scope'), 'openid profile email')
    assert.doesNotMatch(await findTraces(page), /eyJ|code=|verifier/)
    await page.goBack()
    assert.doesNotMatch(page.url(), /code=/)
  })

  test('a reload goes on as long as the issuer knows somebody', inLong, async () => {
    const page = await signIn('/account')
    await page.reload()
    await page.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    assert.equal(callsOf('authorize').at(-1)?.get('prompt'), 'none')
    await page.context().clearCookies()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in at' }).waitFor()
    assert.equal(page.url(), `${baseUrl}/console/account`)
  })

  test('renews a token before it ends, with the refresh token given last', inLong, async () => {
    issuer.rules.seconds = 61
    const page = await signIn('/account')
    const renewals = () =>
      callsOf('token').filter((call) => call.get('grant_type') === 'refresh_token')
    const before = renewals().length
    await waitFor('two renewals', async () => renewals().length >= before + 2)
    assert.equal(
      new Set(renewals().map((call) => call.get('refresh_token'))).size,
      renewals().length,
    )
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  test('an issuer that is away signs nobody out: it is asked again until it responds', async () => {
    issuer.rules.seconds = 61
    const page = await signIn('/account')
    let lost = 0
    await page.route(`${issuer.issuer}/token`, async (route) => {
      lost += 1
      await (lost % 2 ? route.abort() : route.fulfill({ status: 503, body: 'busy' }))
    })
    await waitFor('four attempts', () => lost >= 4)
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    const before = callsOf('token').length
    await page.unroute(`${issuer.issuer}/token`)
    await waitFor('a renewal', () => callsOf('token').length > before)
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  test('tabs renew in turn, never twice with one refresh token', async () => {
    issuer.rules.seconds = 61
    const page = await signIn('/account')
    const asked = callsOf('authorize').length
    const visit = { baseUrl, allowed: [issuer.issuer], context: page.context() }
    const other = await console.open('/tasks', visit)
    await other.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    assert.equal(callsOf('authorize').length, asked)
    const before = callsOf('token').length
    await waitFor('five renewals', () => callsOf('token').length >= before + 5)
    const used = callsOf('token').map((call) => call.get('refresh_token') ?? call.get('code'))
    assert.equal(new Set(used).size, used.length)
    for (const tab of [page, other]) assert.equal(await tab.getByRole('dialog').count(), 0)
  })

  test('says that a session ends which cannot be renewed', inLong, async () => {
    Object.assign(issuer.rules, { seconds: 100, refresh: false })
    const page = await signIn('/account')
    await page.getByText('Your session ends in').waitFor()
    issuer.rules.seconds = 3600
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByText('Your session ends in').waitFor({ state: 'detached' })
  })

  test('a rejected token is renewed once for all requests, and no second rejected one is sent', async () => {
    const page = await signIn('/account')
    let rejected = 0
    await page.route('**/users', async (route) => {
      rejected += 1
      const body = JSON.stringify({ error: 'unauthorized', message: 'No.' })
      await route.fulfill({ status: 401, contentType: 'application/json', body })
    })
    issuer.rules.renews = false
    await page.reload()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    assert.equal(rejected, 1)
    await page.unroute('**/users')
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByRole('button', { name: 'Signed in as alice' }).waitFor()
  })

  test('signing out revokes and ends at the issuer, no token in the address', inLong, async () => {
    const page = await signIn('/account')
    await page.getByRole('button', { name: 'Signed in as alice' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(`${baseUrl}/console/`)
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
    assert.equal(callsOf('revoke').length, 1)
    assert.deepEqual(
      [...(callsOf('end').at(-1)?.keys() ?? [])],
      ['client_id', 'post_logout_redirect_uri'],
    )
    await page.reload()
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  })

  test('a way back that this page did not ask for is rejected', inLong, async () => {
    const page = await console.open('/signed-in?code=x&state=y', { baseUrl })
    await page.getByRole('heading', { name: 'Signing in failed' }).waitFor()
  })
})
