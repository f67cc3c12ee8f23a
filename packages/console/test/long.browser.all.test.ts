import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { planCatalogue } from '../../../bench/search/catalogue.ts'
import { loadCatalogue } from '../../../bench/search/load.ts'
import { makeRegistry, unique } from '../../../test/http/registry-support.ts'
import { isLong } from '../../../test/support/long.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { assertSound, skip, useConsole } from './harness.ts'

/** `npm test -- --long packages/console/test`. */
describe('the console with much in it', { skip: skip || (!isLong && 'only with --long') }, () => {
  const console = useConsole({ alone: true })

  /** Milliseconds of each task of the main thread above 50 ms, from now on. */
  const watchTasks = async (page: Page): Promise<() => Promise<number[]>> => {
    await page.evaluate(
      `self.longTasks = []; new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) self.longTasks.push(Math.round(duration)) }).observe({ type: 'longtask' })`,
    )
    return () => page.evaluate<number[]>('self.longTasks')
  }

  const heapOf = async (page: Page): Promise<number> => {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    return usedSize / 1e6
  }

  test('a page is painted soon after its first load', async (t) => {
    const loads: string[] = []
    for (const path of ['/', '/registry', '/', '/registry', '/', '/registry']) {
      const page = await console.open(path)
      const [painted, requests] = await page.evaluate<[number, number]>(`new Promise((show) =>
        new PerformanceObserver((list) => show([
          list.getEntries().at(-1).startTime, performance.getEntriesByType('resource').length,
        ])).observe({ type: 'largest-contentful-paint', buffered: true }))`)
      loads.push(`${path} ${painted.toFixed(0)} ms`)
      assert.ok(requests <= 12, `${requests} requests`)
    }
    t.diagnostic(`largest contentful paint: ${loads.join(', ')}`)
  })

  test('100,000 tasks are scrolled in order, without a jump, in little memory', async (t) => {
    const { sql } = console.service.database
    await sql.begin(async (sql) => {
      await sql`set local session_replication_role = replica`
      await sql`
        insert into task (id, family, kind, segment, owner, account, status, settings,
          last_sequence, created_at, last_moved_at, ended_at)
        select md5('long ' || n)::uuid, 'image', 'relight', 'image-relight', 'carol', 'carol', 'COMPLETED',
          json_build_object('prompt', 'picture ' || n), 3, at, at, at
        from generate_series(1, 100000) n, lateral (select now() - n * interval '30 seconds' as at) times
      `
    })
    await sql`analyze task`
    const page = await console.open('/tasks', { as: 'carol' })
    await page.getByText('picture 1', { exact: true }).waitFor()
    const longTasks = await watchTasks(page)
    let last = 1
    for (let turn = 0; turn < 1500 && last < 10_000; turn += 1) {
      await page.mouse.wheel(0, 3000)
      const rows = await page.evaluate<number[]>(
        `new Promise((show) => requestAnimationFrame(() => show([...document.querySelectorAll('main li')].map((row) => Number(/picture (\\d+)/.exec(row.textContent)?.[1] ?? 0)).filter(Boolean))))`,
      )
      const places = rows.map((row, index) => row - index)
      assert.ok(
        places.every((place) => place === places[0]),
        `out of order: ${rows.join(' ')}`,
      )
      assert.ok((rows[0] ?? last) >= last - 60, `${last}, then ${rows[0]}`)
      last = rows[0] ?? last
    }
    assert.ok(last >= 10_000, `reached ${last}`)
    const [found, heap] = [await longTasks(), await heapOf(page)]
    t.diagnostic(
      `10,000 rows: ${found.length} tasks above 50 ms (${found.join(' ')}), heap ${heap.toFixed(0)} MB`,
    )
    assert.ok(heap < 150, `${heap} MB`)
    await page.getByRole('button', { name: 'Back to the first rows' }).count()
  })

  test('a search in 20,000 nodes is shown soon after a key', async (t) => {
    await loadCatalogue(console.service.database.url, planCatalogue(20_000))
    const page = await console.open('/registry')
    const field = page.locator('main').getByRole('searchbox').first()
    // Rows are busy from the key on until the response is shown; before the first rows there is nothing that could be.
    await page.locator('main [aria-busy=false]').waitFor()
    await page.evaluate(`
      self.shown = []; let pressed = 0
      performance.setResourceTimingBufferSize(10000)
      addEventListener('keydown', () => { pressed = performance.now() }, true)
      new MutationObserver((changes) => {
        if (pressed === 0 || changes.at(-1).target.ariaBusy !== 'false') return
        const from = pressed; pressed = 0
        requestAnimationFrame(() => {
          const end = performance.now()
          const asked = performance.getEntriesByType('resource').filter(({ name }) => /nodes.search.*limit=30/.test(name)).at(-1)
          self.shown.push([end - from, asked.startTime - from, asked.duration, end - asked.responseEnd].map(Math.round))
        })
      }).observe(document.querySelector('main'), { attributeFilter: ['aria-busy'], subtree: true })
    `)
    const count = () => page.evaluate<number>('self.shown.length')
    let presses = 0
    for (const word of ['light', 'video', 'mask', 'blur', 'noise', 'upscale', 'image']) {
      await field.fill('')
      for (const key of word) {
        await field.pressSequentially(key)
        presses += 1
        await waitFor(`the rows of ${key} in ${word}`, async () => (await count()) === presses)
      }
    }
    const shown = (await page.evaluate<number[][]>('self.shown')).toSorted(
      ([a = 0], [b = 0]) => a - b,
    )
    t.diagnostic(`key to paint: ${shown.map((one) => one.join('/')).join(' ')} ms`)
  })

  test('800 host nodes are scrolled as cards', async (t) => {
    const registry = makeRegistry(console.service)
    const owned = await registry.addPublisher({ user: 'alice' })
    const added = await owned.addActive({ nodeId: unique('many'), version: '1.0.0' })
    const input_types = {
      required: {
        image: ['IMAGE'],
        model: ['MODEL'],
        mode: [['add', 'screen', 'multiply']],
        steps: ['INT', { default: 20 }],
        strength: ['FLOAT', { default: 0.5, step: 0.01 }],
        tile: ['BOOLEAN', { default: true }],
      },
      optional: { mask: ['MASK'], vae: ['VAE'] },
    }
    const nodes = Object.fromEntries(
      Array.from({ length: 800 }, (_, at) => [
        `Mixer${at}`,
        { input_types, return_types: ['IMAGE', 'MASK'], description: 'Mixes light with light.' },
      ]),
    )
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
    const page = await console.open(`/registry/${added.nodeId}/1.0.0`)
    await page.getByText('800 nodes').first().waitFor()
    const longTasks = await watchTasks(page)
    const cards = page.locator('main [role=group]')
    for (let turn = 0; turn < 600 && (await cards.count()) < 800; turn += 1) {
      await page.mouse.wheel(0, 600)
      await page.evaluate('new Promise((show) => requestAnimationFrame(show))')
    }
    assert.equal(await cards.count(), 800)
    const found = await longTasks()
    t.diagnostic(`800 cards: ${found.length} tasks above 50 ms (${found.join(' ')})`)
  })

  test('2,000 entries of the audit log are added a page at a time', async (t) => {
    await console.service.database.sql`
      insert into audit_log (id, at, actor, action, target, before, after, reason, request_id)
      select md5('audit ' || n)::uuid, now() - n * interval '40 seconds', 'user:operator',
        'node.update', 'node/pack-' || n, '{"name": "old"}', '{"name": "new"}', 'entry ' || n, 'request'
      from generate_series(1, 3000) n
    `
    const page = await console.open('/moderation?tab=log', { as: 'operator' })
    await page.getByText('entry 50', { exact: true }).waitFor()
    const longTasks = await watchTasks(page)
    for (let shown = 100; shown <= 2000; shown += 50) {
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByText(`entry ${shown}`, { exact: true }).waitFor()
    }
    const found = await longTasks()
    t.diagnostic(`2,000 entries: ${found.length} tasks above 50 ms (${found.join(' ')})`)
  })

  test('seven live tabs leave the service to others', async () => {
    const first = await console.open('/', { as: 'alice' })
    const context = first.context()
    await context.addInitScript(`sessionStorage['kiln.user'] ??= 'alice'`)
    for (let tab = 1; tab < 7; tab += 1) await console.open('/', { context })
    const page = await console.open('/account?tab=keys', { context })
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  test('what strangers write is text on every page, and nothing serious stands in the way', async () => {
    const { sql } = console.service.database
    const attack =
      '<img src=x onerror="self.pwned=1"><script>self.pwned=1</script>\u202Etxet \u0007'
    await sql`
      update node set name = ${attack}, description = ${attack}, repository = 'javascript:self.pwned=1', icon = 'https://127.0.0.1:1/x.svg',
        tags = array[${attack}::text]
      where id in (select id from node order by id limit 20)
    `
    await sql`
      update version set changelog = ${attack}, status_reason = ${attack}
      where node_id in (select id from node order by id limit 20)
    `
    const [node] = await sql<{ id: string }[]>`select id from node order by id limit 1`
    await sql`update task set settings = json_build_object('prompt', ${attack}::text) where owner = 'bob' and random() < 0.01`
    const id = node?.id ?? ''
    for (const path of [
      '/',
      '/tasks',
      '/registry',
      `/registry/${id}`,
      '/moderation',
      '/operations',
      '/publishers',
      '/account',
    ]) {
      const page = await console.open(path, { as: 'operator' })
      await page.waitForLoadState('load')
      await assertSound(page)
      assert.equal(await page.evaluate('self.pwned'), undefined, path)
      assert.equal(await page.locator('a[href^="javascript:"]').count(), 0, path)
    }
  })
})
