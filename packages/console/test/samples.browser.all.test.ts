import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, skip, useConsole } from './harness.ts'

/** The address of a picture, once it is drawn. */
const drawn = (page: Page, alt: string): Promise<string> =>
  waitFor(`the picture ${alt}`, () =>
    page.evaluate<string | false>(
      `[...document.images].find((one) => one.alt === '${alt}' && one.naturalWidth > 0)?.src ?? false`,
    ),
  )

describe('samples for visitors without an account', { skip }, () => {
  const console = useConsole({ settings: () => Promise.resolve({ CONSOLE_SAMPLES: 'on' }) })

  test('the first page says what it costs, what the engine is and what the host is, and shows four different cards', async () => {
    const page = await console.open('/')
    for (const text of [
      'Kiln itself costs nothing',
      'It is not an AI model',
      'The host application',
    ])
      await page.getByText(text).waitFor()
    await page.getByRole('link', { name: /^Skin/ }).scrollIntoViewIfNeeded()
    const addresses = await waitFor('the cards', async () => {
      const found = await page.evaluate<string[]>(
        `[...document.querySelectorAll('main li a img')].map(({ src }) => src)`,
      )
      return found.length === 3 && found
    })
    assert.equal(new Set(addresses).size, 3)
    await assertSound(page)
  })

  test('results of each kind are shown, said to be computed before, and nothing can be sent', async () => {
    const page = await console.open('/')
    const writes: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url()))
    await page.getByRole('link', { name: 'See samples without an account' }).click()
    await page.getByText('Computed before.', { exact: true }).waitFor()
    const evening = await drawn(page, 'After')
    await page.getByRole('button', { name: 'Cool moonlight' }).click()
    await waitFor('another result', async () => (await drawn(page, 'After')) !== evening)
    await page.getByRole('slider').waitFor()
    await page.getByRole('region', { name: 'the request' }).getByText('cool moonlight').waitFor()
    await assertSound(page)
    for (const [kind, title] of [
      ['Upscale', 'Four times as large'],
      ['Skin', 'Even colour'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Task type' }).getByText(kind).click()
      await page.getByRole('button', { name: title, pressed: true }).waitFor()
      assert.notEqual(await drawn(page, 'After'), await drawn(page, 'Before'))
      await assertSound(page)
    }
    await page.getByRole('navigation', { name: 'Task type' }).getByText('Video').click()
    await waitFor('the video', () =>
      page.evaluate<boolean>(`document.querySelector('[aria-label="A sunset"]')?.duration > 3`),
    )
    await page.getByRole('link', { name: 'From two frames' }).click()
    await page.getByText('No sample of this kind.').waitFor()
    assert.equal(await page.locator('main :is(input[type=file], textarea)').count(), 0)
    await page.goto(page.url().replace(/try.*/, 'try'))
    await page.locator('[aria-current=page]', { hasText: 'Relight' }).waitFor()
    assert.deepEqual(writes, [])
    await page.getByRole('link', { name: 'Sign in to use your own images' }).waitFor()
  })

  test('who is signed in has the form in their place', async () => {
    const page = await console.open('/try/relight', { as: 'alice' })
    await page.getByRole('button', { name: 'Send' }).waitFor()
    assert.equal(await page.getByText('Computed before.', { exact: true }).count(), 0)
  })
})

describe('a service without samples', { skip }, () => {
  const console = useConsole()

  test('asks visitors to sign in before they try, and promises nothing else', async () => {
    const page = await console.open('/try/relight')
    await page.getByText('Sign in to open Try.').waitFor()
    await page.goto(`${console.service.baseUrl}/console/`)
    await page.getByRole('button', { name: 'Try it' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'See samples' }).count(), 0)
  })
})
