import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import type { Page, Route } from 'playwright-core'

import { ROOT } from '../../../src/local/root.ts'
import { tokenIn } from '../src/api/links.ts'
import { assertMembers, expectStatus, listOf, makeClient } from '../../../test/support/client.ts'
import { base64 } from '../../../test/support/pictures.ts'
import { useWebhookReceiver } from '../../../test/support/receiver.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, chooseEntry, inLong, skip, useConsole } from './harness.ts'

const EVIL = '<img src=x onerror=alert(1)> \u202e'

describe('tasks in the console', { skip }, () => {
  const console = useConsole()
  const receiver = useWebhookReceiver({
    script: { '/kiln': ({ response }) => response.writeHead(503).end('busy <b>now</b>') },
  })

  test('a task is made with labels, found by one of them, and counted in the usage', async () => {
    const page = await console.open('/try/text2video', { as: 'alice' })
    await page.getByRole('textbox', { name: 'Prompt' }).fill('a labelled sea')
    await page.getByText('Options', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Labels' }).fill('project: north\nteam: red')
    await page.getByRole('textbox', { name: 'End within (seconds)' }).fill('0')
    await page.getByText(/must be a whole number of seconds from 1 to 604800, got 0/i).waitFor()
    await page.getByRole('textbox', { name: 'End within (seconds)' }).fill('3600')
    await page.getByText('Price:').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('link', { name: 'Open the task' }).click()
    await page.getByRole('link', { name: 'team: red' }).waitFor()
    await assertSound(page)
    await page
      .getByRole('button', { name: /video.mp4/ })
      .or(page.getByText('video.mp4'))
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'project: north' }).click()
    await page.waitForURL(/label=project/)
    await page.getByText('a labelled sea').first().waitFor()
    const field = page.getByRole('searchbox', { name: 'Label' })
    assert.equal(await field.inputValue(), 'project:north')
    await field.fill('project:south')
    await page.getByText('No tasks match.').waitFor()
    await field.fill('project:north')
    await page.getByText(/^waited .*s, ran .*s$/).waitFor()
    await assertSound(page)

    await page.goto(page.url().replace(/tasks.*/, 'account?tab=usage'))
    const today = page.getByRole('list', { name: 'Tasks by day' }).getByRole('listitem').last()
    await today.getByText(/^[1-9]/).waitFor()
    await page.getByRole('heading', { name: 'Limits' }).waitFor()
    await page.getByText('Videos at once').waitFor()
    await page.getByRole('radio', { name: 'A year' }).click()
    await page.getByRole('list', { name: 'Tasks by month' }).waitFor()
    await page.getByRole('radio', { name: 'Credits' }).click()
    await page.getByRole('list', { name: 'Credits by month' }).waitFor()
    await page.getByRole('radio', { name: 'Label' }).click()
    await page.getByRole('textbox', { name: 'Label' }).fill('project')
    await page.getByRole('cell', { name: 'north' }).waitFor()
    await assertSound(page)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).last().click()
    const csv = await readFile(await (await download).path(), 'utf8')
    assert.match(csv, /^label:project,done,[^]*\nnorth,1,/)
    const { baseUrl } = console.service
    const alice = makeClient(baseUrl, await console.service.token('alice'))
    const made = expectStatus(await alice.post('/users/api-keys', { name: 'nightly' }), 201)
    const keyed = makeClient(baseUrl, String(made.body['key']))
    await alice.delete(`/tasks/${await keyed.createImage({ kiln_start_after: 3600 })}`)
    await page.getByRole('radio', { name: 'API key' }).click()
    await page.getByRole('cell', { name: 'nightly' }).waitFor()
    assert.equal(await page.getByRole('radio', { name: /Owner/ }).count(), 0)
    const admin = await console.open('/account?tab=usage', { as: 'operator' })
    await admin.getByRole('radio', { name: 'Owner, of everyone' }).click()
    await admin.getByRole('cell', { name: 'alice' }).waitFor()
    await assertSound(admin)
  })

  test('a picture is dropped, its task runs to its end, and its page shows it and its deliveries', async () => {
    const page = await console.open('/try/relight', { as: 'alice' })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Required: add an image').waitFor()
    const strength = page.getByRole('textbox', { name: 'Light transfer strength' })
    await strength.fill('400')
    await page.getByText('must be a number from 0 to 100, got 400').waitFor()
    await drop(page, 'Image', join(ROOT, 'samples/thumbnail.jpg'))
    await page.getByRole('textbox', { name: 'Prompt' }).fill(EVIL)
    await strength.fill('80')
    await page.getByText('free').waitFor()
    await page.getByText('Advanced', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Webhook URL' }).fill(receiver.url('/kiln'))
    // The press is repeated with its key once there is an api again: one task is made.
    await page.getByText('free').waitFor()
    await console.service.entry('api').kill()
    await page.getByRole('button', { name: 'Send' }).click()
    await console.service.start('api')
    const split = page.getByRole('slider', { name: 'Part that shows the picture before' })
    await split.focus()
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('ArrowLeft')
    assert.equal(await split.inputValue(), '34')
    await page.getByRole('radio', { name: '2:1' }).click()
    await page.getByText('320 × 240').waitFor()
    await assertSound(page)

    await page.getByRole('link', { name: 'Open the task' }).click()
    await page.getByRole('heading', { name: 'Relight', level: 1 }).waitFor()
    await page.getByText('The webhook URL responded with a server error').first().waitFor()
    await page.getByText('busy <b>now</b>').first().waitFor()
    await page.getByText('U+202E').first().waitFor()
    // By role is what is read out: the next kinds with their purpose, no arrows, nothing twice.
    await page.getByRole('group', { name: 'Use as input' }).getByRole('link').first().waitFor()
    const tree = await page.locator('main').ariaSnapshot()
    assert.doesNotMatch(tree, /→|✕|text: before/)
    await assertSound(page)
    receiver.script('/kiln', ({ response }) => response.end('taken at last'))
    await page.getByRole('button', { name: 'Resend' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText(/^Event #\d was resent$/).waitFor()
    await page.getByText('delivered').first().waitFor()
    await page.getByText('taken at last').first().waitFor()

    const admin = await console.open(new URL(page.url()).pathname.replace('/console', ''), {
      as: 'operator',
    })
    await admin.getByText('320 × 240').first().waitFor()
    await admin.getByText('Only its owner may open it.').waitFor()
    await admin.getByRole('slider').waitFor({ state: 'detached' })
    await admin.getByRole('img', { name: 'Before' }).waitFor({ state: 'detached' })

    await page.getByRole('link', { name: 'Run again' }).click()
    await page.waitForURL(/relight$/)
    assert.equal(await page.getByRole('textbox', { name: 'Prompt' }).inputValue(), EVIL)
    assert.equal(await strength.inputValue(), '80')
    await page.reload()
    assert.equal(await strength.inputValue(), '80')
  })

  test('what subscriptions get of a task is on its page and among the events, what is sent to nobody is not', async () => {
    const bob = makeClient(console.service.baseUrl, await console.service.token('bob'))
    const url = receiver.url('/subscribed')
    await bob.post('/endpoints', { url, events: ['video_task.success'] })
    const id = await bob.createVideo({ prompt: 'a subscribed sea' })
    const page = await console.open(`/tasks/${id}`, { as: 'bob' })
    const sent = page.getByRole('group', { name: `to ${url}` })
    await sent.getByText('delivered').waitFor()
    await page.getByText('Attempt 1', { exact: true }).waitFor()
    assert.equal(await page.getByText('No webhook is set').count(), 0)
    // The task ended between the two reads.
    const dropLast = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      const { events, ...rest } = (await response.json()) as { events: object[] }
      await route.fulfill({ response, json: { ...rest, events: events.slice(0, -1) } })
    }
    await page.route(/\/tasks\/[^/]+\/events$/, dropLast, { times: 1 })
    await page.reload()
    await sent.getByText('delivered').waitFor()
    await sent.getByRole('button', { name: 'Resend' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
    await page.getByText(/^Event #\d was resent$/).waitFor()
    await page.getByText('Attempt 2', { exact: true }).waitFor()
    await assertSound(page)
    await page.goto(page.url().replace(/tasks.*/, 'account?tab=events'))
    const row = page.getByRole('row', { name: 'a subscribed sea' })
    await row.getByText(new URL(url).host).waitFor()
    await row.getByRole('button', { name: 'Copy event ID' }).waitFor()
    assert.equal(await row.count(), 1)
    assert.equal(await page.getByText('not sent').count(), 0)
    await assertSound(page)
  })

  test('a picture whose link has ended is the one before, and its task is shared, read as JSON and deleted', async () => {
    const { baseUrl, database } = console.service
    const carol = makeClient(baseUrl, await console.service.token('carol'))
    const first = await carol.createImage({ image: await base64({ width: 320, height: 240 }) })
    const { generated } = await carol.untilEnded('image-upscaler', first)
    const image = generated[0] ?? ''
    const id = await carol.createImage({ image, scale_factor: '2x' })
    await carol.untilEnded('image-upscaler', id)
    const { sql } = database
    await sql`update task_input set url = regexp_replace(url, 'expires=[0-9]+', 'expires=1') where task_id = ${id}`
    const page = await console.open(`/tasks/${id}`, { as: 'carol' })
    await page.getByText('1280 × 960').first().waitFor()
    const width = `document.querySelector('img[alt=Before]')?.naturalWidth ?? 0`
    await waitFor('the picture before', async () => (await page.evaluate<number>(width)) === 640)
    await page.getByText(`GET /tasks/${id}`).click()
    await page.getByRole('region', { name: 'JSON' }).getByText('"stored_url"').waitFor()
    await assertSound(page)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download JSON' }).click()
    const task = JSON.parse(await readFile(await (await download).path(), 'utf8')) as object
    assertMembers(task, { task_id: id, state: 'done' })

    await chooseEntry(page, 'More for this task', 'Share')
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = new URL((await page.getByRole('region', { name: 'secret' }).textContent()) ?? '')
    const token = tokenIn(link.hash) ?? ''
    await page.getByText(/^It ends in /).waitFor()
    await assertSound(page)
    const shared = expectStatus(await makeClient(baseUrl, token).get(`/tasks/${id}`), 200)
    const [input] = listOf<{ url: string; stored_url?: string }>(shared, 'inputs')
    assert.deepEqual([input?.url, input?.stored_url], [image.replace(/\?.*/, ''), undefined])
    await page.getByRole('button', { name: 'Close' }).click()
    for (const as of [undefined, 'bob']) {
      const visit = as === undefined ? {} : { as }
      const other = await console.open(link.href.replace(/.*console/, ''), visit)
      await other.getByText('You see this task by a link').waitFor()
      await other.getByText('1280 × 960').first().waitFor()
      await waitFor('the result', () =>
        other.evaluate<boolean>(`document.querySelector('img[alt=After]')?.naturalWidth === 1280`),
      )
      for (const name of ['More for this task', 'Run again', 'Relight'])
        assert.equal(await other.locator('main').getByText(name).count(), 0, name)
      if (as === undefined) await assertSound(other)
    }
    await sql`update task_token set expires_at = clock_timestamp() where task_id = ${id}`
    const holder = makeClient(baseUrl, token)
    await waitFor('its end', async () => (await holder.get(`/tasks/${id}`)).status === 401)
    const late = await console.open(link.href.replace(/.*console/, ''))
    await late.getByText('This link has ended.').waitFor()

    await chooseEntry(page, 'More for this task', 'Delete')
    await page.getByRole('button', { name: 'Delete task' }).click()
    await page.getByText(/The task and its files were deleted/).waitFor()
    await page.getByRole('button', { name: 'More for this task' }).click()
    assert.equal(await page.getByRole('menuitem').count(), 1)
  })

  test('a task that waits says its place, and how long others waited', async () => {
    const { service } = console
    const root = makeClient(service.baseUrl, await service.token('operator'))
    const bob = makeClient(service.baseUrl, await service.token('bob'))
    await bob.untilVideoEnded(await bob.createVideo({ prompt: 'a sea before' }))
    expectStatus(await root.put('/admin/pauses/owner:bob', {}), 200)
    const id = await bob.createVideo({ prompt: 'a waiting sea' })
    const page = await console.open(`/tasks/${id}`, { as: 'bob' })
    await page
      .getByText(/the service has paused it.*later · place \d+ in your queue · (usually|longer)/)
      .waitFor()
    await assertSound(page)
    expectStatus(await root.delete('/admin/pauses/owner:bob'), 204)
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
  })

  test('a request waits for the sample that was chosen just before', async () => {
    const page = await console.open('/try/relight', { as: 'carol' })
    const prompt = page.getByRole('textbox', { name: 'Prompt' })
    const light = page.getByRole('button', { name: 'warm sunlight from the left' })
    await light.click()
    await light.click()
    assert.equal(await prompt.inputValue(), '')
    await light.click()
    assert.match(await prompt.inputValue(), /^warm sunlight/)
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/customers/storage', async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('button', { name: 'Portrait' }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Sends once the upload is done').waitFor()
    release()
    await page.getByRole('link', { name: 'Open the task' }).waitFor()
  })

  test('a rejection at Send is in view beside it, and an older result is gone', async () => {
    const operator = makeClient(console.service.baseUrl, await console.service.token('operator'))
    const page = await console.open('/try/text2video', { as: 'bob', width: 390 })
    const write = async (prompt: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Prompt' }).fill(prompt)
      await page.getByText('Price:').waitFor()
      await page.getByRole('button', { name: 'Send' }).click()
    }
    await write('a short film')
    await page.getByRole('link', { name: 'Open the task' }).waitFor()
    expectStatus(await operator.put('/admin/owners/bob', { credit_limit: 0 }), 200)
    await write('a film too many')
    const error = page.getByRole('alert').filter({ hasText: 'The task costs' })
    await error.getByText(/and you have -?\d+ left\. Choose a smaller job/).waitFor()
    const { y = -1, height = 0 } = (await error.boundingBox()) ?? {}
    assert.ok(y >= 0 && y + height <= 900, `${y} and ${height} high`)
    assert.equal(await page.getByRole('link', { name: 'Open the task' }).count(), 0)
    await assertSound(page)
    expectStatus(await operator.delete('/admin/owners/bob'), 204)
  })

  test('a video that waits for a slot says how many there are, and that its events are subscribed to', async () => {
    const clientOf = async (user: string) =>
      makeClient(console.service.baseUrl, await console.service.token(user))
    const [operator, carol] = [await clientOf('operator'), await clientOf('carol')]
    expectStatus(await operator.put('/admin/owners/carol', { slots: 0 }), 200)
    const subscription = { url: receiver.url('/of-all'), events: ['video_task.success'] }
    const { body } = expectStatus(await carol.post('/endpoints', subscription), 201)
    const id = await carol.createVideo({ prompt: 'a film in a queue' })
    const page = await console.open(`/tasks/${id}`, { as: 'carol' })
    await page.getByText(/Waiting for a free video slot: 0 of 0 in use · place 1 in/).waitFor()
    await page.getByText('Nothing sent yet.').waitFor()
    assert.equal(await page.getByText('Subscribe to all your tasks').count(), 0)
    await assertSound(page)
    expectStatus(await carol.delete(`/tasks/${id}`), 204)
    expectStatus(await carol.delete(`/endpoints/${String(body['id'])}`), 204)
    expectStatus(await operator.delete('/admin/owners/carol'), 204)
  })

  test('the list counts new tasks, follows what runs, cancels what is chosen', inLong, async () => {
    // Nobody else here has made no task yet.
    const page = await console.open('/tasks?kind=foo&state=done,bar&from=soon', { as: 'operator' })
    await page.getByText('No tasks yet.').waitFor()
    await console.service.entry('media').kill()
    const other = await console.open('/try/text2video', { context: page.context() })
    await other.getByRole('textbox', { name: 'Prompt' }).fill('a slow film')
    await other.getByRole('button', { name: 'Send' }).click()
    await other.getByRole('button', { name: 'Cancel' }).waitFor()
    await page.getByRole('button', { name: '1 new task' }).click()
    await page.getByText('a slow film').waitFor()
    await page.getByRole('searchbox', { name: 'Text in the prompt' }).fill('another')
    await page.getByText('No tasks match.').waitFor()
    assert.equal(new URL(page.url()).search, '?q=another')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('checkbox', { name: 'Choose Text to video' }).press(' ')
    await page.getByRole('button', { name: 'Cancel 1 task' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 task' }).click()
    await page.getByRole('listitem').getByText('cancelled').waitFor()
    await other.getByText('The caller cancelled the task.').waitFor()
    await other.close()
    await console.service.start('media')
    await assertSound(page)
  })

  test('a sample is relit, its result animated, and that video extended', inLong, async () => {
    const page = await console.open('/try/relight', { as: 'carol' })
    await page.getByRole('button', { name: 'Portrait' }).first().click()
    await page.getByRole('button', { name: 'Remove Image' }).waitFor()
    await page.getByText('free').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('link', { name: 'Animate' }).click()
    await page.waitForURL(/img2video$/)
    await page.getByRole('button', { name: 'Remove Start image' }).waitFor()
    await page.getByText(/^Fields that change nothing here \(\d+\)$/).click()
    await assertSound(page)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    await page.getByRole('link', { name: 'Extend', exact: true }).last().click()
    await page.waitForURL(/extend$/)
    const own = page.getByRole('group', { name: 'Your videos' }).getByRole('button')
    await own.and(page.locator('[aria-pressed=true]')).waitFor()
    await page.getByRole('button', { name: 'Remove Video' }).click()
    await page.getByText('Price: shown once a video is chosen').waitFor()
    await own.first().press('Enter')
    await page.getByText(/^Price: \d+ credits/).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'From two frames' }).click()
    await page
      .getByRole('group', { name: 'Samples for Last frame' })
      .getByRole('button')
      .last()
      .click()
    await page.getByRole('button', { name: 'Remove Last frame' }).waitFor()
    await page.getByRole('button', { name: 'Remove First frame' }).waitFor({ state: 'detached' })
    await assertSound(page)
  })

  test('an id of no task says so', inLong, async () => {
    const page = await console.open('/tasks/0f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11', { as: 'bob' })
    await page.getByText('belongs to someone else').waitFor()
  })
})

/** Drops a file as a hand would: a made-up event has no files for the page. */
const drop = async (page: Page, label: string, file: string): Promise<void> => {
  const box = await page.getByRole('group', { name: label, exact: true }).boundingBox()
  assert.ok(box)
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  const place = { x: box.x + box.width / 2, y: box.y + 60 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...place, data })
}
