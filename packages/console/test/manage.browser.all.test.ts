import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import type { Page } from 'playwright-core'

import { makeRegistry, unique } from '../../../test/registry/http/registry-support.ts'
import type { Owned, Registry } from '../../../test/registry/http/registry-support.ts'
import { expectStatus, listOf } from '../../../test/support/client.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, chooseEntry, skip, useConsole } from './harness.ts'

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

const inDialog = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

describe('what owners, admins and callers change in the console', { skip }, () => {
  const console = useConsole()
  const nodeId = unique('crop-tools')
  let registry: Registry
  let owned: Owned

  before(async () => {
    registry = makeRegistry(console.service)
    owned = await registry.addPublisher({ user: 'bob' })
    const node = { name: 'Crop Tools', supported_os: ['POSIX :: Linux'], tags: ['crop'] }
    const { version } = await owned.addActive({ nodeId, version: '1.0.0', node })
    const crop = { input_types: { required: { image: ['IMAGE'] } }, return_types: ['IMAGE'] }
    expectStatus(await owned.owner.post(`${version}/host-nodes`, { nodes: { Crop: crop } }), 204)
    await owned.addFlagged({ nodeId, version: '1.1.0' })
  })

  test('an owner edits a pack in a drawer, and a visitor has no such button', async () => {
    const page = await console.open(`/registry/${nodeId}`, { as: 'bob' })
    await press(page, 'Edit')
    await page.getByLabel('Name', { exact: true }).fill('Crop Tools II')
    await page.getByRole('textbox', { name: 'Tags' }).pressSequentially('square')
    await page.keyboard.press('Enter')
    await press(page, 'Remove crop')
    assert.ok(await page.getByRole('checkbox', { name: 'Linux' }).isChecked())
    await page.getByRole('dialog').getByText('Windows', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Repository' }).fill('ftp://example.com/x')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Check the marked fields.').waitFor()
    await page.getByRole('textbox', { name: 'Repository' }).fill('https://example.com/crop')
    await assertSound(page)
    await inDialog(page, 'Save')
    await page.getByRole('heading', { name: 'Crop Tools II' }).waitFor()
    const { body } = await owned.owner.get(`/nodes/${nodeId}`)
    assert.deepEqual(
      [body['name'], body['tags'], body['supported_os'], body['repository']],
      ['Crop Tools II', ['square'], ['POSIX :: Linux', 'Windows'], 'https://example.com/crop'],
    )
    const visitor = await console.open(`/registry/${nodeId}`)
    await visitor.getByText('1.0.0').first().waitFor()
    assert.equal(await visitor.getByRole('button', { name: /Edit|More for/ }).count(), 0)
    await visitor.goto(`${console.service.baseUrl}/console/publishers/${owned.id}`)
    await visitor.getByRole('link', { name: 'Crop Tools II' }).waitFor()
    assert.equal(await visitor.getByRole('tab').count(), 2)
    await assertSound(visitor)
  })

  test('a reader sees a pack in their language, edits its own texts, and uploads its icon', async () => {
    const translations = { fr: { name: 'Rognage' } }
    const id = await owned.addNode({ name: 'Crop', description: 'Crops.', translations })
    const page = await console.open(`/registry/${id}`, { as: 'bob', locale: 'fr-FR' })
    await page.getByRole('heading', { name: 'Rognage' }).waitFor()
    await press(page, 'Edit')
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Crop')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'
    const file = { name: 'a.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) }
    const icon = page.getByRole('group', { name: 'Icon' })
    await icon.getByRole('button', { name: 'Upload icon' }).waitFor()
    assert.equal(await page.locator('input[type=file]:visible').count(), 0)
    await icon.locator('input[type=file]').setInputFiles(file)
    await icon.locator('img[src*="/icon?v="]').waitFor()
    await icon.getByRole('button', { name: 'Replace icon' }).waitFor()
    await waitFor('its address', async () =>
      (await icon.getByRole('textbox').inputValue()).includes('/icon?v='),
    )
    await assertSound(page)
    // What is saved afterwards leaves the picture as it is.
    await page.getByLabel('Name', { exact: true }).fill('Crop it')
    await inDialog(page, 'Save')
    const { body } = await owned.owner.get(`/nodes/${id}`)
    assert.match(String(body['icon']), /\/icon\?v=/)
    assert.equal(body['name'], 'Crop it')
  })

  test('a version is deprecated and back, gets a changelog and a review, and is deleted', async () => {
    const page = await console.open(`/registry/${nodeId}/1.0.0`, { as: 'bob' })
    const menu = `More for ${nodeId} 1.0.0`
    await chooseEntry(page, menu, 'Deprecate')
    await inDialog(page, 'Deprecate')
    await page.getByText('deprecated', { exact: true }).waitFor()
    await chooseEntry(page, menu, 'Undo deprecation')
    await inDialog(page, 'Undo deprecation')
    await page.getByText('deprecated', { exact: true }).waitFor({ state: 'detached' })
    await chooseEntry(page, menu, 'Edit changelog')
    await page.getByRole('textbox', { name: 'Changelog' }).fill('- Crops **squares**.')
    await inDialog(page, 'Save')
    await page.getByRole('listitem').getByText('squares', { exact: true }).waitFor()
    assert.equal(await page.getByText('**').count(), 0)
    await page.goto(page.url().replace('1.0.0', '1.1.0'))
    await press(page, 'Request review')
    await page.getByLabel('Note for the reviewer').fill('It crops.')
    await inDialog(page, 'Request review')
    await page.getByText('Review requested').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Request review' }).count(), 0)
    await console.service.database.sql`
      insert into scan (version_id, scanner, scanner_version, sha256, complete, high, medium, info)
      select id, 'kiln', 1, '', true, 1, 0, 0 from version
      where node_id = ${nodeId} and version = '1.1.0'
    `
    await console.service.database.sql`
      insert into finding (version_id, scanner, position, issue_type, severity, file_path, line_number, message)
      select id, 'kiln', 0, 'keys', 'high', 'a.py', 7, 'It reads keys.' from version
      where node_id = ${nodeId} and version = '1.1.0'
    `
    const kept = { status: 'NodeVersionStatusFlagged', status_reason: 'Keys are secret.' }
    const operator = registry.client('operator')
    const decided = await operator.put(`/admin/nodes/${nodeId}/versions/1.1.0`, kept)
    expectStatus(decided, 200)
    await page.reload()
    for (const text of ['Keys are secret.', 'a moderator reviewed it', 'It reads keys.', 'a.py:7'])
      await page.getByText(text).first().waitFor()
    await page.getByRole('link', { name: '1 finding' }).click()
    await page.waitForURL('**?tab=findings')
    await assertSound(page)
    await page.goto(`${console.service.baseUrl}/console/publishers/${owned.id}`)
    await chooseEntry(page, `More for ${nodeId} 1.1.0`, 'Delete version')
    await page.getByLabel('Type 1.1.0 to confirm').fill('1.1.0')
    await inDialog(page, 'Delete version')
    await page.waitForURL(`**/registry/${nodeId}`)
    await page.getByRole('tab', { name: '1 version' }).waitFor()
    await page.goto(`${console.service.baseUrl}/console/publishers/${owned.id}`)
    await press(page, 'Reserve a pack ID')
    const empty = unique('empty')
    await page.getByRole('textbox', { name: 'ID' }).fill(empty)
    await inDialog(page, 'Reserve ID')
    await page.getByRole('link', { name: empty }).waitFor()
  })

  test('an admin of a publisher trusts jobs with a pack to come', async () => {
    const page = await console.open(`/publishers/${owned.id}?tab=trusted`, { as: 'bob' })
    await press(page, 'Trust a pack to come')
    await page.getByLabel('Pack ID').fill('Light-Mixer-2')
    await page.getByLabel('Repository', { exact: true }).fill('acme/tools')
    await page.getByLabel('Repository ID').fill('12')
    await inDialog(page, 'Add')
    await assertSound(page)
    const [trust] = listOf(await owned.owner.get(`${owned.path}/trusted-publishers`))
    assert.equal(trust?.['node_id'], 'light-mixer-2')
  })

  test('an admin sets what admins set, and finds it in the audit log', async () => {
    const page = await console.open(`/registry/${nodeId}`, { as: 'operator' })
    await chooseEntry(page, `More for ${nodeId}`, 'Admin settings')
    await page.getByRole('textbox', { name: 'Admin tags' }).pressSequentially('verified,')
    await page.getByLabel('Search ranking').fill('2')
    await page.getByLabel('GitHub stars').fill('many')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Check the marked fields.').waitFor()
    await page.getByLabel('GitHub stars').fill('12')
    await page.getByRole('textbox', { name: 'Reserved node names' }).fill('Crop')
    await inDialog(page, 'Save')
    const { body } = await owned.owner.get(`/nodes/${nodeId}`)
    assert.deepEqual(
      [body['tags_admin'], body['search_ranking'], body['github_stars']],
      [['verified'], 2, 12],
    )
    assert.deepEqual(body['preempted_host_node_names'], ['Crop'])
    await page.goto(`${page.url().split('?')[0]}/1.0.0?host-node=Crop`)
    await page.getByText('get it from this pack').waitFor()
    await press(page, 'Set policy')
    await page.getByRole('button', { name: /Policy$/ }).click()
    await page.getByRole('option', { name: 'Local only' }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Save' }).click()
    await waitFor('the policy', async () => {
      const { body: read } = await owned.owner.get(
        `/nodes/${nodeId}/versions/1.0.0/host-nodes/Crop`,
      )
      return read['policy'] === 'HostNodePolicyLocalOnly'
    })
    await page.goto(page.url().replace(/\?.*/, ''))
    await chooseEntry(page, `More for ${nodeId} 1.0.0`, 'Node policies')
    await page.getByRole('dialog').getByRole('button', { name: /Crop$/ }).click()
    await page.getByRole('option', { name: 'Allowed' }).click()
    await inDialog(page, 'Save')
    await page.goto(
      `${console.service.baseUrl}/console/moderation?tab=log&actor=operator&action=node.update`,
    )
    await page.getByRole('row', { name: `operator Changed pack ${nodeId}` }).waitFor()
    await page.getByRole('button', { name: 'Details' }).first().click()
    await page.getByText('5 → 2').waitFor()
    assert.equal(await page.getByText('undefined').count(), 0)
    await assertSound(page)
    await page.getByRole('searchbox', { name: 'Address' }).fill('127.0.0.1')
    await page
      .getByRole('row', { name: `${nodeId} 127.0.0.1` })
      .first()
      .waitFor()
    // A row is one line until it is opened, and a period has a name.
    assert.equal(await page.locator('main input[type=date]').count(), 0)
    await page.getByRole('button', { name: /Time$/ }).click()
    await page.getByRole('option', { name: 'Between two days' }).click()
    await page.getByLabel('To', { exact: true }).fill('2020-01-31')
    await page.getByText('No entries match').waitFor()
    assert.match(page.url(), /address=127\.0\.0\.1&to=2020-01-31/)
    await assertSound(page)
    await page.setViewportSize({ width: 390, height: 900 })
    await press(page, 'Filters (3)')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Action$/ })
      .waitFor()
    await press(page, 'Close')
    await press(page, 'Clear')
    await page.getByRole('row', { name: 'Changed pack' }).first().waitFor()
    assert.match(page.url(), /tab=log$/)
  })

  test('a new key comes with a first request', async () => {
    const page = await console.open('/account?tab=keys', { as: 'carol' })
    await press(page, 'Create API key')
    await page.getByLabel('Name').fill('laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const code = (await page.getByRole('region', { name: 'a first request' }).textContent()) ?? ''
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await promisify(execFile)('sh', ['-c', code], { env })
    assert.match(stdout, /"id": ?"carol"/)
    await assertSound(page)
  })

  test('a caller has subscriptions and events under Account', async () => {
    const page = await console.open('/account?tab=webhooks', { as: 'carol' })
    await press(page, 'Add webhook subscription')
    await page.getByLabel('URL').fill('https://hooks.example.com/kiln')
    await press(page, 'Select all')
    await page.getByRole('dialog').getByRole('button', { name: 'Add subscription' }).click()
    await page.getByRole('region', { name: 'secret' }).waitFor()
    await press(page, 'Close')
    await page.getByRole('heading', { name: 'https://hooks.example.com/kiln' }).waitFor()
    await page.getByText('video_task.queueing').waitFor()
    await press(page, 'Send test event')
    await page.getByRole('table', { name: 'Events' }).waitFor()
    await assertSound(page)
    await chooseEntry(page, 'More actions', 'Disable')
    await inDialog(page, 'Disable')
    await page.getByText('Disabled', { exact: true }).waitFor()
    await chooseEntry(page, 'More actions', 'Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('region', { name: 'secret' }).waitFor()
    await press(page, 'Close')
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('button', { name: /All states/ }).click()
    await page.getByRole('option', { name: 'failed', exact: true }).click()
    await page.getByRole('button', { name: /^failed State/ }).waitFor()
    await press(page, 'Resend failed')
    await inDialog(page, 'Resend')
    await page.getByText('0 events resent').waitFor()
    await assertSound(page)
  })
})
