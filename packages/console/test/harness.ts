import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'

import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'

import {
  assertSoundAs,
  findChromium,
  VIEWS,
  NO_CHROMIUM,
  startChromium,
  watchPage,
} from '../../../test/support/browser.ts'
import { isLong } from '../../../test/support/long.ts'
import { startService } from '../../../test/support/service.ts'
import type { Service } from '../../../test/support/service.ts'

const executable = findChromium()

/** For `describe`: the reason why there is no browser, said aloud. */
export const skip = executable === undefined && NO_CHROMIUM

/** For tests beside the main paths, which `npm test -- --long packages/console/test` has. */
export const inLong = {
  skip: skip || (!isLong && 'only with --long'),
}

export interface Visit {
  /** A development user; undefined is a visitor. */
  as?: string
  width?: number
  colorScheme?: 'light' | 'dark'
  /** That of the browser, such as `de-AT`. */
  locale?: string
  /** URL of another api process than that of the service. */
  baseUrl?: string
  /** Origins beside its own that the page may call. */
  allowed?: readonly string[]
  /** Shares cookies and storage with what was opened in it. */
  context?: BrowserContext
}

export interface Console {
  service: Service
  browser: Browser
  /** Opens an address below /console. What the page does that it must not fails the test. */
  open(path: string, visit?: Visit): Promise<Page>
}

type Shared = { service: Service; browser: Browser }

/** One service and one browser for some suites; the last that needs them stops them. */
type Room = { users: number; started?: Promise<Shared> }

/** Service that all files of this process share. */
const everybody: Room = { users: 0 }

type Settings = () => Promise<NodeJS.ProcessEnv>

const start = async (settings?: Settings): Promise<Shared> => {
  const more = await settings?.()
  const [service, browser] = await Promise.all([
    startService({
      development: true,
      env: {
        ADMIN_SUBJECTS: 'operator',
        OVERRIDE_DEVELOPMENT_USERS: 'alice,bob,carol,operator',
        OVERRIDE_VIDEO_TINY: 'true',
        ...more,
      },
    }),
    startChromium(executable ?? ''),
  ])
  return { service, browser }
}

/** Movements cost frames, and are waited for. */
const STILL = { reducedMotion: 'reduce' } as const

/**
 * For a suite: a service with development users, and pages in a browser that are watched and closed after each test. A suite
 * that fills the service, or has settings of its own, has one alone.
 */
export const useConsole = ({
  alone = false,
  settings,
}: { alone?: boolean; settings?: Settings } = {}): Console => {
  const own = { open: (path: string, visit?: Visit) => open(path, visit) } as Console
  const contexts: BrowserContext[] = []
  const issues: string[][] = []
  const room: Room = alone || settings ? { users: 0 } : everybody
  room.users += 1
  before(async () => {
    Object.assign(own, await (room.started ??= start(settings)))
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
    assert.deepEqual(issues.splice(0).flat().filter(isError), [])
  })
  after(async () => {
    room.users -= 1
    if (room.users > 0) return
    await own.browser?.close()
    await own.service?.stop()
  })
  const open = async (path: string, visit: Visit = {}): Promise<Page> => {
    const { baseUrl = own.service.baseUrl, width = 1280, colorScheme = 'light' } = visit
    const { locale = 'en-US' } = visit
    const viewport = { width, height: 900 }
    const context =
      visit.context ?? (await own.browser.newContext({ ...STILL, viewport, colorScheme, locale }))
    if (!visit.context) {
      contexts.push(context)
      if (visit.as !== undefined)
        await context.addInitScript(`sessionStorage['kiln.user'] ??= '${visit.as}'`)
    }
    const page = await context.newPage()
    issues.push(watchPage(page, baseUrl, ...(visit.allowed ?? [])))
    await page.goto(`${baseUrl}/console${path}`)
    await page.locator('h1').first().waitFor()
    return page
  }
  return own
}

/** A rejection of the service is none of the page. */
const isError = (line: string): boolean => !line.startsWith('Failed to load resource')

let turn = 0

/** Asserts that a page is sound: the short run takes two views by turns, the long run all. */
export const assertSound = async (page: Page): Promise<void> => {
  const views = isLong ? VIEWS : [VIEWS[turn++ % 2 ? 1 : 0]]
  const before = page.viewportSize()
  for (const view of views) await assertSoundAs(page, page.url(), view)
  // The turn says which view was last: what follows must not depend on it.
  if (before) await page.setViewportSize(before)
}

/** Chooses an entry of the menu of a row or a page, whose question opens. */
export const chooseEntry = async (
  where: Page | Locator,
  menu: string | RegExp,
  entry: string,
): Promise<void> => {
  const page = 'page' in where ? where.page() : where
  await where.getByRole('button', { name: menu, exact: true }).first().click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
  await page.getByRole('dialog').waitFor()
}
