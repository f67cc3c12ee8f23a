import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
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

interface Index {
  pages: [name: string, title: string, description: string, words: string][]
  entries: [page: number, id: string, title: string, text: string, words?: string][]
}

/** Reads the index of the search, and its bytes as they are sent. */
const readIndex = async (): Promise<Index & { bytes: number }> => {
  const html = await (await get('/docs')).text()
  const [, path = ''] = /data-index="([^"]+)"/.exec(html) ?? []
  const sent = await new Promise<number>((resolve, reject) => {
    const headers = { 'accept-encoding': 'br' }
    request(service.baseUrl + path, { headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => resolve(bytes))
    })
      .on('error', reject)
      .end()
  })
  return { ...((await (await get(path)).json()) as Index), bytes: sent }
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
    for (const page of ['', 'try', 'tasks', 'registry', 'workflows', 'publishers'])
      assert.ok(html.includes(`href="/console/${page}"`), page)
    const mark = await readFile(join(ROOT, 'packages/console/src/icon.svg'), 'utf8')
    const [, icon = ''] = /<link rel="icon" href="([^"]+)"/.exec(html) ?? []
    const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? []
    assert.equal(await (await get(icon)).text(), mark)
    assert.match(await (await get(style)).text(), /--accent: light-dark\(#a8420b, #ff9a5c\)/)
  })

  test('have each a title and a description of its own, and a picture, for previews', async () => {
    const { pages } = await readIndex()
    const seen = { title: new Set<string>(), description: new Set<string>() }
    for (const name of ['', ...pages.map(([page]) => `/${page}`)]) {
      const html = await (await get(`/docs${name}`)).text()
      const read = (meta: string): string =>
        new RegExp(`="${meta}" content="([^"]+)"`).exec(html)?.[1] ?? ''
      const [, title = ''] = /<title>([^<]+) · Kiln</.exec(html) ?? []
      assert.equal(read('og:title'), title)
      assert.equal(read('description'), read('og:description'))
      assert.ok(read('description').length > 20, name)
      seen.title.add(title)
      seen.description.add(read('description'))
      const picture = read('og:image')
      assert.ok(picture.startsWith(`${service.baseUrl}/docs/assets/preview-`), picture)
      const shown = await get(picture.slice(service.baseUrl.length))
      assert.equal(shown.headers.get('content-type'), 'image/jpeg')
    }
    for (const words of Object.values(seen)) assert.equal(words.size, pages.length + 1)
  })

  test('are found by their headings, errors, settings and routes, in an index that is small', async () => {
    const { pages, entries, bytes } = await readIndex()
    assert.ok(bytes < 60_000, `${bytes} bytes`)
    for (const [page, title] of [
      ['troubleshoot', 'KilnStoreFull'],
      ['errors', 'rate_limited'],
      ['settings', 'MEDIA_SLOTS'],
      ['endpoints', 'GET /tasks/{task_id}/stream'],
      ['webhooks', 'Verify'],
    ])
      assert.ok(
        entries.some(([at, , named]) => pages[at]?.[0] === page && named === title),
        `${title} of ${page}`,
      )
    const [, , , , words = ''] = entries.find(([, id]) => id === 'retries') ?? []
    assert.ok(words.split(' ').includes('attempt'), words)
    for (const [at, [name]] of pages.entries()) {
      const html = await (await get(`/docs/${name}`)).text()
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, `an anchor twice in ${name}`)
      for (const [page, id] of entries)
        if (page === at) assert.ok(ids.includes(id), `${name}#${id}`)
    }
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
        else assert.match(address, /^(#|https:|data:image\/svg\+xml,)/, path)
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
