import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus } from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { admin, service } = registry
const owned = usePublisher(registry)

const NAME = 'Light "Tools" <b>'
const DESCRIPTION = `Relights ${'very '.repeat(60)}well.`

/** Title and description that the page at an address of the console has before any script runs. */
const read = async (path: string, baseUrl = service.baseUrl) => {
  const html = await (await fetch(`${baseUrl}/console${path}`)).text()
  const meta = (name: string) =>
    new RegExp(String.raw`="${name}"\s+content="([^"]*)"`).exec(html)?.[1] ?? ''
  const [, title] = /<title>([^<]*)/.exec(html) ?? []
  return { title, og: meta('og:title'), about: [meta('description'), meta('og:description')] }
}

describe('the page of a pack or publisher', () => {
  test('has its name and description for previews, as text', async () => {
    const nodeId = await owned.addNode({ name: NAME, description: DESCRIPTION })
    for (const path of [`/registry/${nodeId}`, `/registry/${nodeId.toUpperCase()}/1.0.0?tab=x`]) {
      const { title, og, about } = await read(path)
      assert.equal(title, 'Light &quot;Tools&quot; &lt;b&gt; · Kiln')
      assert.equal(og, 'Light &quot;Tools&quot; &lt;b&gt;')
      for (const text of about) {
        assert.match(text, /^Relights very .* …$/)
        assert.equal(text.length, 200)
      }
    }
    const { body } = expectStatus(await owned.owner.get(owned.path), 200)
    assert.equal((await read(owned.path)).og, body['name'])
  })

  test('has no words of what a visitor may not read', async () => {
    const other = await read('/tasks')
    assert.deepEqual(await read(`/registry/${unique('nothing')}`), other)
    const nodeId = await owned.addNode({ name: NAME })
    const { baseUrl } = await service.startSecondApi({ REGISTRY_READS: 'members' })
    assert.equal((await read(`/registry/${nodeId}`, baseUrl)).og, other.og)
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await admin.put(`/admin/nodes/${nodeId}`, ban), 200)
    assert.deepEqual(await read(`/registry/${nodeId}`), other)
  })
})
