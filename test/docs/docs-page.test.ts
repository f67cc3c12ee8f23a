import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { useService } from '../support/service.ts'

const env = { ADMIN_SUBJECTS: 'operator' }
const service = useService({ roles: ['api'], development: true, env })

const get = async (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> => await fetch(service.baseUrl + path, { method, headers, redirect: 'manual' })

/** Addresses of what a page loads. */
const listAssets = async (path: string): Promise<string[]> => {
  const html = await (await get(path)).text()
  return [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, name = '']) => name)
}

describe('the pages', () => {
  test('have a policy without anything inline or of another origin', async () => {
    for (const path of ['/docs', '/docs/first-task', ...(await listAssets('/docs'))]) {
      const policy = (await get(path)).headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
      assert.doesNotMatch(policy, /unsafe|http|\*/)
    }
  })

  test('are kept by a browser: assets for ever, pages until they change', async () => {
    const assets = await listAssets('/docs')
    assert.ok(assets.length >= 6)
    const expected = assets.map((path) => [path, 'public, max-age=31536000, immutable'])
    for (const [path = '', control] of [...expected, ['/docs', 'no-cache']]) {
      const first = await get(path)
      assert.deepEqual([first.status, first.headers.get('cache-control')], [200, control], path)
      const etag = first.headers.get('etag') ?? ''
      const again = await get(path, { 'if-none-match': etag })
      assert.deepEqual([again.status, (await again.arrayBuffer()).byteLength], [304, 0])
      assert.equal(again.headers.get('etag'), etag)
      const head = await get(path, {}, 'HEAD')
      assert.deepEqual([head.status, (await head.arrayBuffer()).byteLength], [200, 0])
    }
  })

  test('have the header, the mark and the colours of the console', async () => {
    const html = await (await get('/docs/first-task')).text()
    const text = await readFile(join(ROOT, 'package.json'), 'utf8')
    const { version } = JSON.parse(text) as { version: string }
    assert.ok(html.includes(`<span class="version" title="Version">${version}</span>`))
    assert.match(html, /<form role="search" action="\/console\/registry"><input [^>]*name="q"/)
    for (const page of ['', 'try', 'tasks', 'registry', 'publishers'])
      assert.ok(html.includes(`href="/console/${page}"`), page)
    const mark = await readFile(join(ROOT, 'packages/console/src/icon.svg'), 'utf8')
    const [icon = '', style = ''] = (await listAssets('/docs/first-task')).slice(0, 2)
    assert.equal(await (await get(icon)).text(), mark)
    assert.match(await (await get(style)).text(), /--accent: light-dark\(#a8420b, #ff9a5c\)/)
  })

  const ENCODINGS: [accepted: string, encoding: string | null][] = [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['br;q=0.0, gzip;q=0', null],
    ['identity', null],
    ['deflate', null],
  ]
  for (const [accepted, encoding] of ENCODINGS)
    test(`are ${encoding ?? 'plain'} for ${accepted}`, async () => {
      const script = (await listAssets('/docs')).find((path) => path.includes('swagger-ui-')) ?? ''
      const plain = await (await get(script, { 'accept-encoding': 'identity' })).text()
      const response = await get(script, { 'accept-encoding': accepted })
      assert.equal(response.headers.get('content-encoding'), encoding)
      assert.equal(response.headers.get('vary'), 'Accept-Encoding')
      assert.ok((await response.text()) === plain)
    })

  test('are JSON where there is none, as everywhere', async () => {
    for (const path of '/docs/nothing /docs/assets/x.js /docs/..%2fpages.json /doc /x'.split(' ')) {
      const response = await get(path)
      assert.equal(response.status, 404, path)
      assert.equal(((await response.json()) as { error: string }).error, 'not_found')
    }
    assert.equal((await get('/docs', {}, 'POST')).status, 405)
  })

  test('are a page for a browser where there is none', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const path of ['/docs/nothing', '/docs/missing', '/docs/assets/x.js']) {
      const response = await get(path, { accept })
      assert.deepEqual([response.status, response.headers.get('etag')], [404, null], path)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      const html = await response.text()
      assert.match(html, /<h1>Page not found<\/h1>/)
      assert.match(html, /href="\/docs\/first-task"/)
    }
    assert.equal((await get('/docs/nothing', { accept: 'application/json' })).status, 404)
  })

  test('lead to each other, and show or lead to nothing that is not there', async () => {
    const known = new Map<string, Set<string>>()
    const anchors: [from: string, page: string, hash: string][] = []
    const open = ['/docs']
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (known.has(path)) continue
      const response = await get(path)
      assert.equal(response.status, 200, path)
      const isPage = /html/.test(response.headers.get('content-type') ?? '')
      const html = isPage ? await response.text() : ''
      known.set(path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
      for (const [tag, , address] of html.matchAll(
        /<(?:a|link)\b(?![^>]*(href)=)|<(?:a|link|img|script)\b[^>]* (?:href|src)="([^"]*)"[^>]*>/g,
      )) {
        assert.ok(address, `${path} has ${tag} without an address`)
        const [page = '', hash] = address.split('#')
        if (page.startsWith('/')) open.push(page)
        else assert.match(address, /^(#|https:)/, path)
        if (hash !== undefined) anchors.push([path, page || path, hash])
      }
      assert.doesNotMatch(html, /&lt;!--|href="[^"]*\.md|<img(?![^>]* src=)/, path)
    }
    for (const [from, page, hash] of anchors)
      assert.ok(known.get(page)?.has(hash), `${from} leads to ${page}#${hash}`)
    const pictures = [...known.keys()].filter((path) => path.endsWith('.webp'))
    assert.ok(pictures.length >= 8)
    for (const file of await readdir(join(ROOT, 'docs'), { recursive: true }))
      if (file.endsWith('.md')) assert.ok(known.has(`/docs/${basename(file, '.md')}`), file)
  })
})
