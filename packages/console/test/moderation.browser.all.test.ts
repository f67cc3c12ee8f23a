import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { makeRegistry, unique } from '../../../test/registry/http/registry-support.ts'
import type { Owned, Registry } from '../../../test/registry/http/registry-support.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { assertSound, skip, useConsole } from './harness.ts'

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

const inDialog = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Opens a menu, and the form of one of its entries. */
const choose = async (page: Page, menu: string, entry: string): Promise<void> => {
  await page.getByRole('button', { name: menu, exact: true }).first().click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
  await page.getByRole('dialog').waitFor()
}

describe('what moderators decide on in the console', { skip }, () => {
  // Counts are those of the whole service.
  const console = useConsole({ alone: true })
  const nodeId = unique('bad-tools')
  let registry: Registry
  let owned: Owned

  before(async () => {
    registry = makeRegistry(console.service)
    owned = await registry.addPublisher({ user: 'alice' })
    await owned.addActive({ nodeId, version: '1.0.0', node: { name: 'Bad Tools' } })
  })

  test('a user reports a pack, the tab of reports opens first, and they read what has come of it', async () => {
    const visitor = await console.open(`/registry/${nodeId}`)
    await visitor.getByRole('heading', { name: 'Bad Tools' }).waitFor()
    await visitor.getByRole('tab', { name: '1 version' }).waitFor()
    assert.equal(await visitor.getByRole('button', { name: 'Report this pack' }).count(), 0)
    const bob = await console.open(`/registry/${nodeId}`, { as: 'bob' })
    await press(bob, 'Report this pack')
    await bob.getByRole('button', { name: /What is wrong$/ }).click()
    await bob.getByRole('option', { name: 'Malware' }).click()
    await bob.getByRole('textbox', { name: 'Details' }).fill('It sends my files away.\u202E')
    await inDialog(bob, 'Report')
    await bob.getByText('You reported this pack').waitFor()
    await bob.getByRole('button', { name: 'Edit your report' }).waitFor()
    await assertSound(bob)
    const carol = registry.client('carol')
    const spam = { reason: 'spam', text: 'It advertises.' }
    expectStatus(await carol.post(`/nodes/${nodeId}/reports`, spam), 201)

    const page = await console.open('/moderation', { as: 'operator' })
    const tab = page.getByRole('tab', { name: 'Reports (2)' })
    await tab.waitFor()
    assert.equal(await tab.getAttribute('aria-selected'), 'true')
    const row = page.getByRole('row', { name: 'It sends my files away.U+202E' })
    await row.getByText('2 open reports').waitFor()
    await assertSound(page)
    await row.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('textbox', { name: 'Decision' }).fill('It sends nothing.')
    await page.getByRole('button', { name: /Reports to close$/ }).click()
    await page.getByRole('option', { name: 'All 2 about this pack' }).click()
    await inDialog(page, 'Close report')
    await page.getByText('No open reports').waitFor()
    // The tab stays although nothing is left in it.
    await page.getByRole('tab', { name: 'Reports', exact: true, selected: true }).waitFor()
    await bob.reload()
    await bob.getByText('It sends nothing.').waitFor()
    await bob.getByRole('button', { name: 'Report this pack' }).waitFor()
  })

  test('reported reviews are hidden or kept where they are listed', async () => {
    const reader = await registry.addUser('reader')
    const mine = `/nodes/${nodeId}/reviews/mine`
    const made = await reader.client.put(mine, { stars: 1, text: 'Buy pills.' })
    const id = String(expectStatus(made, 200).body['id'])
    const report = { reason: 'An advertisement.' }
    const path = `/nodes/${nodeId}/reviews/${id}/report`
    expectStatus(await registry.client('carol').post(path, report), 204)
    const page = await console.open('/moderation', { as: 'operator' })
    await page.getByRole('tab', { name: 'Reviews (1)', selected: true }).waitFor()
    const item = page.getByRole('listitem').filter({ hasText: 'Buy pills.' })
    await item.getByText('Reported: An advertisement.').waitFor()
    await item.getByRole('button', { name: 'Dismiss reports' }).waitFor()
    await assertSound(page)
    await item.getByRole('button', { name: 'Hide' }).click()
    await page.getByRole('textbox', { name: 'Reason' }).fill('Advertisement.')
    await inDialog(page, 'Hide')
    await page.getByText('No reported reviews').waitFor()
    await page.getByRole('tab', { name: 'Reviews', exact: true }).waitFor()
    const { body } = await reader.client.get(mine)
    assert.deepEqual([body['status'], body['hidden_reason']], ['hidden', 'Advertisement.'])
  })

  test('an owner offers a pack, and the owner of the other publisher accepts it', async () => {
    const other = await registry.addPublisher({ user: 'bob' })
    const page = await console.open(`/registry/${nodeId}`, { as: 'alice' })
    await choose(page, `More for ${nodeId}`, 'Transfer pack')
    await page.getByLabel('ID of the publisher that gets it').fill(other.id)
    await inDialog(page, 'Offer')
    await page.goto(`${console.service.baseUrl}/console/publishers/${owned.id}?tab=transfers`)
    await page.getByRole('button', { name: 'Withdraw' }).waitFor()
    const bob = await console.open(`/publishers/${other.id}`, { as: 'bob' })
    await bob.getByRole('tab', { name: 'Transfers (1)' }).click()
    await bob.getByRole('row', { name: nodeId }).getByRole('button', { name: 'Decline' }).waitFor()
    await assertSound(bob)
    await bob.getByRole('button', { name: 'Accept' }).click()
    await inDialog(bob, 'Accept')
    await bob.getByText('No packs are offered').waitFor()
    await bob.getByRole('tab', { name: 'Packs' }).click()
    await bob.getByRole('link', { name: 'Bad Tools' }).waitFor()

    const operator = await console.open(`/registry/${nodeId}`, { as: 'operator' })
    await choose(operator, `More for ${nodeId}`, 'Give to another publisher')
    await operator.getByLabel('ID of the publisher that gets it').fill(owned.id)
    await operator.getByLabel('Reason').fill('It was theirs.')
    await operator.getByLabel(`Type ${nodeId} to confirm`).fill(nodeId)
    await inDialog(operator, 'Give')
    await operator.getByRole('link', { name: owned.id }).first().waitFor()
    const { body } = await registry.anonymous.get(`/nodes/${nodeId}`)
    assert.equal((body['publisher'] as unknown as { id: string }).id, owned.id)
  })

  test('an address about a version opens the versions, whatever waits elsewhere', async () => {
    const spam = { reason: 'spam', text: 'Again.' }
    expectStatus(await registry.client('carol').post(`/nodes/${nodeId}/reports`, spam), 201)
    const page = await console.open(`/moderation?version=${nodeId}@1.0.0`, { as: 'operator' })
    await page.getByRole('tab', { name: 'Versions', selected: true }).waitFor()
    await page.getByRole('tab', { name: 'Reports (1)' }).waitFor()
    await page.getByRole('heading', { name: `${nodeId} 1.0.0` }).waitFor()
  })
})
