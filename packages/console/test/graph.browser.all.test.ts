import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import {
  makeRegistry,
  unique,
  untilDecided,
  upload,
} from '../../../test/registry/http/registry-support.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { writeZip } from '../../../test/support/zip-writer.ts'
import { assertSound, skip, useConsole } from './harness.ts'

const sampler = (choices: string[]) => ({
  display_name: 'Sampler',
  input_types: {
    required: { image: ['IMAGE'], steps: ['INT', { default: 20 }], sampler: [choices] },
  },
  return_types: ['IMAGE'],
})

const [nodeId, Sampler] = [unique('sampler-pack'), unique('Sampler')]
const properties = { cnr_id: nodeId, ver: '1.0.0' }

/** Saved nodes in rows of 40, each linked to the one before. */
const workflowOf = (count: number) => ({
  nodes: Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    type: index === 1 ? 'NobodyHasThis' : Sampler,
    ...(index === 0 && { title: 'Main sampler' }),
    pos: [(index % 40) * 300, Math.floor(index / 40) * 200],
    size: { 0: 210, 1: 90 },
    inputs: [{ name: 'image', type: 'IMAGE', link: index }],
    outputs: [{ name: 'IMAGE', type: 'IMAGE' }],
    widgets_values: [20, index === 0 ? 'euler' : 'heun'],
    ...(index !== 1 && { properties }),
  })),
  links: Array.from({ length: count - 1 }, (_, index) => [
    index + 1,
    index + 1,
    0,
    index + 2,
    0,
    'IMAGE',
  ]),
})

const fileOf = (value: unknown, name = 'portrait.json') => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})

const choose = async (page: Page, file: ReturnType<typeof fileOf>): Promise<void> =>
  await page.locator('input[type=file]').setInputFiles(file)

const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex')

describe('a saved workflow in the console', { skip }, () => {
  const console = useConsole()

  before(async () => {
    const owned = await makeRegistry(console.service).addPublisher({ user: 'alice' })
    const publish = async (version: string, choices: string[]): Promise<void> => {
      const added = await owned.addActive({ nodeId, version, node: { name: 'Sampler Pack' } })
      const nodes = { [Sampler]: sampler(choices) }
      expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
    }
    await publish('1.0.0', ['euler', 'heun'])
    await publish('1.1.0', ['euler', 'heun', 'dpm'])
    await publish('2.0.0', ['heun', 'dpm'])
  })

  test('shows its packs and what an update breaks, down to both sides of a node', async () => {
    const page = await console.open('/workflows')
    await assertSound(page)
    await choose(page, fileOf({ some: 'JSON' }))
    await page.getByText('portrait.json is no workflow.').waitFor()
    await choose(page, fileOf('no JSON'))
    await page.getByText('portrait.json is no JSON.').waitFor()
    const photo = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: JPEG }
    await choose(page, photo)
    await page.getByText('photo.jpg is a picture or video that holds no workflow.').waitFor()
    await choose(page, fileOf({ ...workflowOf(1), extra: 'x'.repeat(4 * 2 ** 20) }))
    await page.getByText('portrait.json is larger than 4 MiB.').waitFor()
    await choose(page, fileOf(workflowOf(6)))
    await page.getByText('6 nodes, 0 of the host, 5 in 1 pack, 1 unknown').waitFor()
    await page.getByText('Updates break it in 1 place. Not compared: 1 unknown node.').waitFor()
    await assertSound(page)

    await page.getByRole('tab', { name: '1 pack' }).click()
    await page.getByRole('link', { name: 'Sampler Pack' }).waitFor()
    await page.getByText(`/nodes/${nodeId}/install?version=2.0.0`).waitFor()
    await page.getByRole('list', { name: 'Unknown nodes' }).getByText('NobodyHasThis').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download lock file' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'portrait.lock.json')
    await assertSound(page)

    await page.getByRole('tab', { name: 'Nodes' }).click()
    const drawing = page.getByRole('application')
    await drawing.waitFor()
    assert.equal(await drawing.locator('[data-key]').count(), 6)
    await assertSound(page)
    const node = page.getByRole('button', { name: /^Main sampler breaks/ })
    await node.focus()
    await page.keyboard.press('Enter')
    const card = page.getByRole('dialog', { name: 'Main sampler' })
    await card.getByText(/The choice "euler" of "sampler" is gone/).waitFor()
    await card.getByRole('region', { name: '2.0.0' }).waitFor()
    await assertSound(page)
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    await drawing.locator('[data-key="#1"]').click()
    await card.waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('tab', { name: 'Updates' }).click()
    await page.getByRole('button', { name: 'Take 1.1.0' }).click()
    await page.getByText('Nothing that could be compared breaks. Not compared: 1 ').waitFor()
    await page.getByRole('button', { name: `Choose versions of ${nodeId}` }).click()
    const select = async (side: string, version: string): Promise<void> => {
      await page.getByRole('button', { name: new RegExp(`${side}$`) }).click()
      await page.getByRole('option', { name: version, exact: true }).click()
    }
    await select('To', '2.0.0')
    await page.getByText('Updates break it in 1 place.').waitFor()
    await select('From', '2.0.0')
    await page.getByText('Nothing that could be compared breaks. Not compared: 1 ').waitFor()
    await assertSound(page)
  })

  test('without a host node is said to be so, and unknown ones not to be compared', async () => {
    const page = await console.open('/workflows')
    await choose(page, fileOf({ nodes: [] }))
    await page.getByText('There is no host node in this file.').waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Check another' }).click()
    await choose(page, fileOf({ nodes: [{ id: 1, type: 'NobodyHasThis' }] }))
    await page.getByText('Nothing that could be compared breaks. Not compared: 1 ').waitFor()
    await page.getByText('NobodyHasThis: No pack here has it in its latest version.').waitFor()
    assert.equal(await page.getByText('No update changes anything').count(), 0)
    await assertSound(page)
    await page.getByRole('button', { name: 'Check another' }).click()
    await choose(page, fileOf({ nodes: [{ id: 1, type: Sampler }] }))
    await page.getByText('with which version it was saved: choose the installed one.').waitFor()
  })

  test('of an example is opened from the page of a node that it uses', async () => {
    const owned = await makeRegistry(console.service).addPublisher({ user: 'bob' })
    const [pack, Shade] = [unique('shade-pack'), unique('Shade')]
    const added = await owned.addVersion({ nodeId: pack, version: '1.0.0' })
    const workflow = { nodes: [{ id: 1, type: Shade, title: 'The shade' }], links: [] }
    const files = {
      '__init__.py': `class Shade:\n  RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"${Shade}": Shade}`,
      'example_workflows/soft shade.json': JSON.stringify(workflow),
    }
    const entries = Object.entries(files).map(([name, data]) => ({ name, data, method: 8 }))
    assert.equal((await upload(added.signedUrl, writeZip(entries))).status, 200)
    await untilDecided(makeRegistry(console.service), added.version)
    const nodes = await console.open(`/registry/${pack}?tab=host-nodes`)
    await nodes.getByText('1 example workflow').click()
    await nodes.getByRole('link', { name: 'soft shade' }).waitFor()
    await assertSound(nodes)
    const page = await console.open(`/registry/${pack}/1.0.0?host-node=${Shade}`)
    const dialog = page.getByRole('dialog', { name: Shade })
    await dialog.getByText('Example workflow').first().waitFor()
    await assertSound(page)
    await dialog.getByRole('link', { name: 'soft shade' }).click()
    await page.getByText('soft shade.json: 1 node, 0 of the host, 1 in 1 pack, 0 unknown').waitFor()
    await page.getByRole('tab', { name: 'Nodes' }).click()
    await page.getByRole('application').locator('[data-key="#1"]').waitFor()
    await page.getByRole('button', { name: 'Check another' }).click()
    await page.getByRole('button', { name: 'Choose a file' }).waitFor()
    const missing = `/workflows?node=${pack}&version=1.0.0&path=none.json`
    const other = await console.open(missing)
    await other.getByText(/has no file/).waitFor()
  })

  test('is a list on a phone, whose nodes open by a press', async () => {
    const page = await console.open('/workflows?tab=nodes', { width: 390 })
    await choose(page, fileOf(workflowOf(1000)))
    const list = page.getByRole('list', { name: 'Nodes' })
    await list.getByRole('button').first().waitFor()
    assert.equal(await page.getByRole('application').count(), 0)
    const names = await list.getByRole('button').allTextContents()
    assert.match(names[0] ?? '', /^Main sampler/)
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('1000')
    await list.getByRole('button', { name: /node 1000/ }).click()
    await page.getByRole('dialog').waitFor()
    await assertSound(page)
  })

  test('of 1,000 nodes is dragged and zoomed by one attribute', async () => {
    const page = await console.open('/workflows?tab=nodes')
    await choose(page, fileOf(workflowOf(1000)))
    const drawing = page.getByRole('application')
    await drawing.locator('[data-key="#1000"]').waitFor({ state: 'attached' })
    await page.getByText('999 in 1 pack').waitFor()
    await page.getByText('Updates break it in 1 place.').waitFor()
    await drawing.focus()
    const transform = () => drawing.locator('svg > g').getAttribute('transform')
    const first = await transform()
    const scaleOf = async () => Number(/scale\((.*)\)/.exec((await transform()) ?? '')?.[1])
    await page.keyboard.press('ArrowRight')
    assert.notEqual(await transform(), first)
    const scale = await scaleOf()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    assert.ok(Math.abs((await scaleOf()) / scale - 1.25) < 1e-9)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Show all' }).click()
    assert.equal(await transform(), first)
    await drawing.hover()
    const scrolled = await page.evaluate('scrollY')
    await page.mouse.wheel(0, -400)
    await waitFor('the wheel zooms in', async () => (await scaleOf()) > scale)
    assert.equal(await page.evaluate('scrollY'), scrolled, 'the page itself does not scroll')
    await page.mouse.wheel(0, 400)
    await drawing.focus()
    await page.evaluate(
      `window.changed = new Set(); new MutationObserver((all) => all.forEach(({ target, attributeName }) => window.changed.add(target.nodeName + ' ' + attributeName))).observe(document.querySelector('[role=application]'), { subtree: true, childList: true, attributes: true, characterData: true })`,
    )
    await page.keyboard.press('+')
    await page.keyboard.press('-')
    const box = await drawing.boundingBox()
    assert.ok(box)
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x - 300, y - 100, { steps: 30 })
    await page.mouse.up()
    assert.equal(await page.getByRole('dialog').count(), 0, 'a drag opens nothing')
    assert.notEqual(await transform(), first)
    // Nothing is rendered again: a frame costs its painting alone.
    assert.deepEqual(await page.evaluate<string[]>('[...window.changed]'), ['g transform'])
  })
})
