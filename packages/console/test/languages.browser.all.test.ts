import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { LANGUAGES } from '../src/words/language.ts'
import { assertSound, skip, useConsole } from './harness.ts'

const languageOf = (page: Page) => page.locator('html').getAttribute('lang')

describe('languages of the console', { skip }, () => {
  const console = useConsole()

  const GREETINGS = [
    { locale: 'de-AT', language: 'de', signIn: 'Anmelden', tasks: 'Aufgaben' },
    { locale: 'zh-CN', language: 'zh-CN', signIn: '登录', tasks: '任务' },
  ]
  for (const { locale, language, signIn, tasks } of GREETINGS)
    test(`a browser in ${locale} shows every page in ${language}, on a phone, too`, async () => {
      const visitor = await console.open('/', { locale, width: 390 })
      assert.equal(await languageOf(visitor), language)
      await visitor.getByRole('link', { name: signIn, exact: true }).waitFor()
      await assertSound(visitor)
      const page = await console.open('/tasks', { locale, as: 'alice', width: 390 })
      await page.getByRole('heading', { name: tasks, exact: true }).waitFor()
      for (const path of ['/', '/try/relight', '/account', '/account?tab=keys', '/registry']) {
        await page.goto(`${console.service.baseUrl}/console${path}`)
        await page.locator('h1').first().waitFor()
        await assertSound(page)
      }
    })

  test('the one that is chosen stays, and responses are asked for in it', async () => {
    const page = await console.open('/account', { as: 'alice' })
    await page.getByRole('button', { name: 'Language' }).click()
    const asked = page.waitForRequest(
      (request) =>
        request.url().endsWith('/users') && request.headers()['accept-language'] === 'de',
    )
    await page.getByRole('option', { name: LANGUAGES.de }).click()
    await asked
    await page.getByRole('heading', { name: 'Konto', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sprache' }).waitFor()
    assert.equal(await languageOf(page), 'de')
  })
})
