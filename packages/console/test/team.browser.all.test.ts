import { request } from 'node:http'
import type { RequestListener } from 'node:http'
import { before, describe, test } from 'node:test'

import type { Page } from 'playwright-core'

import { findPort } from '../../../src/local/port.ts'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { useReceiver } from '../../../test/support/network.ts'
import { BUILTIN, linkIn, operateUser, PASSWORD } from '../../../test/support/sign-in.ts'
import { writeZip } from '../../../test/support/zip-writer.ts'
import { skip, useConsole } from './harness.ts'

/** Browsers find every name below `localhost` on this machine, and a passkey needs a name. */
const NAME = 'kiln.localhost'
const PRODUCTION = {
  ...BUILTIN,
  NODE_ENV: 'production',
  OVERRIDE_DEVELOPMENT_ISSUER_KEY: '',
  ADMIN_SUBJECTS: '',
  OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: '',
  OVERRIDE_VIDEO_TINY: '',
  TRUST_PROXY: '127.0.0.1',
}

const PACK = writeZip([
  { name: 'pyproject.toml', data: '[project]\nname = "team-mixer"\nversion = "1.0.0"\n' },
  {
    name: '__init__.py',
    data: 'class Mixer:\n    RETURN_TYPES = ("IMAGE",)\n\n\nNODE_CLASS_MAPPINGS = {"Mixer": Mixer}\n',
  },
])

const press = (page: Page, name: string | RegExp, role: 'button' | 'link' = 'button') =>
  page.getByRole(role, { name, exact: typeof name === 'string' }).click()

describe('a team, by docs/guides/production.md', { skip }, () => {
  const console = useConsole()
  let [baseUrl, port] = ['', '']

  /** Ends TLS and says who asked, as a proxy before the service does. */
  const forward: RequestListener = (incoming, response) => {
    const { method, url = '/', socket } = incoming
    const headers = { ...incoming.headers, 'x-forwarded-for': String(socket.remoteAddress) }
    const onward = request({ host: '127.0.0.1', port, path: url, method, headers }, (result) => {
      response.writeHead(result.statusCode ?? 502, result.headers)
      result.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  }
  const proxy = useReceiver(forward, makeCertificate([NAME]))

  before(async () => {
    port = String(await findPort())
    baseUrl = `https://${NAME}:${proxy.port}`
    await console.service.startSecondApi({ ...PRODUCTION, PORT: port, PUBLIC_URL: baseUrl })
  })

  /** Opens the link of somebody in a browser of their own, sets their password and signs in. */
  const enter = async (link: string, email: string): Promise<Page> => {
    const context = await console.browser.newContext({ ignoreHTTPSErrors: true })
    const page = await console.open('/', { baseUrl, context })
    await page.goto(link)
    await page.getByLabel('New password').fill(PASSWORD)
    await press(page, 'Set password')
    await page.getByText('Sign in with it.').waitFor()
    await page.goto(baseUrl)
    await press(page, 'Sign in', 'link')
    await press(page, /^Sign in at/)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    await page.getByRole('button', { name: `Signed in as ${email}` }).waitFor()
    return page
  }

  test('begins with an admin, who invites another, who publishes what the admin then sees', async () => {
    const { sql } = console.service.database
    const email = 'ann@example.com'
    const added = await operateUser({ sql, baseUrl }, { verb: 'add', email, isAdmin: true })
    const ann = await enter(linkIn(added), email)
    await ann.goto(`${baseUrl}/console/account`)
    await press(ann, 'Password, passkeys and sessions', 'link')
    await press(ann, 'People', 'link')
    await ann.getByLabel('Email').fill('ben@example.com')
    await press(ann, 'Make an invitation link')
    const ben = await enter(linkIn(await ann.locator('code').innerText()), 'ben@example.com')

    await ben.goto(`${baseUrl}/console/publishers`)
    await press(ben, 'Create a publisher')
    await ben.getByRole('textbox', { name: 'Id' }).fill('ben-packs')
    await press(ben, 'Create publisher')
    await press(ben, 'Publish a pack', 'link')
    const file = { name: 'team-mixer.zip', mimeType: 'application/zip', buffer: PACK }
    await ben.locator('input[accept*=zip]').setInputFiles(file)
    await press(ben, 'Publish 1.0.0')
    await ben.getByText('1.0.0 is published').waitFor()

    await ann.goto(`${baseUrl}/console/registry/team-mixer`)
    await ann.getByRole('heading', { name: 'team-mixer' }).waitFor()
    await ann.goto(`${baseUrl}/console/moderation?tab=log`)
    const published = 'ben@example.com Published version team-mixer 1.0.0 127.0.0.1'
    await ann.getByRole('row', { name: published }).waitFor()
    for (const page of [ann, ben]) await page.context().close()
  })
})
