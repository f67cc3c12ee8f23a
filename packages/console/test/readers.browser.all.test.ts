import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { makeRegistry, storeArchive, unique } from '../../../test/registry/http/registry-support.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { makePicture } from '../../../test/support/pictures.ts'
import { assertSound, skip, useConsole } from './harness.ts'

describe('the console of a registry that is not public', { skip }, () => {
  const console = useConsole({
    settings: () => Promise.resolve({ REGISTRY_READS: 'signed-in' }),
  })
  const nodeId = unique('private')

  before(async () => {
    const registry = makeRegistry(console.service)
    const owned = await registry.addPublisher({ user: 'alice' })
    const { id, ownNode } = await owned.addActive({ nodeId, node: { name: 'Private Pack' } })
    await storeArchive(registry, id)
    const picture = await makePicture({ width: 64, height: 64 })
    const headers = { 'content-type': 'image/jpeg' }
    expectStatus(await owned.owner.call('PUT', `${ownNode}/icon`, picture, headers), 200)
  })

  test('asks a visitor to sign in, and asks the registry for nothing before', async () => {
    for (const path of ['/registry', `/registry/${nodeId}`, '/workflows']) {
      const page = await console.open('/signed-in')
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`${console.service.baseUrl}/console${path}`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByRole('button', { name: 'Sign in as alice' }).waitFor()
      assert.deepEqual(
        asked.filter((one) => /^\/(nodes|publishers|versions)/.test(one)),
        [],
        path,
      )
      await assertSound(page)
    }
    const home = await console.open('/')
    await home.getByRole('button', { name: 'Try it' }).waitFor()
    assert.equal(await home.getByText('Extension packs').count(), 0)
  })

  test('shows a user packs with their pictures, and downloads an archive by a signed link', async () => {
    const page = await console.open(`/registry/${nodeId}`, { as: 'bob' })
    await page.getByRole('heading', { name: 'Private Pack' }).waitFor()
    await page.locator('img[src^="data:image/webp"]').first().waitFor()
    await page.getByText('X-API-KEY: $KILN_API_KEY').first().waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: /^Download .zip \(/ }).click()
    assert.match((await download).url(), /\/archives\/.*&signature=/)
  })
})
