import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { ROOT } from '../../../src/local/root.ts'
import { FILM, makePortrait, makeTemplateFolder } from '../../../test/support/comfyui/custom.ts'
import { startFakeComfy } from '../../../test/support/comfyui/fake.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, skip, useConsole } from './harness.ts'

describe('templates in the console', { skip }, () => {
  const closing: (() => Promise<void>)[] = []
  let folder: Awaited<ReturnType<typeof makeTemplateFolder>>
  const console = useConsole({
    settings: async () => {
      const fake = await startFakeComfy()
      folder = await makeTemplateFolder()
      closing.push(fake.close, folder.close)
      await folder.write('soft-portrait', makePortrait())
      await folder.write(
        'soft-portrait.map',
        JSON.stringify({ fields: { strength: { title: 'Depth', minimum: 10, maximum: 80 } } }),
      )
      await folder.write('film', FILM)
      return { COMFYUI_URLS: `gpu1=${fake.url}`, COMFYUI_TEMPLATES: folder.folder }
    },
  })
  after(async () => {
    for (const close of closing) await close()
  })

  const untilListed = async (): Promise<void> => {
    const token = await console.service.token('alice')
    await waitFor('both templates are kinds', async () => {
      const response = await fetch(`${console.service.baseUrl}/templates`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return ((await response.json()) as { templates: object[] }).templates.length === 2
    })
  }

  test('a template has a form of its members, and its task is shown like any', async () => {
    await untilListed()
    const page = await console.open('/try', { as: 'alice' })
    await page.waitForURL(/custom%2Ffilm$|custom\/film$/)
    await page.getByRole('link', { name: 'Soft portrait' }).click()
    const depth = page.getByRole('group', { name: 'Depth' })
    await depth.getByText('10', { exact: true }).waitFor()
    await depth.getByText('80', { exact: true }).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Depth' }).inputValue(), '55')
    const radius = page.getByRole('textbox', { name: 'Radius' })
    await radius.fill('40')
    await page.getByText('must be a whole number from 1 to 31, got 40').waitFor()
    await radius.fill('3')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('evening light')
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(join(ROOT, 'samples/thumbnail.jpg'))
    await page.getByText('free').waitFor()
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await page.getByText("kiln.templates.createTask('soft-portrait', {").waitFor()
    await page.getByRole('tab', { name: 'Result' }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('slider', { name: 'Part that shows the picture before' }).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Open the task' }).click()
    await page.getByRole('heading', { name: 'Soft portrait', level: 1 }).waitFor()
    await page.getByText('evening light').first().waitFor()
    await page.getByRole('link', { name: 'Run again' }).click()
    await page.waitForURL(/soft-portrait$/)
    assert.equal(await radius.inputValue(), '3')

    const tasks = await console.open('/tasks?kind=custom/soft-portrait', {
      context: page.context(),
    })
    await tasks.getByText('evening light').waitFor()
    await tasks.getByText('Soft portrait').first().waitFor()
  })

  test('a video of a template is played; a template that is gone is said to be', async () => {
    await untilListed()
    const page = await console.open('/try/custom%2Ffilm', { as: 'bob' })
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(join(ROOT, 'samples/thumbnail.jpg'))
    await page.getByText('free').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('video').waitFor()
    await folder.remove('film')
    await page.getByText('This template is gone.').waitFor({ state: 'detached' })
    await waitFor('the page says so', async () => {
      await page.reload()
      await page.getByRole('navigation', { name: 'Task type' }).waitFor()
      return await page
        .getByText('This template is gone.')
        .waitFor({ timeout: 2000 })
        .then(() => true)
        .catch(() => false)
    })
  })
})
