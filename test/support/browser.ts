import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'

import { PACKAGED, unpackChromium } from './chromium.ts'
import { PATIENCE_MS } from './patience.ts'
import { findProgram } from './run-program.ts'

/** The reason for which browser tests are skipped. */
export const NO_CHROMIUM =
  'no Chromium, and none comes as a package for this machine: `apt-get install chromium`, or name one in CHROMIUM_PATH'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** The Chromium of CHROMIUM_PATH, else that on PATH, else that of a package. Throws when CHROMIUM_REQUIRED is set and there is none. */
export const findChromium = (): string | undefined => {
  const path = process.env['CHROMIUM_PATH'] || findProgram(...NAMES) || PACKAGED
  if (path === undefined && process.env['CHROMIUM_REQUIRED']) throw new Error(NO_CHROMIUM)
  return path
}

export const startChromium = async (executablePath: string): Promise<Browser> =>
  await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
    ...(executablePath === PACKAGED ? { env: await unpackChromium() } : {}),
    timeout: PATIENCE_MS,
  })

/**
 * Collects what a page must not do: requests of another origin, rejections by its policy, errors of its scripts. Gives its
 * waits the patience of tests.
 */
export const watchPage = (page: Page, ...origins: string[]): string[] => {
  const issues: string[] = []
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !origins.includes(new URL(request.url()).origin))
      issues.push(`asked ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error') issues.push(message.text())
  })
  page.on('pageerror', (error) => issues.push(error.message))
  return issues
}

interface Violation {
  impact: string
  id: string
  nodes: { target: string[] }[]
}

let axe: Promise<string> | undefined

/** Announcement of React Aria about a button that has gone meanwhile: it has no label left, and goes after seconds. */
const LEFT_OUT = JSON.stringify({ exclude: ['[data-live-announcer]'] })

/** Finds what axe-core calls serious or critical on the page as it stands, a line each. */
export const findBarriers = async (page: Page): Promise<string[]> => {
  axe ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  const violations = await page.evaluate<Violation[]>(
    `(async () => { if (!window.axe) { ${await axe} } return (await axe.run(${LEFT_OUT}, { resultTypes: ['violations'] })).violations })()`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ impact, id, nodes }) => `${impact} ${id}: ${String(nodes[0]?.target)}`)
}

interface View {
  width: number
  colorScheme: 'light' | 'dark'
}

/** Forms in which pages are checked. The short run has the first two: a phone in the dark, a screen in the light. */
export const VIEWS = [
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const satisfies View[]

/** Asserts that a page in one form is sound for axe-core and does not scroll sideways. Returns page and form. */
export const assertSoundAs = async (
  page: Page,
  what: string,
  { width, colorScheme }: View,
): Promise<string> => {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  // A page takes its new form when it draws its next frame.
  await page.evaluate('new Promise(requestAnimationFrame)')
  const title = `${what} at ${width} pixels, ${colorScheme}`
  assert.deepEqual(await findBarriers(page), [], title)
  const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(scrolled <= width, `${title}: ${scrolled} pixels wide`)
  return title
}
