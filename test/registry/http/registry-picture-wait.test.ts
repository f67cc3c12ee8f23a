import assert from 'node:assert/strict'
import { test } from 'node:test'

import { expectStatus } from '../../support/client.ts'
import { useReceiver } from '../../support/network.ts'
import { makePicture } from '../../support/pictures.ts'
import { waitFor } from '../../support/wait.ts'
import { usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry({ env: { OVERRIDE_PICTURE_WAIT_MS: '10' } })
const owned = usePublisher(registry)
let send = (): void => {}
const stranger = useReceiver((_, response) => {
  send = () => void makePicture({ width: 64, height: 64 }).then((bytes) => response.end(bytes))
})

test('a reader does not wait for an icon whose address is slow, and it is shown once it is there', async () => {
  const nodeId = await owned.addNode({ icon: `http://127.0.0.1:${stranger.port}/icon.png` })
  const path = `/nodes/${nodeId}/icon`
  const early = expectStatus(await registry.anonymous.get(path), 404, 'picture_not_found')
  assert.match(early.body.message ?? '', /being fetched.*; ask again in a few seconds/)
  expectStatus(await registry.anonymous.get(`${path}?missing=204`), 204)
  await waitFor('the icon', async () => {
    send()
    const { status, body } = await fetch(registry.service.baseUrl + path)
    await body?.cancel()
    return status === 200
  })
})
