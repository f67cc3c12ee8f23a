import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'

import type { Page } from 'playwright-core'

import { writeZip } from '../support/zip-writer.ts'
import { assertSound, inLong, skip, useConsole } from './harness.ts'

const TOML = '[project]\nname = "light-mixer"\nversion = "1.0.0"\n'
const NODE = `class Mixer:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"image": ("IMAGE",)}}


NODE_CLASS_MAPPINGS = {"Mixer": Mixer}
`
const HIDDEN = `import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))\n${NODE}`
const SCRIPT = '<img src=x onerror=alert(1)>\u202E'

const makeFolder = async (context: TestContext, files: Record<string, string>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-pack-'))
  context.after(() => rm(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

/** Drags a file or folder of this machine onto the page and drops it there. */
const drop = async (page: Page, path: string): Promise<void> => {
  const devtools = await page.context().newCDPSession(page)
  const { x, y } = (await page.getByText('Drop the folder').boundingBox()) ?? { x: 0, y: 0 }
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: x + 8, y: y + 8, data })
}

describe('publishers, moderation and operations', { skip }, () => {
  const console = useConsole()

  test('a dropped folder is checked and becomes live, though the api is killed while it is sent', async (context) => {
    const page = await console.open('/publishers', { as: 'alice' })
    await press(page, 'Create a publisher')
    await page.getByRole('textbox', { name: 'Id' }).fill('Not an id')
    await press(page, 'Create publisher')
    await page.getByText('lower-case letters, digits and hyphens, the first').waitFor()
    await page.getByRole('textbox', { name: 'Id' }).fill('alice-packs')
    await press(page, 'Create publisher')
    await page.getByRole('link', { name: 'Publish a node' }).click()
    const files = { 'pyproject.toml': TOML, '__init__.py': NODE, '.env': 'KEY=1', '.git/HEAD': 'x' }
    const folder = await makeFolder(context, files)
    await drop(page, folder)
    await page.getByText('Left out: .env (secrets), .git (version control)').waitFor()
    await page.getByText('light-mixer is a new node').waitFor()
    await assertSound(page)
    await page.route(
      '**/uploads/**',
      async (route) => {
        await console.service.entry('api').kill()
        await route.abort()
        await console.service.start('api')
      },
      { times: 1 },
    )
    await press(page, 'Publish 1.0.0')
    await page.getByText('1.0.0 is live').waitFor()
    await page.getByText('Host nodes read').waitFor()
    await page.reload()
    await page.getByText('1.0.0 is live').waitFor()
  })

  test('a version that is held back gets a review, a decision, and the decision undone', async () => {
    const owner = await console.open('/publishers/alice-packs/publish', { as: 'alice' })
    const toml = TOML.replace('1.0.0', '1.1.0')
    const files = { 'pyproject.toml': toml, '__init__.py': HIDDEN }
    const buffer = writeZip(Object.entries(files).map(([name, data]) => ({ name, data })))
    const zip = { name: 'mixer.zip', mimeType: 'application/zip', buffer }
    await owner.locator('input[accept*=zip]').setInputFiles(zip)
    await press(owner, 'Publish 1.1.0')
    await owner.getByText('It is held back').waitFor()
    await owner.getByText('exec(base64.b64decode("cHJpbnQoMSk="))').waitFor()
    await press(owner, 'Ask for a review')
    await owner.getByLabel('Note for the reviewer').fill(SCRIPT)
    await owner.getByRole('dialog').getByRole('button', { name: 'Ask for a review' }).click()
    await owner.getByText('A review was asked for').waitFor()

    const page = await console.open('/moderation', { as: 'operator' })
    await page.getByRole('row', { name: 'light-mixer@1.1.0' }).click()
    await page.getByText('<img src=x onerror=alert(1)>U+202E').last().waitFor()
    await page.getByRole('tab', { name: 'Changed files' }).click()
    await page.getByRole('button', { name: '__init__.py' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('region', { name: 'Changes of __init__.py' }).waitFor()
    await assertSound(page)
    await page.keyboard.press('a')
    await page.getByRole('dialog').getByLabel('Reason').fill('It prints one.')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nobody waits for a review.').waitFor()
    await press(page, 'Undo')
    await page.getByText('light-mixer@1.1.0: as before').waitFor()
    await page.goto(`${console.service.baseUrl}/console/moderation?tab=log`)
    await page.getByText('It prints one.').first().waitFor()
    assert.equal(await page.getByText('version.update version/light-mixer@1.1.0').count(), 2)
  })

  test(
    'operations shows who polls each queue, and each tab of a publisher is there',
    inLong,
    async () => {
      const page = await console.open('/operations', { as: 'operator' })
      await page.getByRole('row', { name: /workflow/ }).waitFor()
      await page.getByRole('img', { name: 'Outbox since the page was opened' }).waitFor()
      await assertSound(page)
      const owner = await console.open('/publishers/alice-packs?tab=tokens', { as: 'alice' })
      await press(owner, 'Make a token')
      await owner.getByLabel('Name').fill('laptop')
      await press(owner, 'Make token')
      const secret = await owner.getByRole('region', { name: 'secret' }).textContent()
      assert.match(secret ?? '', /^kiln_pat_/)
      await press(owner, 'Close')
      await owner.getByText('laptop').waitFor()
      assert.doesNotMatch(await owner.content(), new RegExp(secret ?? ''))
      for (const tab of ['Members', 'Trusted publishers', 'Endpoints', 'About', 'Nodes'])
        await owner.getByRole('tab', { name: tab }).click()
      await owner.getByRole('link', { name: /1\.1\.0/ }).waitFor()
      await assertSound(owner)
    },
  )
})
