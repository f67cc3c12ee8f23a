import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf, memberOf, pluck } from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { admin, anonymous, sql } = registry
const owned = usePublisher(registry)

const search = async (query: Record<string, string>) => {
  const text = new URLSearchParams(query).toString()
  return expectStatus(await anonymous.get(`/nodes/search?${text}`), 200)
}
const find = async (term: string): Promise<unknown[]> =>
  pluck(listOf(await search({ search: term }), 'nodes'))

/** A word that nothing else has; letters alone, so that nothing cuts it. */
const word = () => unique('w').replaceAll(/[^a-z]/g, 'k')

const HOST = { input_types: '{}', return_types: '[]', return_names: '[]' }

/** Publishes a version with these host nodes, by class name and display name. */
const addWithHostNodes = async (
  names: Record<string, string>,
  given: Parameters<typeof owned.addActive>[0] = {},
) => {
  const added = await owned.addActive(given)
  const nodes = Object.fromEntries(
    Object.entries(names).map(([name, display_name]) => [name, { ...HOST, display_name }]),
  )
  expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
  return added
}

describe('a search for a publisher', () => {
  test('finds its packs by its id, its name of now, and its id before that of a pack', async () => {
    const [first, second, name] = [word(), word(), word()]
    const publisher = await registry.addPublisher({ id: unique('studio') })
    const nodeId = await publisher.addNode({ name: 'x' })
    const rename = async (to: string) =>
      expectStatus(await publisher.owner.put(publisher.path, { name: to }), 200)
    await rename(`${first} Makers`)
    for (const term of [publisher.id, first, `${publisher.id}/${nodeId}`, `makers ${first}`])
      assert.deepEqual(await find(term), [nodeId], term)
    await rename(`${second} Makers`)
    assert.deepEqual([await find(first), await find(second)], [[], [nodeId]])
    // Names of the pack itself come first.
    const named = await owned.addNode({ name: `${name} pack` })
    await rename(name)
    assert.deepEqual(await find(name), [named, nodeId])
  })

  test('finds what was given to it, and no more what it has given', async () => {
    const to = await registry.addPublisher({ id: unique('heir') })
    const from = await registry.addPublisher({ id: unique('giver') })
    const nodeId = await from.addNode({ name: 'x' })
    const offer = expectStatus(
      await from.owner.post(`${from.path}/nodes/${nodeId}/transfer`, { to: to.id }),
      201,
    )
    const accept = `${to.path}/transfers/${String(offer.body['id'])}/accept`
    expectStatus(await to.owner.post(accept, {}), 200)
    assert.deepEqual([await find(from.id), await find(to.id)], [[], [nodeId]])
  })
})

describe('a search for host nodes', () => {
  test('by words finds class names and display names, below the own words of packs', async () => {
    const one = word()
    const { nodeId } = await addWithHostNodes({ [`WAS_${one}Mixer`]: '混合模式 Blend It' })
    const described = await owned.addNode({ description: `about ${one}` })
    assert.deepEqual(await find(one), [described, nodeId])
    for (const term of [`${one} blend`, `mixer ${nodeId}`, `${nodeId} 模式`])
      assert.deepEqual(await find(term), [nodeId], term)
  })

  test('by a part finds display names, and shows the class names', async () => {
    const [one, two] = [word(), word()]
    const { nodeId, ownNode } = await addWithHostNodes({ [one]: `The ${two} Way`, Other: '' })
    const found = await search({ host_node_search: `${two.toUpperCase()} way` })
    assert.deepEqual(found.body['matched_host_nodes'], { [nodeId]: [one] })
    // The next version has another display name of the same class.
    const next = word()
    await addWithHostNodes({ [one]: next, Other: '' }, { nodeId, version: '1.1.0' })
    assert.equal((await search({ host_node_search: two })).body['total'], 0)
    assert.deepEqual([await find(two), await find(next)], [[], [nodeId]])
    const names = await sql`select name from current_host_node where display_name = ${next}`
    assert.deepEqual(pluck(names, 'name'), [one])
    // Of one that is banned nothing is found.
    const policy = { policy: 'HostNodePolicyBanned', reason: 'spam' }
    const path = `/admin/nodes/${nodeId}/host-nodes/${one}`
    expectStatus(await admin.put(path, policy), 200)
    assert.deepEqual([await find(next), await find(one)], [[], []])
    expectStatus(await owned.owner.delete(ownNode), 204)
  })

  test('that finds nothing names those that are meant, with a typo in the middle', async () => {
    const { nodeId } = await addWithHostNodes({ ZqwSamplerAdvanced: 'Zqw Refiner', Other: 'x' })
    const meant = async (text: string, more: Record<string, string> = {}) =>
      (await search({ host_node_search: text, ...more })).body['did_you_mean']
    const { name } = expectStatus(await anonymous.get(`/nodes/${nodeId}`), 200).body
    const found = [{ id: nodeId, name, host_node: 'ZqwSamplerAdvanced' }]
    assert.deepEqual(await meant('ZqwSamlperAdvanced'), found)
    assert.deepEqual(await meant('zqw refnier'), found)
    assert.equal(await meant('ZqwSamlperAdvanced', { tag: 'none' }), undefined)
    const { body } = await search({ search: 'ZqwSamlperAdvanced' })
    assert.deepEqual(body['did_you_mean'], found)
    for (const odd of ['%', '\\', "'", '\u0001', 'x'.repeat(200)]) await meant(odd)
  })
})

describe('a pack without an active version', () => {
  const resolve = async (nodeId: string) => {
    const nodes = [{ id: 1, type: 'NobodyHasIt', properties: { cnr_id: nodeId } }]
    const response = await anonymous.post('/workflows/resolve', { workflow: { nodes, links: [] } })
    const found = expectStatus(response, 200)
    const [[hostNode], [pack]] = [listOf(found, 'host_nodes'), listOf(found, 'packs')]
    return { hostNode: String(hostNode?.['message']), pack: String(pack?.['message']) }
  }
  const availability = async (term: string) => {
    const [node] = listOf(await search({ search: term }), 'nodes')
    return node?.['availability']
  }

  test('is marked where strangers find it, and its owner goes on', async () => {
    const { nodeId } = await owned.addFlagged()
    assert.equal(await availability(nodeId), 'none')
    const own = listOf(await owned.owner.get(`${owned.path}/nodes?limit=100`))
    assert.equal(own.find(({ id }) => id === nodeId)?.['availability'], 'none')
    const next = await owned.addActive({ nodeId, version: '1.1.0' })
    assert.equal(await availability(nodeId), 'available')
    expectStatus(await owned.owner.put(next.ownVersion, { deprecated: true }), 200)
    assert.equal(await availability(nodeId), 'deprecated')
    expectStatus(await owned.owner.delete(next.ownVersion), 204)
    const read = await anonymous.get(`/nodes/${nodeId}`)
    assert.deepEqual([read.body['availability'], 'latest_version' in read.body], ['none', false])
  })

  test('is resolved to what is true of it', async () => {
    const never = await owned.addFlagged()
    assert.deepEqual(await resolve(never.nodeId), {
      hostNode:
        'The workflow was saved with this pack, which has no active version now: nobody can say if it has this node.',
      pack: 'It has no active version, so nothing of it can be installed, and its host nodes were never read: look for another pack, or ask its publisher.',
    })
    const once = await addWithHostNodes({ [word()]: 'x' })
    expectStatus(await owned.owner.delete(once.ownVersion), 204)
    assert.equal(
      (await resolve(once.nodeId)).pack,
      'It has no active version, so nothing of it can be installed: look for another pack, or ask its publisher.',
    )
    const active = await owned.addActive()
    assert.match((await resolve(active.nodeId)).hostNode, /have not been read yet: ask again/)
    const read = await addWithHostNodes({ [word()]: 'x' })
    assert.match((await resolve(read.nodeId)).hostNode, /whose latest version does not list it/)
  })
})

test('a node is found by parts of its translations and tags', async () => {
  const translations = { zh: { name: '图像修复工具', description: '高质量视频放大节点' } }
  const nodeId = await owned.addNode({ tags: ['換臉'], translations })
  for (const term of ['修复', '工具', '视频', '放大', '节点', '臉', '修复 视频放大'])
    assert.deepEqual(await find(term), [nodeId], term)
  assert.deepEqual(await find('换脸'), [])
  const read = memberOf(await anonymous.get(`/nodes/${nodeId}`), 'translations')
  assert.deepEqual(read, translations)
})
