import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { assertSound, skip, useConsole } from './harness.ts'

describe('the frame of the console', { skip }, () => {
  const console = useConsole()

  test('a user is chosen by keyboard, stays over a reload, and is gone from all tabs after signing out', async () => {
    const page = await console.open('/account')
    await page.getByRole('button', { name: 'Sign in as alice' }).focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('button', { name: 'Signed in as alice' })
    await menu.waitFor()
    await page.reload()
    await menu.waitFor()
    const other = await console.open('/tasks', { context: page.context() })
    await other.getByRole('button', { name: 'Sign in as alice' }).click()
    await other.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    await menu.click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    for (const tab of [page, other]) {
      await tab.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
      const kept = await tab.evaluate<string>('JSON.stringify({ ...sessionStorage })')
      assert.doesNotMatch(kept, /kiln\./)
    }
  })

  test('pages tell those who may not see them who may', async () => {
    const page = await console.open('/moderation', { as: 'bob' })
    await page.getByText('This page is for platform admins.').waitFor()
    const signedOut = await console.open('/operations')
    await signedOut.getByText('signed in as platform admins').waitFor()
    const admin = await console.open('/', { as: 'operator' })
    await admin.getByRole('link', { name: 'Operations' }).waitFor()
  })

  test('says when the service is away, and goes on by itself', async () => {
    const page = await console.open('/account', { as: 'alice' })
    await page.getByText('alice', { exact: true }).first().waitFor()
    await console.service.entry('api').kill()
    // Its script is not loaded yet, and cannot be.
    await page.getByRole('link', { name: 'Publishers', exact: true }).click()
    await page.getByText('Kiln does not answer').waitFor()
    await console.service.start('api')
    await page.getByRole('heading', { name: 'Publishers' }).waitFor()
    await page.getByText('Kiln does not answer').waitFor({ state: 'detached' })
    await assertSound(page)
  })

  test('an address that leads to nothing says so', async () => {
    const page = await console.open('/nothing/here')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await assertSound(page)
  })
})
