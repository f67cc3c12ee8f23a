import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { findPort } from '../../../src/local/port.ts'
import { assertSoundAs, VIEWS } from '../../../test/support/browser.ts'
import { BUILTIN, linkIn, operateUser, PASSWORD } from '../../../test/support/sign-in.ts'
import { skip, useConsole } from './harness.ts'

describe('signing in at the api itself', { skip }, () => {
  const console = useConsole()
  let baseUrl: string

  before(async () => {
    const port = String(await findPort())
    // A passkey belongs to a name, which an address is not.
    baseUrl = `http://localhost:${port}`
    await console.service.startSecondApi({
      ...BUILTIN,
      PORT: port,
      PUBLIC_URL: baseUrl,
      OVERRIDE_DEVELOPMENT_ISSUER_KEY: '',
    })
  })

  /** Adds an account by its link, in the browser. */
  const addAccount = async (email: string): Promise<Page> => {
    const { sql } = console.service.database
    const printed = await operateUser({ sql, baseUrl }, { verb: 'add', email, isAdmin: true })
    const page = await console.open('/', { baseUrl })
    await page.goto(linkIn(printed))
    await assertSoundAs(page, 'the page of a link', VIEWS[0])
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Sign in with it.').waitFor()
    return page
  }

  /** Gives the browser an authenticator that consents to everything. */
  const addAuthenticator = async (page: Page) => {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return { devtools, authenticatorId }
  }

  const signInAs = async (page: Page, email: string): Promise<void> => {
    await leaveForSignIn(page)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await isSignedIn(page, email)
  }

  const leaveForSignIn = async (page: Page): Promise<void> => {
    await page.goto(`${baseUrl}/console/account`)
    await page.getByRole('button', { name: 'Sign in at' }).click()
    await page.getByLabel('Email').waitFor()
  }

  const isSignedIn = (page: Page, email: string): Promise<void> =>
    page.getByRole('button', { name: `Signed in as ${email}` }).waitFor()

  test('sets a password by the link, signs in with it, and goes on after a reload', async () => {
    const page = await addAccount('ada@example.com')
    await leaveForSignIn(page)
    for (const view of VIEWS) await assertSoundAs(page, 'the sign-in', view)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('gravel saucer eleven')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Email or password is wrong.').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await isSignedIn(page, 'ada@example.com')
    assert.equal(page.url(), `${baseUrl}/console/account`)
    await page.reload()
    await isSignedIn(page, 'ada@example.com')
  })

  test('adds a passkey, signs out, and signs in with it alone', async () => {
    const email = 'grace@example.com'
    const page = await addAccount(email)
    const { devtools, authenticatorId } = await addAuthenticator(page)
    await signInAs(page, email)
    await page.getByRole('link', { name: 'Password, passkeys and sessions' }).click()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    await assertSoundAs(page, 'the account', VIEWS[0])
    await page.goto(`${baseUrl}/auth/people`)
    await assertSoundAs(page, 'the people', VIEWS[1])

    await page.goto(`${baseUrl}/console/account`)
    await page.getByRole('button', { name: `Signed in as ${email}` }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${baseUrl}/console/`)

    await leaveForSignIn(page)
    // What the passkey has signed is sent once more before the page goes on.
    const statuses: number[] = []
    await page.route('**/passkey', async (route) => {
      const response = await route.fetch()
      statuses.push(response.status(), (await route.fetch()).status())
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await isSignedIn(page, email)
    assert.deepEqual(statuses, [200, 401])
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
    assert.deepEqual(
      credentials.map(({ isResidentCredential, signCount }) => [
        isResidentCredential,
        signCount > 1,
      ]),
      [[true, true]],
    )
  })

  test('a passkey that was removed signs nobody in', async () => {
    const email = 'joan@example.com'
    const page = await addAccount(email)
    await addAuthenticator(page)
    await signInAs(page, email)
    await page.goto(`${baseUrl}/auth/account`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' })
    await page.context().clearCookies()
    await leaveForSignIn(page)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.locator('[data-issue]').filter({ hasText: 'not valid' }).waitFor()
  })
})
