import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf } from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { anonymous } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned

const translations = {
  de: { name: 'Lichtwerkzeug', description: 'Beleuchtet Bilder neu.' },
  'pt-BR': { name: 'Ferramentas' },
  german_language: { name: 'Unsinnswort' },
}
const TEXTS = { name: 'Light tools', description: 'Lights pictures again.', translations }

const addNode = (more = {}) => owned.addNode({ ...TEXTS, ...more })

const get = async (path: string, language?: string, more = {}) => {
  const headers = { ...(language && { 'accept-language': language }), ...more }
  const response = await anonymous.get(path, headers)
  return {
    response,
    language: response.headers.get('content-language'),
    etag: response.headers.get('etag') ?? '',
  }
}

describe('Accept-Language', () => {
  test('translates name and description of a node, which keeps its translations', async () => {
    const nodeId = await addNode()
    const path = `/nodes/${nodeId}`
    for (const [asked, name, description, used] of [
      ['de-CH, en;q=0.5', 'Lichtwerkzeug', 'Beleuchtet Bilder neu.', 'de'],
      ['pt-BR', 'Ferramentas', TEXTS.description, 'pt-BR'],
      ['fr', TEXTS.name, TEXTS.description, null],
      [undefined, TEXTS.name, TEXTS.description, null],
    ] as const) {
      const { response, language } = await get(path, asked)
      const { body, headers } = expectStatus(response, 200)
      assert.deepEqual([body['name'], body['description']], [name, description])
      assert.deepEqual(body['translations'], translations)
      assert.equal(language, used)
      assert.match(headers.get('vary') ?? '', /Accept-Language/)
    }
  })

  test('gives every language an ETag of its own, by which a node is edited, too', async () => {
    const nodeId = await addNode()
    const path = `/nodes/${nodeId}`
    const list = `/nodes?node_id=${nodeId}`
    for (const page of [path, list]) {
      const [plain, german] = [await get(page), await get(page, 'de')]
      assert.notEqual(plain.etag, german.etag)
      const again = { 'if-none-match': german.etag }
      assert.equal((await get(page, 'de', again)).response.status, 304)
      assert.equal((await get(page, undefined, again)).response.status, 200)
    }
    const { etag } = await get(path, 'de-AT, en;q=0.5')
    const given = { 'if-match': etag }
    expectStatus(await owner.put(`${own}${path}`, { author: 'x' }, given), 200)
    expectStatus(
      await owner.put(`${own}${path}`, { author: 'y' }, given),
      412,
      'precondition_failed',
    )
  })

  test('translates in lists and searches, also what comes after the head of a long one', async () => {
    const other = await registry.addPublisher()
    const long = { ...TEXTS, license: 'x'.repeat(60_000) }
    const ids = []
    for (let n = 0; n < 60; n += 1) ids.push(await other.addNode(long))
    const search = `/nodes/search?search=${String(ids[0])}`
    const names = async (path: string, member?: string) => {
      const { response, language } = await get(path, 'de')
      return [language, ...new Set(listOf(response, member).map(({ name }) => name))]
    }
    const list = `/nodes?limit=100&node_id=${ids.join('&node_id=')}`
    assert.deepEqual(await names(list, 'nodes'), ['de', 'Lichtwerkzeug'])
    assert.deepEqual(await names(search, 'nodes'), ['de', 'Lichtwerkzeug'])
    assert.deepEqual(await names(`${other.path}/nodes`), ['de', 'Lichtwerkzeug'])
    assert.deepEqual(await names(`${other.path}/nodes/v2`, 'nodes'), ['de', 'Lichtwerkzeug'])
    assert.equal((await get(list)).language, null)
  })

  test('translates the pack that a host node belongs to', async () => {
    const nodeId = unique('node')
    const { version } = await owned.addActive({ nodeId, node: TEXTS })
    const name = unique('Blur')
    const nodes = { [name]: {} }
    expectStatus(await owner.post(`${version}/host-nodes`, { nodes }), 204)
    const { response, language } = await get(`/host-nodes/${name}/node`, 'de')
    assert.deepEqual([response.body['name'], language], ['Lichtwerkzeug', 'de'])
    assert.match(response.headers.get('vary') ?? '', /Accept-Language/)
  })
})

describe('a search', () => {
  test('finds translated names before translated descriptions, and no malformed language', async () => {
    const word = unique('leuchte').replaceAll('-', '')
    const described = await addNode({ translations: { de: { description: `Eine ${word}.` } } })
    const named = await addNode({ translations: { ja: { name: word } } })
    const id = await addNode({ translations: { german_language: { name: word } } })
    const find = async () =>
      listOf(await anonymous.get(`/nodes/search?search=${word}`), 'nodes').map((node) => node['id'])
    assert.deepEqual(await find(), [named, described])
    expectStatus(
      await owner.put(`${own}/nodes/${id}`, { translations: { de: { name: word } } }),
      200,
    )
    assert.equal((await find()).length, 3)
    expectStatus(await owner.put(`${own}/nodes/${id}`, { translations: {} }), 200)
    assert.deepEqual(await find(), [named, described])
  })
})
