import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Locator, Page } from 'playwright-core'

import { makeRegistry, unique } from '../../../test/registry/http/registry-support.ts'
import type { Owned, Registry } from '../../../test/registry/http/registry-support.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { expectStatus } from '../../../test/support/client.ts'
import { assertSound, inLong, skip, useConsole } from './harness.ts'

/** Text that a stranger may write: a script, an image that fails, a turned direction, and more than any box holds. */
const EVIL = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script>\u202e${'x'.repeat(120)}`
const EVIL_NAME = EVIL.slice(0, 120)

const MIXER = {
  display_name: 'Light Mixer',
  category: 'kiln/light',
  description: 'Mixes light.',
  input_types: {
    required: {
      image: ['IMAGE'],
      mode: [['add', 'screen']],
      steps: ['INT', { default: 20, min: 1, max: 100 }],
      note: ['STRING', { multiline: true }],
      tile: ['BOOLEAN', { default: true }],
    },
    optional: { mask: ['MASK,IMAGE'] },
  },
  return_types: ['IMAGE', 'MASK'],
  return_names: ['image', 'masks'],
  output_is_list: [false, true],
}

const MIXER_LATER = {
  ...MIXER,
  input_types: {
    required: {
      ...MIXER.input_types.required,
      note: ['STRING', { multiline: true, default: 'soft' }],
      strength: ['FLOAT', { default: 1 }],
    },
  },
  return_types: ['LATENT', 'MASK'],
}

/** More rows than are drawn unasked. */
const WIDE = {
  input_types: {
    required: Object.fromEntries(Array.from({ length: 312 }, (_, row) => [`row ${row}`, ['INT']])),
  },
}

const EVIL_HOST_NODE = {
  display_name: EVIL,
  category: EVIL,
  description: EVIL,
  input_types: {
    required: {
      [EVIL]: [EVIL],
      [`combo ${EVIL}`]: [[EVIL]],
      area: ['STRING', { multiline: true, default: EVIL }],
      text: ['STRING', { default: EVIL }],
      on: ['BOOLEAN', { default: true, label_on: EVIL }],
      url: ['STRING', { default: 'javascript:window.hit=1' }],
    },
  },
  return_types: [EVIL, 'javascript:window.hit=1'],
  return_names: [EVIL, 'url(javascript:window.hit=1)'],
  output_is_list: [true],
}

/** Its link in the list of all that is found, not in the short lists above. */
const mixerIn = (page: Page): Locator =>
  page.getByRole('list', { name: 'Packs' }).getByRole('link', { name: 'Light Mixer Pack' })

describe('the registry of the console', { skip }, () => {
  const console = useConsole()
  let registry: Registry
  let owned: Owned
  const nodeId = unique('light-mixer')

  const publish = async (
    version: string,
    nodes: object,
    options: { nodeId?: string; node?: object; given?: object } = {},
  ): Promise<void> => {
    const added = await owned.addActive({ nodeId, version, ...options })
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
  }

  before(async () => {
    registry = makeRegistry(console.service)
    owned = await registry.addPublisher({ user: 'alice' })
    const node = { name: 'Light Mixer Pack', tags: ['light'], supported_os: ['Linux'] }
    await publish('1.0.0', { LightMixer: MIXER, Wide: WIDE, Gone: MIXER }, { node })
    await publish('1.1.0', { LightMixer: MIXER_LATER, Wide: WIDE })
    await owned.addFlagged({ nodeId, version: '1.2.0' })
  })

  test('leads from a typed word to the node, the cards of a version and what changed in it', async () => {
    const page = await console.open('/registry')
    await page.getByRole('button', { name: 'Relevance Sort by' }).waitFor()
    await page
      .getByRole('searchbox', { name: 'Search the registry' })
      .pressSequentially('light mixer')
    await mixerIn(page).waitFor()
    await page.waitForURL(/\?q=light(\+|%20)mixer$/)
    await page.getByRole('checkbox', { name: 'light 1' }).waitFor()
    await assertSound(page)
    await mixerIn(page).click()
    await page.getByText('1.2.0 is flagged. Latest is 1.1.0.').waitFor()
    await page
      .getByRole('link', { name: /breaking changes?/ })
      .first()
      .waitFor()
    await assertSound(page)
    await page.getByRole('tab', { name: '3 versions' }).click()
    await page.getByRole('link', { name: '1.0.0', exact: true }).click()
    const card = page.getByRole('group', { name: 'Light Mixer' }).first()
    await card.waitFor()
    assert.deepEqual(await card.getByRole('listitem').allInnerTexts(), [
      'image\n, IMAGE',
      'mask\n, MASK,IMAGE, optional',
      'image\n, IMAGE',
      'masks\n, MASK, list',
      'mode\n, COMBO, 2 choices\nadd',
      'steps\n, INT\n20',
      'note\n, STRING',
      'tile\n, BOOLEAN\ntrue',
    ])
    await assertGeometry(page, card)
    await page.getByRole('button', { name: 'Show all 312 rows' }).click()
    await page.getByText('row 311', { exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('MASK')
    await page.getByText('2 nodes', { exact: true }).waitFor()
    await assertSound(page)
    await page.goto(page.url().replace(/1\.0\.0.*/, 'compare/1.0.0...1.1.0'))
    await page.getByRole('heading', { name: /^Gone/ }).waitFor()
    await page.keyboard.press('n')
    await page.keyboard.press('n')
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^LightMixer/)
    await page.getByText('strength, FLOAT, new').waitFor()
    await page.getByText('mask, MASK,IMAGE, optional, removed').waitFor()
    await page.getByText('The output 1, "image", gave "IMAGE" and gives "LATENT".').waitFor()
    // Nothing is before the mark, and nothing cuts it off.
    const note = page.getByRole('listitem').filter({ hasText: 'note, STRING, changed' })
    await note.getByText('~').last().click({ trial: true })
    await assertSound(page)
    await page.goto(page.url().replace(/registry.*/, 'registry/no-such-node'))
    await page.getByText('There is no pack "no-such-node".').waitFor()
    await page.getByRole('link', { name: 'All packs' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  })

  test('opens with what is popular, new and updated, and names what a typing error meant', async () => {
    for (const number of [1, 2, 3, 4, 5, 6])
      await owned.addActive({ nodeId: unique('glow'), node: { name: `Soft Glow ${number}` } })
    await owned.addNode({ name: 'Nothing to install' })
    const page = await console.open('/registry')
    for (const title of ['Popular', 'New', 'Recently updated']) {
      const few = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: title }) })
      await few.getByRole('listitem').first().waitFor()
      assert.equal(await few.getByText('Nothing to install').count(), 0)
      assert.ok((await few.getByRole('listitem').count()) <= 4)
    }
    await assertSound(page)
    await page.getByRole('searchbox', { name: 'Search the registry' }).fill('ligth mixr')
    await page.getByText(/Did you mean .*Light Mixer Pack/).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Popular' }).count(), 0)
    await assertSound(page)
    await page.getByRole('link', { name: 'Light Mixer Pack' }).click()
    await page.waitForURL(/\/registry\/light-mixer/)
    await page.goto(`${console.service.baseUrl}/console/registry?q=wqxzvy`)
    await page.getByText('Check the spelling.').waitFor()
    await page.getByRole('link', { name: 'Search nodes for “wqxzvy”' }).click()
    await page.waitForURL(/q=wqxzvy&in=host-nodes/)
  })

  test('is walked by keyboard alone, from a search to a host node', inLong, async () => {
    const page = await console.open('/registry')
    const packs = page.getByRole('list', { name: 'Packs' })
    await mixerIn(page).waitFor()
    await page.keyboard.press('j')
    assert.ok(await isFocused(page.locator('main [data-index="0"]')), 'j leads into the rows')
    await page.keyboard.press('/')
    await page.keyboard.type('light mixer')
    const row = packs.locator('[data-index="0"]').filter({ hasText: 'Light Mixer Pack' })
    await row.waitFor()
    await tabTo(page, row)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/registry/${nodeId}`)
    const title = page.getByRole('heading', { name: 'Light Mixer Pack', level: 1 })
    await title.waitFor()
    assert.ok(await isFocused(title), 'the title has the focus')
    await tabTo(page, page.getByRole('tab', { name: 'Overview' }))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    const open = page.getByRole('button', { name: 'Open Light Mixer' })
    await open.waitFor()
    await tabTo(page, open)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Inputs as declared by the pack').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.ok(await isFocused(open), 'the focus is back')
  })

  test('a search that is rejected for a while counts down, and goes on', inLong, async () => {
    const page = await console.open('/registry')
    await page.clock.install()
    await page.reload()
    await mixerIn(page).waitFor()
    await page.route(
      /nodes.search.*page=/,
      async (route) => {
        // From now on time passes as the test says.
        await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 60_000)
        await route.fulfill({
          status: 429,
          headers: { 'retry-after': '3' },
          json: { error: 'rate_limited', message: 'Too many requests.', details: [] },
        })
      },
      { times: 1 },
    )
    await page.getByRole('searchbox', { name: 'Search the registry' }).fill('light mixer')
    const rejection = page.getByText('Trying again in')
    await waitFor('the rejection', async () => {
      await page.clock.runFor(1)
      return await rejection.isVisible()
    })
    const left = Number(/ (\d) s\.$/.exec(await rejection.innerText())?.[1])
    await page.clock.runFor(1000)
    await page.getByText(`Trying again in ${left - 1} s.`).waitFor()
    await page.clock.resume()
    await mixerIn(page).waitFor()
    await rejection.waitFor({ state: 'detached' })
  })

  test('announces a new build, and loads it at a press', inLong, async () => {
    const page = await console.open('/registry')
    await mixerIn(page).waitFor()
    await page.route('**/service', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), build: 'another' } })
    })
    // All is read again once there is an api again.
    await console.service.entry('api').kill()
    await page.getByRole('searchbox', { name: 'Search the registry' }).fill('mixer')
    await page.getByText('Kiln does not respond').waitFor()
    await console.service.start('api')
    await page.getByText('A new version is here.').waitFor()
    await page.unroute('**/service')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByText('A new version is here.').waitFor({ state: 'detached' })
    await mixerIn(page).waitFor()
  })

  test('shows what strangers wrote as text, and follows none of it', async () => {
    const id = unique('evil')
    await publish(
      '1.0.0',
      { [EVIL]: EVIL_HOST_NODE, '<b>plain</b>': { input_types: 'no JSON <script>' } },
      {
        nodeId: id,
        node: {
          name: EVIL_NAME,
          description: EVIL,
          author: EVIL_NAME,
          license: EVIL,
          tags: ['<script>window.hit=1</script>'],
          icon: `${console.service.baseUrl}/evil.svg`,
          repository: 'http://example.com/javascript:window.hit=1',
        },
        given: { changelog: EVIL, dependencies: [EVIL], supported_os: ['<img src=x>'] },
      },
    )
    await publish('1.1.0', { [EVIL]: { ...EVIL_HOST_NODE, return_types: [EVIL] } }, { nodeId: id })
    await owned.addFlagged({ nodeId: id, version: '1.2.0', given: { changelog: EVIL } })
    const page = await console.open('/registry?q=img&in=host-nodes', { as: 'alice', width: 390 })
    await page.getByText('U+202E').first().waitFor()
    await assertHarmless(page)
    for (const [path, seen] of [
      ['', 'is flagged'],
      ['?tab=about', 'License'],
      ['?tab=host-nodes', '1 node'],
      ['/1.0.0', '2 nodes'],
      [`/1.0.0?host-node=${encodeURIComponent(EVIL)}`, 'As declared by the pack'],
      ['/1.0.0?tab=findings', 'Not checked yet'],
      ['/1.0.0?tab=details', 'Requires'],
      ['/compare/1.0.0...1.1.0', 'breaks'],
    ] as const) {
      await page.goto(`${console.service.baseUrl}/console/registry/${id}${path}`)
      await page.getByText(seen).first().waitFor()
      await assertHarmless(page)
    }
  })
})

const isFocused = async (element: Locator): Promise<boolean> =>
  (await element.and(element.page().locator(':focus')).count()) > 0

/** Presses Tab until an element has the focus. */
const tabTo = async (page: Page, element: Locator): Promise<void> => {
  for (let presses = 0; presses < 60 && !(await isFocused(element)); presses += 1)
    await page.keyboard.press('Tab')
  assert.ok(await isFocused(element), `Tab leads to ${String(element)}`)
}

/** Asserts that nothing ran, nothing was made an element or a link, and nothing is wider than the page. */
const assertHarmless = async (page: Page): Promise<void> => {
  const found = await page.evaluate<{ hit: unknown; made: number; links: string[]; width: number }>(
    `({
      hit: window.hit ?? null,
      made: document.querySelectorAll('main script, main img:not([src^="/nodes/"]), main bdi :not(code), main svg:not(.lucide)').length,
      links: [...document.querySelectorAll('main a')].map((link) => link.getAttribute('href')),
      width: document.documentElement.scrollWidth,
    })`,
  )
  assert.deepEqual([found.hit, found.made], [null, 0])
  assert.deepEqual(
    found.links.filter((href) => !href.startsWith('/console/')),
    [],
  )
  assert.ok(found.width <= 390, `${page.url()} is ${found.width} pixels wide`)
}

type Box = { x: number; y: number; width: number; height: number }

/** Asserts the measures of the host's canvas: console.md 6. */
const assertGeometry = async (page: Page, card: Locator): Promise<void> => {
  // A card is as wide as its text until the font is there.
  const outer = await waitFor('the card has its font', async () => {
    const box = await boxOf(card)
    return box.width === 400 && box
  })
  const within = async (locator: Locator): Promise<Box> => {
    const { x, y, ...size } = await boxOf(locator)
    return { x: x - outer.x, y: y - outer.y, ...size }
  }
  assert.deepEqual(await within(card.getByRole('heading')), { x: 0, y: 0, width: 400, height: 30 })
  const dots = card.locator('li > span[aria-hidden]')
  const rows = 30 + 4
  assert.deepEqual(await within(dots.nth(0)), { x: 6, y: rows + 6, width: 8, height: 8 })
  assert.deepEqual(await within(dots.nth(1)), { x: 6, y: rows + 26, width: 8, height: 8 })
  assert.deepEqual(await within(dots.nth(2)), { x: 400 - 13, y: rows + 6, width: 8, height: 8 })
  const widgets = card.getByRole('list', { name: 'Inputs with a widget' }).getByRole('listitem')
  const top = rows + 2 * 20 + 2
  const pill = { x: 15, width: 370, height: 20 }
  assert.deepEqual(await within(widgets.nth(0)), { ...pill, y: top })
  assert.deepEqual(await within(widgets.nth(1)), { ...pill, y: top + 24 })
  assert.deepEqual(await within(widgets.nth(2)), { ...pill, y: top + 48, height: 60 })
  assert.deepEqual(await within(widgets.nth(3)), { ...pill, y: top + 112 })
  assert.equal(outer.height, top + 112 + 24 + 6)
  const styles = await page.evaluate<string[]>(
    `['', ' h3', ' li'].map((part) => {
      const one = getComputedStyle(document.querySelector('main [role=group]' + part))
      return [one.borderRadius, one.fontSize, one.lineHeight].join(' ')
    })`,
  )
  assert.deepEqual(styles, ['8px 12px 20px', '8px 8px 0px 0px 14px 30px', '0px 12px 20px'])
}

const boxOf = async (locator: Locator): Promise<Box> => {
  const box = await locator.boundingBox()
  assert.ok(box)
  return box
}
