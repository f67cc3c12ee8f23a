import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'

import { makeKiln } from '../../packages/client/src/index.ts'
import type { Kiln } from '../../packages/client/src/index.ts'
import { zipFolder } from '../../src/local/demo-publish.ts'
import { ROOT } from '../../src/local/root.ts'
import { startStack } from '../../src/local/stack.ts'
import { writeSmall } from './write-small.ts'
import { TEMPORAL_SETTINGS, takeTemporalPictures } from './temporal-pictures.ts'
import { findChromium, NO_CHROMIUM, startChromium } from '../../test/support/browser.ts'

const PICTURES = join(ROOT, 'docs/pictures')
const OUT = join(PICTURES, 'console')
const NODE = 'light-tools'

/** Pages to picture, each with its address and the user who opens it. */
const PAGES: [name: string, path: string, user: string][] = [
  ['home', '/', 'alice'],
  ['try', '/try/relight', 'alice'],
  ['tasks', '/tasks', 'alice'],
  ['task', '/tasks/{task}', 'alice'],
  ['registry', '/registry', 'alice'],
  ['node', `/registry/${NODE}`, 'alice'],
  ['version', `/registry/${NODE}/1.1.0?tab=host-nodes`, 'alice'],
  ['compare', `/registry/${NODE}/compare/1.0.0...1.1.0`, 'alice'],
  ['publishers', '/publishers', 'alice'],
  ['publisher', '/publishers/alice', 'alice'],
  ['publish', `/publishers/alice/publish?node=${NODE}`, 'alice'],
  ['moderation', '/moderation', 'operator'],
  ['operations', '/operations', 'operator'],
  ['account', '/account', 'alice'],
]

/** A screen in light colours, and a phone in dark ones, half as large as they are. */
const VIEWS = [
  { device: 'screen', viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  { device: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

/** Form in which the reference page is shown. */
const DOCS = { viewport: { width: 1200, height: 830 } }

/**
 * Takes pictures on a stack of its own with a few things in it: of every page of the console and of the reference after a
 * task was tried, or of the Temporal UI.
 */
export const takePictures = async (of: 'console' | 'temporal'): Promise<void> => {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(NO_CHROMIUM)
  const dataDir = await mkdtemp(join(tmpdir(), 'kiln-pictures-'))
  // PostgreSQL runs as another user when this is root, and has to get through.
  await chmod(dataDir, 0o711)
  const never = new AbortController().signal
  const stack = await startStack({
    dataDir,
    issuerDir: dataDir,
    env: process.env,
    ...(of === 'temporal' && { settings: TEMPORAL_SETTINGS }),
    say,
    interrupt: { stop: never, force: never },
  })
  const browser = await startChromium(executablePath)
  try {
    if (of === 'temporal')
      return await takeTemporalPictures(browser, stack, join(PICTURES, 'temporal'))
    const kiln = makeKiln({ baseUrl: stack.url, token: () => stack.token('alice') })
    const task = await fill(kiln)
    await mkdir(OUT, { recursive: true })
    for (const [name, path, user] of PAGES)
      for (const { device, ...options } of VIEWS) {
        const url = `${stack.url}/console${path.replace('{task}', task)}`
        const png = await photograph(browser, { url, user, ...options })
        await writeSmall(join(OUT, `${name}-${device}.webp`), png, options.viewport.width)
      }
    const page = await browser.newPage({ ...DOCS, reducedMotion: 'reduce' })
    await writeSmall(join(PICTURES, 'docs-page.webp'), await tryTask(page, stack.url), 1200)
  } finally {
    await browser.close()
    await stack.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const tryTask = async (page: Page, url: string): Promise<Buffer> => {
  await page.goto(`${url}/docs`)
  await page.getByRole('button', { name: 'Act as alice' }).click()
  const routes = page.locator('#routes')
  await routes.getByText('Image tasks', { exact: true }).click()
  await routes.getByRole('link', { name: /^POST/ }).first().click()
  for (const name of ['Try it out', 'Execute', 'Follow this task'])
    await page.getByRole('button', { name, exact: true }).first().click()
  await page.locator('.outcome img').waitFor()
  await page.waitForTimeout(1500)
  await page.evaluate(`document.querySelector('.outcome').scrollIntoView({ block: 'end' })`)
  return await page.screenshot()
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Some tasks, and a node with two versions; returns the id of a task. */
const fill = async (kiln: Kiln): Promise<string> => {
  const image = new Uint8Array(await readFile(join(ROOT, 'samples/portrait.png')))
  const lit = await kiln.relight({ image, prompt: '(sunset:1.3) from the left' })
  const others = await Promise.all([
    kiln.upscale({ image, scale_factor: '2x' }),
    kiln.textToVideo({ model: 'videoq2-pro', prompt: 'Sunset over a calm ocean', duration: 1 }),
  ])
  await Promise.all([lit, ...others].map((task) => kiln.wait(task)))
  const { POST } = kiln.routes
  await POST('/publishers', { body: { id: 'alice', name: 'Alice' } })
  const path = { publisherId: 'alice' }
  const made = await POST('/publishers/{publisherId}/tokens', {
    params: { path },
    body: { name: 'laptop' },
  })
  let versionId = ''
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    const verdict = await kiln.registry.publish({
      publisherId: 'alice',
      nodeId: NODE,
      token: made.data?.token ?? '',
      node: { name: 'Light tools', description: 'Mixes and measures light.', tags: ['light'] },
      version: { version, changelog: 'Quicker, and easier to read.' },
      archive: await zipPack(version),
    })
    versionId = verdict.version.id
  }
  await POST('/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review', {
    params: { path: { ...path, nodeId: NODE, versionId } },
    body: { note: 'It only measures how long a render takes.' },
  })
  return lit.id
}

/** The sample pack; 1.1.0 has other inputs, and 1.2.0 something that the scan holds back. */
const zipPack = async (version: string): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-pack-'))
  await cp(join(ROOT, 'samples/pack'), folder, { recursive: true })
  if (version !== '1.0.0') {
    const path = join(folder, 'light.py')
    const text = (await readFile(path, 'utf8')).replaceAll('shoulder', 'knee')
    const risky = "\n\ndef warm_up(code):\n    exec(__import__('base64').b64decode(code))\n"
    await writeFile(path, version === '1.2.0' ? text + risky : text)
  }
  const archive = new Uint8Array(await zipFolder(folder))
  await rm(folder, { recursive: true })
  return archive
}

interface Sitting {
  url: string
  user: string
  viewport: { width: number; height: number }
  colorScheme: 'light' | 'dark'
}

const photograph = async (browser: Browser, { url, user, ...view }: Sitting): Promise<Buffer> => {
  const page = await browser.newPage({ ...view, reducedMotion: 'reduce' })
  await page.addInitScript(`sessionStorage['kiln.user'] ??= '${user}'`)
  await page.goto(url)
  await page.locator('h1').first().waitFor()
  // Live pages keep a stream open, so that the network is never idle.
  await page.waitForTimeout(1500)
  const png = await page.screenshot()
  await page.close()
  return png
}
