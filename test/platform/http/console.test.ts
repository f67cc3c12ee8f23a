import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeConsolePolicy } from '../../../src/platform/http/console/serve.ts'
import { useService } from '../../support/service.ts'

const service = useService({
  roles: ['api'],
  env: { CONSOLE_AUTH_ORIGINS: 'https://issuer.example.com' },
})

const get = async (
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', baseUrl = service.baseUrl } = {},
): Promise<Response> => await fetch(baseUrl + path, { method, headers, redirect: 'manual' })

/** Addresses of what the page loads. */
const listAssets = async (): Promise<string[]> => {
  const html = await (await get('/console/')).text()
  return [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path)
}

describe('the console', () => {
  test('begins at /, and at its name without the slash', async () => {
    for (const path of ['/', '/console']) {
      const response = await get(path)
      assert.deepEqual([response.status, response.headers.get('location')], [302, '/console/'])
    }
  })

  test('is one page at every address of its own, which a browser asks for again', async () => {
    const first = await get('/console/')
    const html = await first.text()
    const etag = first.headers.get('etag') ?? ''
    for (const path of ['/console/tasks', '/console/registry/a/1.0.0?tab=x', '/console/x.js']) {
      const response = await get(path)
      assert.deepEqual([response.status, response.headers.get('cache-control')], [200, 'no-cache'])
      assert.equal(await response.text(), html)
    }
    assert.equal((await get('/console/tasks', { 'if-none-match': etag })).status, 304)
    const head = await get('/console/tasks', {}, { method: 'HEAD' })
    assert.deepEqual([head.status, (await head.arrayBuffer()).byteLength], [200, 0])
  })

  test('has assets that are kept for ever, compressed as the browser likes', async () => {
    const assets = await listAssets()
    assert.ok(assets.length >= 3)
    for (const path of assets)
      for (const [accepted, encoding] of [
        ['gzip, br', 'br'],
        ['gzip', 'gzip'],
        ['identity', null],
      ] as const) {
        const response = await get(path, { 'accept-encoding': accepted })
        assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
        assert.equal(response.headers.get('content-encoding'), encoding)
        assert.equal(response.headers.get('vary'), 'Accept-Encoding')
      }
  })

  test('may show what a store gives that callers are sent to', () => {
    const policy = makeConsolePolicy([], ['https://store.example'])
    for (const source of ["img-src 'self' blob: data:", "media-src 'self' blob:"])
      assert.ok(policy.includes(`${source} https://store.example;`), policy)
    assert.equal(policy.split('store.example').length, 3)
  })

  test('may run, load and call what is its own, and call the issuer', async () => {
    const { headers } = await get('/console/')
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; font-src 'self'; connect-src 'self' https://issuer.example.com; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default",
    )
    const others = {
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    }
    for (const [name, value] of Object.entries(others)) assert.equal(headers.get(name), value)
  })

  test('has nothing inline', async () => {
    const html = (await (await get('/console/')).text()).replaceAll(/<meta [^>]*>/g, '')
    assert.doesNotMatch(html, /style=|<style|<script(?![^>]* src=)|\son\w+=|https?:/)
  })

  test('has words and a picture for previews', async () => {
    const html = await (await get('/console/')).text()
    const [, picture = ''] = /property="og:image"\s+content="([^"]+)"/.exec(html) ?? []
    assert.ok(picture.startsWith(`${service.baseUrl}/console/assets/preview-`), picture)
    const shown = await get(picture.slice(service.baseUrl.length))
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'image/jpeg'])
    for (const name of ['description', 'og:title', 'og:description', 'og:site_name'])
      assert.match(html, new RegExp(`="${name}"\\s+content="[^"]{4,}"`))
    assert.match(html, /<link rel="icon" [^>]*href="data:image\/svg\+xml,%3Csvg/)
  })

  test('the console responds with JSON for an asset that is not there, and for what is no read', async () => {
    for (const path of ['/console/assets/x.js', '/console/assets/..%2fpages.json', '/consol'])
      assert.equal((await get(path)).status, 404, path)
    const posted = await get('/console/tasks', {}, { method: 'POST' })
    assert.equal(posted.status, 405)
    assert.equal(((await posted.json()) as { error: string }).error, 'method_not_allowed')
  })

  test('can be off: then / leads to the documentation', async () => {
    const without = await service.startSecondApi({ CONSOLE: 'off' })
    const response = await get('/', {}, without)
    assert.deepEqual([response.status, response.headers.get('location')], [302, '/docs'])
    assert.equal((await get('/console/', {}, without)).status, 404)
  })
})
