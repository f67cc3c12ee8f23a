import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import {
  makeRegistry,
  unique,
  type Registry,
} from '../../../test/registry/http/registry-support.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { assertSound, skip, useConsole } from './harness.ts'

describe('the reviews of a pack in the console', { skip }, () => {
  const console = useConsole()
  let registry: Registry
  const nodeId = unique('rated')
  const address = `/registry/${nodeId}?tab=reviews`

  before(async () => {
    registry = makeRegistry(console.service)
    const owned = await registry.addPublisher({ user: 'alice' })
    await owned.addActive({ nodeId, version: '1.0.0', node: { name: 'Rated Pack' } })
    for (const [index, stars] of [5, 5, 4, 3, 1].entries()) {
      const { client } = await registry.addUser(`reader-${index}`)
      const text = `${'Works on my machine. '.repeat(index * 5)}\u202e<script>window.hit=1</script>`
      expectStatus(await client.put(`/nodes/${nodeId}/reviews/mine`, { stars, text }), 200)
    }
  })

  test('are written, edited, replied to, reported and hidden in place', async () => {
    const bob = await console.open(address, { as: 'bob' })
    await bob.getByRole('tab', { name: '★ 3.6 · 5 reviews' }).waitFor()
    await bob.getByRole('button', { name: 'Write a review' }).click()
    const dialog = bob.getByRole('dialog')
    const publish = dialog.getByRole('button', { name: 'Publish' })
    assert.ok(await publish.isDisabled(), 'nobody is led to five stars')
    await dialog.getByRole('button', { name: /Stars/ }).click()
    await bob.getByRole('option', { name: '★★☆☆☆' }).click()
    await dialog.getByRole('textbox', { name: /Review/ }).fill('It is slow.')
    await publish.click()
    await bob.getByRole('tab', { name: '★ 3.3 · 6 reviews' }).waitFor()
    const own = bob.getByRole('listitem').filter({ hasText: 'It is slow.' })
    await own.getByText('version 1.0.0').waitFor()
    await bob.getByRole('button', { name: 'Edit your review' }).click()
    await dialog.getByRole('textbox', { name: /Review/ }).fill('It was slow.')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const edited = bob.getByRole('listitem').filter({ hasText: 'It was slow.' })
    await edited.getByText('edited').waitFor()
    await bob.getByRole('button', { name: 'Report' }).first().click()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('An advertisement.')
    await dialog.getByRole('button', { name: 'Report' }).click()
    await dialog.waitFor({ state: 'detached' })
    await assertSound(bob)

    const alice = await console.open(address, { as: 'alice' })
    const reviewed = alice.getByRole('listitem').filter({ hasText: 'It was slow.' })
    await reviewed.getByRole('button', { name: 'Reply' }).click()
    await alice.getByRole('dialog').getByRole('textbox', { name: /Reply/ }).fill('Faster now.')
    await alice.getByRole('dialog').getByRole('button', { name: 'Reply' }).click()
    await reviewed.getByText('Faster now.').waitFor()
    assert.equal(await alice.getByRole('button', { name: 'Write a review' }).count(), 0)
    assert.equal(await alice.getByRole('button', { name: 'Hide' }).count(), 0)
    await assertSound(alice)

    const operator = await console.open(address, { as: 'operator' })
    await operator.getByText('Reported: An advertisement.').waitFor()
    const slow = operator.getByRole('listitem').filter({ hasText: 'It was slow.' })
    await slow.getByRole('button', { name: 'Hide' }).click()
    const reason = operator.getByRole('dialog').getByRole('textbox', { name: 'Reason' })
    await reason.fill('off topic')
    await operator.getByRole('dialog').getByRole('button', { name: 'Hide' }).click()
    await slow.getByText('Hidden: off topic').waitFor()
    await operator.getByRole('tab', { name: '★ 3.6 · 5 reviews' }).waitFor()
    await assertSound(operator)

    await bob.reload()
    await bob.getByText('A platform admin has hidden your review: off topic').waitFor()
    const visitor = await console.open(address)
    await visitor.getByText('Sign in to write a review.').waitFor()
    assert.equal(await visitor.getByText('It was slow.').count(), 0)
    assert.equal(await visitor.evaluate('window.hit'), undefined)
    await assertSound(visitor)
  })
})
