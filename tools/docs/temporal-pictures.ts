import { createServer } from 'node:http'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Client, Connection } from '@temporalio/client'
import type { Browser } from 'playwright-core'

import { makeKiln } from '../../packages/client/src/index.ts'
import type { Kiln } from '../../packages/client/src/index.ts'
import { ROOT } from '../../src/local/root.ts'
import type { Stack } from '../../src/local/stack.ts'
import { respond, startWebhookReceiver } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { writeSmall } from './write-small.ts'

const VIEW = { width: 1440, height: 760 }
/** Without the navigation. */
const CONTENT = { x: 232, y: 56, width: VIEW.width - 232, height: VIEW.height - 56 }

/** Settings of the stack: an upstream at which nobody listens, and two tasks at once of a worker. */
export const TEMPORAL_SETTINGS = {
  VENDOR_IMAGE_URL: 'http://127.0.0.1:9',
  VENDOR_IMAGE_KEY: 'none',
  OVERRIDE_BREAKER_FAILURES: '3',
  OVERRIDE_BREAKER_SECONDS: '600',
  MEDIA_SLOTS: '2',
}

/** Columns that an operator adds to the list of workflows in the Temporal UI. */
const COLUMNS = [
  'Status',
  'Type',
  'KilnOwner',
  'KilnKind',
  'KilnStatus',
  'KilnReason',
  'KilnEngine',
  'Start',
]

/**
 * Takes the pictures of docs/operations/troubleshoot.md: the Temporal UI with tasks of two users that run, of one whose upstream is away,
 * one that failed, one whose worker was killed, a webhook URL that fails, and a batch.
 */
export const takeTemporalPictures = async (
  browser: Browser,
  stack: Stack,
  out: string,
): Promise<void> => {
  const { ui, temporal, token, url, pids } = stack
  if (ui === undefined) throw new Error('the Temporal server of somebody else has a UI of its own')
  await mkdir(out, { recursive: true })
  const connection = await Connection.connect(temporal)
  const { workflow } = new Client({ connection })
  const of = (user: string): Kiln => makeKiln({ baseUrl: url, token: () => token(user) })
  const [alice, bob, operator] = [of('alice'), of('bob'), of('operator')]
  const portrait = await readFile(join(ROOT, 'samples/portrait.png'))
  // It never responds: who fetches its picture works until it is killed.
  const slow = createServer(() => {}).listen(0, '127.0.0.1')
  const receiver = await startWebhookReceiver({
    script: {
      '/events': respond(500),
      '/gone.png': respond(404),
      '/portrait.png': ({ response }) => void response.end(portrait),
    },
  })
  const { port } = slow.address() as { port: number }
  const image = `http://127.0.0.1:${port}/portrait.png`

  const picture = async (name: string, path: string, tab?: string): Promise<void> => {
    const page = await browser.newPage({ viewport: VIEW, reducedMotion: 'reduce' })
    const columns = JSON.stringify({ default: COLUMNS.map((label) => ({ label })) })
    await page.addInitScript(
      `localStorage['namespace-workflow-table-columns'] = ${JSON.stringify(columns)}`,
    )
    await page.goto(`${ui}/namespaces/default/workflows${path}`)
    const fold = page.getByRole('button', { name: 'Collapse saved views' })
    const tabs = page.getByText(/^Pending Activities/).first()
    await fold.or(tabs).first().waitFor()
    if (await fold.isVisible()) await fold.click()
    if (tab !== undefined)
      await page
        .getByText(new RegExp(`^${tab}`))
        .first()
        .click()
    // The page reads on, and asks a worker for the details.
    await page.waitForTimeout(4000)
    await writeSmall(
      join(out, `${name}.webp`),
      await page.screenshot({ clip: CONTENT }),
      CONTENT.width,
    )
    await page.close()
  }
  const list = (query: string): string => `?query=${encodeURIComponent(query)}`
  const pageOf = async (workflowId: string): Promise<string> => {
    const { runId } = await workflow.getHandle(workflowId).describe()
    return `/${encodeURIComponent(workflowId)}/${runId}/timeline`
  }
  const untilStatus = (id: string, status: string): Promise<unknown> =>
    waitFor(
      `${id} is ${status}`,
      async () =>
        (
          await workflow
            .getHandle(id)
            .describe()
            .catch(() => undefined)
        )?.status.name === status,
    )

  try {
    await operator.routes.PUT('/admin/owners/{owner}', {
      params: { path: { owner: 'bob' } },
      body: { engine: 'vendor' },
    })
    await alice.upscale({ image: receiver.url('/gone.png'), scale_factor: '2x' })
    const failed = await alice.upscale({ image: receiver.url('/gone.png'), scale_factor: '2x' })
    const webhook_url = receiver.url('/events')
    const notified = await alice.relight({ image, prompt: 'sunset from the left', webhook_url })
    const late: { id: string }[] = []
    for (let at = 0; at < 4; at += 1)
      late.push(await bob.upscale({ image: receiver.url('/portrait.png'), scale_factor: '2x' }))
    await untilStatus(`image-task/${failed.id}`, 'COMPLETED')
    for (const { id } of late.slice(0, 3)) await untilStatus(`image-task/${id}`, 'COMPLETED')
    await waitFor('one is rendered', async () => {
      const found = await workflow
        .getHandle(`image-task/${notified.id}`)
        .describe()
        .catch(() => {})
      return found?.raw.pendingActivities?.[0]?.lastWorkerIdentity
    })
    const media = pids()['worker-media']
    if (media !== undefined) process.kill(media, 'SIGKILL')
    await waitFor('another worker goes on', async () => {
      const found = await workflow.getHandle(`image-task/${notified.id}`).describe()
      return (found.raw.pendingActivities?.[0]?.attempt ?? 1) > 1
    })
    const carol = of('carol')
    await carol.textToVideo({ model: 'videoq2-pro', prompt: 'A calm ocean', duration: 8 })
    await carol.upscale({ image, scale_factor: '4x' })
    await untilStatus(`deliver-events/${notified.id}`, 'RUNNING')
    await picture('running', list('ExecutionStatus = "Running"'))
    await picture('attempts', await pageOf(`image-task/${notified.id}`), 'Pending Activities')
    await picture('waiting', list('KilnStatus = "waiting"'))
    await picture('failed', await pageOf(`image-task/${failed.id}`))
    await picture('webhook', await pageOf(`deliver-events/${notified.id}`), 'User Metadata')
    const batch = await carol.batches.create(
      Array.from({ length: 40 }, () => ({
        path: '/proxy/imgvendor/v1/ai/image-upscaler',
        body: { image, scale_factor: '2x' },
      })),
    )
    await untilStatus(`run-batch/${batch}`, 'RUNNING')
    await picture('batch', await pageOf(`run-batch/${batch}`), 'User Metadata')
  } finally {
    await connection.close()
    await receiver.stop()
    slow.closeAllConnections()
    slow.close()
  }
}
