import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { makeClient } from '../../../test/support/client.ts'
import { makeFolder } from '../../../test/support/folder.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { writeZip } from '../../../test/support/zip-writer.ts'
import { assertSound, chooseEntry, inLong, skip, useConsole } from './harness.ts'

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
    const issue = page.getByText(/^Must be 1 to \d+ lower-case letters/)
    await issue.waitFor()
    await page.getByRole('textbox', { name: 'Id' }).fill('alice-packs')
    await issue.waitFor({ state: 'detached' })
    await press(page, 'Create publisher')
    await page.getByRole('link', { name: 'Publish a pack' }).click()
    const files = { 'pyproject.toml': TOML, '__init__.py': NODE, '.env': 'KEY=1', '.git/HEAD': 'x' }
    const folder = await makeFolder(context, files)
    await page.getByRole('region', { name: 'pyproject.toml' }).getByText('alice-packs').waitFor()
    await page.getByRole('tab', { name: 'CI' }).click()
    await page.getByRole('region', { name: 'workflow' }).waitFor()
    await page.getByRole('tab', { name: 'Command line' }).click()
    await page.getByText('kiln publish ./my-pack').waitFor()
    await page.getByRole('tab', { name: 'Browser' }).click()
    const missing: string[] = []
    page.on('response', (response) => response.status() === 404 && missing.push(response.url()))
    await page.locator('input[accept*=zip]').setInputFiles({
      name: 'Light mixer.zip',
      mimeType: 'application/zip',
      buffer: writeZip([{ name: '__init__.py', data: NODE }]),
    })
    await page.getByText('There is no pyproject.toml').waitFor()
    await page.getByText('name = "light-mixer"').waitFor()
    const zip = writeZip([
      { name: 'pyproject.toml', data: TOML.replace('1.0.0', '0.9.0') },
      { name: '__init__.py', data: NODE },
    ])
    const archive = join(await makeFolder(context), 'mixer.zip')
    await writeFile(archive, zip)
    await drop(page, archive)
    await page.getByRole('button', { name: 'Publish 0.9.0' }).waitFor()
    await drop(page, folder)
    await page.getByText('Left out: .env (secrets), .git (version control)').waitFor()
    await page.getByText('Checked by the service, which has read every file').waitFor()
    const marks = page.getByRole('list', { name: 'Checked by the service' })
    await marks.getByText('Code scanned: No findings').waitFor()
    await marks.getByText('1 node read: Mixer').waitFor()
    await page.getByText('light-mixer is a new pack').waitFor()
    assert.deepEqual(missing, [])
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
    await page.getByText('1.0.0 is published').waitFor()
    await page.getByText('Nodes read').waitFor()
    await page.getByText('No findings').waitFor()
    await page.reload()
    await page.getByText('1.0.0 is published').waitFor()
  })

  test('a version that is held back gets a review and a decision, and a later one undone', async () => {
    const owner = await console.open('/publishers/alice-packs/publish', { as: 'alice' })
    const toml = TOML.replace('1.0.0', '1.1.0')
    const files = { 'pyproject.toml': toml, '__init__.py': HIDDEN }
    const buffer = writeZip(Object.entries(files).map(([name, data]) => ({ name, data })))
    const zip = { name: 'mixer.zip', mimeType: 'application/zip', buffer }
    await owner.locator('input[accept*=zip]').setInputFiles(zip)
    const marks = owner.getByRole('list', { name: 'Checked by the service' })
    await marks.getByText('1 finding flags this version').waitFor()
    await marks.getByText(/^__init__\.py:3: /).waitFor()
    await owner.getByText('Published, it would be on hold until it has been reviewed').waitFor()
    await assertSound(owner)
    await press(owner, 'Publish 1.1.0 all the same')
    await owner.getByText('On hold: it can’t be installed until it has been reviewed.').waitFor()
    await owner.getByText('exec(base64.b64decode("cHJpbnQoMSk="))').waitFor()
    await press(owner, 'Request review')
    await owner.getByLabel('Note for the reviewer').fill(SCRIPT)
    await owner.getByRole('dialog').getByRole('button', { name: 'Request review' }).click()
    await owner.getByText('Review requested').waitFor()

    const page = await console.open('/moderation', { as: 'operator' })
    await page.getByRole('row', { name: 'light-mixer@1.1.0' }).click()
    await page.getByText('<img src=x onerror=alert(1)>U+202E').last().waitFor()
    await page.getByRole('tab', { name: 'Changed files' }).click()
    await page.getByRole('button', { name: '__init__.py' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('region', { name: 'Changes of __init__.py' }).waitFor()
    await assertSound(page)
    const decide = async (letter: string, action: string, reason: string): Promise<void> => {
      await page.keyboard.press(letter)
      await page.getByRole('dialog').getByLabel('Reason').fill(reason)
      await inDialog(page, action)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.keyboard.press('h')
    await page.getByRole('dialog').getByText('You can decide differently later').waitFor()
    await page.keyboard.press('Escape')
    await decide('h', 'Keep on hold', 'Say what it prints.')
    await page.getByText('light-mixer@1.1.0: kept on hold').waitFor()
    await owner.reload()
    await owner.getByText(/^On hold: a moderator reviewed it .* and did not approve it/).waitFor()
    await owner.getByText('Say what it prints.').waitFor()
    await press(owner, 'Request another review')
    const dialog = owner.getByRole('dialog')
    const again = dialog.getByRole('button', { name: 'Request another review' })
    assert.ok(await again.isDisabled(), 'it needs a note')
    await owner.getByLabel('Note for the reviewer').fill('It prints one.')
    await again.click()
    await owner.getByText('Review requested').waitFor()
    await page.getByRole('row', { name: 'light-mixer@1.1.0' }).click()
    await page.getByText(/Review requested .*: It prints one/).waitFor()
    await decide('a', 'Approve', 'It prints one.')
    // It stays for ten seconds.
    await page.getByText('light-mixer@1.1.0: approved').waitFor()
    await page.getByText('Queue is empty').waitFor()
    await page.getByText(/Review requested .*:/).waitFor({ state: 'detached' })
    // The request would be gone.
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
    await page.keyboard.press('b')
    await page.getByRole('dialog').getByLabel('Reason').fill('It prints two.')
    assert.ok(await page.getByRole('button', { name: 'Ban', exact: true }).last().isDisabled())
    await page.getByLabel('Type light-mixer@1.1.0 to confirm').fill('light-mixer@1.1.0')
    await inDialog(page, 'Ban')
    await page.getByText('light-mixer@1.1.0: banned').waitFor()
    await owner.goto(`${console.service.baseUrl}/console`)
    await owner.getByText('1 of your versions is banned. Fix it and publish a new one.').waitFor()
    await owner.getByText('It prints two.').waitFor()
    await assertSound(owner)
    await owner.getByRole('link', { name: 'light-mixer 1.1.0' }).click()
    await owner.getByText(/^A moderator banned it /).waitFor()
    await owner.getByText('Fix it and publish a new version.').waitFor()
    await press(page, 'Undo')
    await page.getByText('light-mixer@1.1.0: as before').waitFor()
    await page.getByText('banned', { exact: true }).waitFor({ state: 'detached' })
    await decide('h', 'Flag', 'It prints three.')
    await page.goto(`${console.service.baseUrl}/console/moderation?tab=log`)
    await page.getByText('It prints one.', { exact: true }).first().waitFor()
    // Its publication, two requests of a review, and five decisions.
    assert.equal(await page.getByRole('link', { name: 'light-mixer 1.1.0' }).count(), 8)
  })

  test('settings are a column beside their navigation, with a guide and, while empty, one thing to do', async () => {
    for (const [path, title, empty] of [
      ['/account?tab=keys', 'API keys', 'No API keys'],
      ['/account?tab=webhooks', 'Webhooks', 'No webhook subscriptions'],
      ['/publishers/alice-packs?tab=tokens', 'Tokens', 'No tokens'],
      ['/publishers/alice-packs?tab=members', 'Members', undefined],
      ['/publishers/alice-packs?tab=trusted', 'Trusted publishers', 'No trusted CI jobs'],
      ['/publishers/alice-packs?tab=endpoints', 'Webhooks', 'No webhook subscriptions'],
    ] as const) {
      const page = await console.open(path, { as: 'alice' })
      const settings = page.locator('section', { has: page.locator('h2', { hasText: title }) })
      const column = await settings.boundingBox()
      const navigation = await page.getByRole('tablist').boundingBox()
      assert.ok(column && navigation, path)
      assert.ok(column.width <= 720 && navigation.x + navigation.width < column.x, path)
      const guide = settings.getByRole('link', { name: 'Read the guide' }).first()
      const [address = '', part = ''] = ((await guide.getAttribute('href')) ?? '').split('#')
      const document = await (await fetch(console.service.baseUrl + address)).text()
      assert.ok(document.includes(part && ` id="${part}"`), path)
      if (empty !== undefined) await settings.getByText(empty).waitFor()
      await assertSound(page)
    }
  })

  test('operations shows who polls, and a publisher has each tab', inLong, async () => {
    const page = await console.open('/operations', { as: 'operator' })
    await page.getByRole('row', { name: /workflow/ }).waitFor()
    await page.getByRole('heading', { name: 'Last hour' }).waitFor()
    await assertSound(page)
    const owner = await console.open('/publishers/alice-packs?tab=tokens', { as: 'alice' })
    await press(owner, 'Create token')
    await owner.getByLabel('Name').fill('laptop')
    await inDialog(owner, 'Create token')
    const secret = await owner.getByRole('region', { name: 'secret' }).textContent()
    assert.match(secret ?? '', /^kiln_pat_/)
    await press(owner, 'Close')
    await owner.getByText('laptop').waitFor()
    assert.doesNotMatch(await owner.content(), new RegExp(secret ?? ''))
    for (const tab of ['Members', 'Trusted publishers', 'Webhooks', 'About', 'Packs'])
      await owner.getByRole('tab', { name: tab }).click()
    await owner.getByRole('link', { name: /1\.1\.0/ }).waitFor()
    await assertSound(owner)
    await owner.setViewportSize({ width: 390, height: 900 })
    await owner.goto(`${console.service.baseUrl}/console/publishers/alice-packs?tab=settings`)
    const tab = owner.getByRole('tab', { name: 'About' })
    await waitFor('the tab to be in sight', async () => {
      const { x = 390, width = 0 } = (await tab.boundingBox()) ?? {}
      return x >= 0 && x + width <= 390
    })
  })

  test('a member gets another role, and jobs are trusted and no longer', inLong, async () => {
    await console.open('/account', { as: 'bob' })
    const page = await console.open('/publishers/alice-packs?tab=members', { as: 'alice' })
    await press(page, 'Add member')
    await page.getByLabel('User ID').fill('bob')
    await inDialog(page, 'Add member')
    await page.getByRole('button', { name: 'Role of bob' }).click()
    await page.getByRole('option', { name: 'admin' }).click()
    const bob = page.getByRole('row', { name: 'bob' })
    await bob.getByRole('button', { name: 'admin' }).waitFor()
    await page.reload()
    await bob.getByRole('button', { name: 'admin' }).waitFor()
    await chooseEntry(bob, 'More for bob', 'Remove')
    await press(page, 'Remove member')
    await bob.waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'Trusted publishers' }).click()
    await press(page, 'Add GitHub Actions')
    await page.getByLabel('Repository', { exact: true }).fill('https://github.com/acme/tools')
    await page.getByText('gh api repos/OWNER/NAME --jq .id').waitFor()
    await page.getByLabel('Repository', { exact: true }).fill('acme/tools')
    await page.getByText('gh api repos/acme/tools --jq .id').waitFor()
    await page.getByLabel('Repository ID').fill('12')
    await inDialog(page, 'Add')
    await page.getByText('repository 12').waitFor()
    await page.getByText('acme/tools', { exact: true }).waitFor()
    await page.getByText('Workflow to copy').click()
    await page.getByText('/publishers/alice-packs/nodes/light-mixer').first().waitFor()
    await chooseEntry(page, 'More for this trusted publisher', 'Remove')
    await inDialog(page, 'Remove')
    await page.getByText('No trusted CI jobs yet').waitFor()
  })

  test('a ban is shown to its publisher, and lifted', inLong, async () => {
    const page = await console.open('/moderation?tab=bans', { as: 'operator' })
    for (const [kind, id, path] of [
      ['publisher', 'alice-packs', '/publishers/alice-packs'],
      ['pack', 'light-mixer', '/registry/light-mixer'],
    ] as const) {
      await press(page, `Ban a ${kind}`)
      await page.getByLabel(`ID of the ${kind}`).fill(id)
      await page.getByLabel('Reason').fill('It mines.')
      await press(page, `Ban ${kind}`)
      const list = page.getByRole('table', { name: `Banned ${kind}s` })
      await list.getByRole('button', { name: 'Lift ban' }).waitFor()
      const owner = await console.open(path, { as: 'alice' })
      await owner.getByText('It mines.').first().waitFor()
      if (kind === 'publisher') {
        const token = await console.service.token('alice')
        const more = { id: 'alice-more', name: 'More' }
        await makeClient(console.service.baseUrl, token).post('/publishers', more)
        const other = await console.open('/publishers/alice-more', { as: 'operator' })
        await other.getByText('A member belongs to banned publishers: alice-packs').waitFor()
      }
      await list.getByRole('button', { name: 'Lift ban' }).click()
      await page.getByLabel('Reason').fill('It does not.')
      await inDialog(page, 'Lift ban')
      await page.getByText(`No banned ${kind}s`).waitFor()
    }
  })

  test('stuck work is restarted and failed with a reason', inLong, async (context) => {
    // What begins to render has moved just now, and what goes on ends.
    await console.service.entry('media').kill()
    context.after(() => console.service.start('media'))
    const token = await console.service.token('alice')
    const body = { model: 'videoq2-pro', prompt: 'stuck', duration: 8, resolution: '1080p' }
    const made = await makeClient(console.service.baseUrl, token).post(
      '/proxy/vidvendor/text2video',
      body,
    )
    const { task_id: id } = made.body as unknown as { task_id: string }
    const { sql } = console.service.database
    const stand = () =>
      sql`update task set last_moved_at = now() - interval '1 hour' where id = ${id}`
    await waitFor('its place in the queue', async () => {
      const [row] = await sql`select from task where id = ${id} and status = 'queueing'`
      return row
    })
    await stand()
    const page = await console.open('/operations', { as: 'operator' })
    const row = page.getByRole('row', { name: 'text2video of alice' })
    await chooseEntry(row, /^More for text2video/, 'Restart')
    await press(page, 'Restart task')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await stand()
    await chooseEntry(row, /^More for text2video/, 'Fail')
    await page.getByLabel('Reason').fill('The engine is away.')
    await press(page, 'Fail task')
    await page.getByText('Nothing without progress for more than 10 min').waitFor()
    await page.goto(`${console.service.baseUrl}/console/moderation?tab=log`)
    await page.getByRole('row', { name: 'Failed task' }).getByText('The engine is away.').waitFor()
    const owner = await console.open(`/tasks/${id}`, { as: 'alice' })
    await owner.getByText('failed').first().waitFor()
  })

  test('every control is reached by the keyboard, and seen to be', inLong, async () => {
    for (const path of [
      '/',
      '/publishers',
      ...['nodes', 'members', 'tokens', 'trusted', 'endpoints', 'transfers', 'settings'].map(
        (tab) => `/publishers/alice-packs?tab=${tab}`,
      ),
      '/publishers/alice-packs/publish',
      ...['versions', 'failed', 'reports', 'reviews', 'bans', 'log'].map(
        (tab) => `/moderation?tab=${tab}`,
      ),
      '/operations',
      ...['you', 'keys', 'webhooks', 'events'].map((tab) => `/account?tab=${tab}`),
    ]) {
      const as = /moderation|operations/.test(path) ? 'operator' : 'alice'
      const page = await console.open(path, { as })
      await page.locator('main [aria-label=Loading]').first().waitFor({ state: 'detached' })
      assert.deepEqual(await findUnreached(page), [], path)
      await page.context().close()
    }
  })
})

const inDialog = (page: Page, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Walks a page by Tab; what it has not come to, and what had no ring when it did. */
const findUnreached = async (page: Page): Promise<string[]> => {
  const count = await page.evaluate<number>(`(() => {
    const all = [...document.querySelectorAll('a[href], button, input, textarea, summary, [tabindex="0"]')]
    self.unreached = new Set(all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.ariaChecked !== 'false' && one.checkVisibility() && !one.closest('[inert]')))
    self.faint = []
    document.addEventListener('focusin', ({ target }) => {
      self.unreached.delete(target)
      const ringed = target.matches('[type=radio], [type=checkbox]') ? target.closest('label') : target
      if (getComputedStyle(ringed).outlineStyle === 'none') self.faint.push(target.outerHTML.slice(0, 200))
    })
    return self.unreached.size
  })()`)
  for (let press = 0; press < count + 4; press += 1) await page.keyboard.press('Tab')
  return await page.evaluate<string[]>(
    `[...[...self.unreached].filter((one) => one.isConnected && one.checkVisibility()).map((one) => 'unreached ' + one.outerHTML.slice(0, 200)), ...self.faint.map((one) => 'faint ' + one)]`,
  )
}
