import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { listFindings, listNextSteps, type Facts } from '../../../src/compose/explanation.ts'
import type { TaskExplanation } from '../../../src/tasks/domain/explanation.ts'
import { beatWorker } from '../../../src/tasks/db/worker.ts'
import { operate } from '../../faults/operate.ts'
import { IMAGE_API, UPSCALE, expectStatus, statusesOf, type Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

/** The upstream of relighting does not respond, and tasks try it without a breaker. No media worker serves the others. */
const service = useService({
  roles: ['api', 'core'],
  env: {
    ADMIN_SUBJECTS: 'root',
    ENGINES: 'relight:vendor',
    VENDOR_IMAGE_URL: 'http://127.0.0.1:9',
    VENDOR_IMAGE_KEY: 'key',
    OVERRIDE_BREAKER_FAILURES: '0',
    OVERRIDE_RULES_INTERVAL_MS: '100',
  },
})
const root = service.client('root')
const receiver = useWebhookReceiver({
  script: { '/down': respond(503), '/down?token=secret': respond(503) },
})

const pathOf = (id: string): string => `/admin/tasks/${id}/explanation`
const explain = async (id: string): Promise<TaskExplanation> =>
  expectStatus(await root.get(pathOf(id)), 200).body as unknown as TaskExplanation

/** Waits until an explanation says this, and returns its next steps, each in a line. */
const untilSaid = async (id: string, about: string, text: RegExp): Promise<string> => {
  let said: TaskExplanation | undefined
  return await waitFor(
    () => `${text.source} is said: ${JSON.stringify(said)}`,
    async () => {
      said = await explain(id)
      const isSaid = said.findings.some((one) => one.about === about && text.test(one.text))
      return isSaid && said.next_steps.join('\n')
    },
  )
}

const upscale = async (client: Client, body: object = {}): Promise<string> =>
  client.createImage({ image: await base64(), ...body })
const relight = async (image: string): Promise<string> => {
  const response = await service.client().create(`${IMAGE_API}/image-relight`, { image })
  return response.body.data.task_id
}
const cancel = async (client: Client, id: string) =>
  expectStatus(await client.post(`${UPSCALE}/${id}/cancel`, {}), 200)

describe('an explanation says why a task is late and what to do', () => {
  test('of one that is paused', async () => {
    const owner = `paused-${randomUUID()}`
    const scope = `owner:${owner}`
    expectStatus(await root.put(`/admin/pauses/${scope}`, { reason: 'a contract ends' }), 200)
    const id = await upscale(service.client(owner))
    assert.equal(
      await untilSaid(id, 'wait', /^It waits: the service has paused it/),
      `Resume ${scope} on the Operations page of the console, or wait for the end of the pause.`,
    )
  })

  test('of one that no worker serves, as the command does', async () => {
    const id = await upscale(service.client())
    // Its row says nothing of workers for ten seconds.
    await service.sql`update task set last_moved_at = now() - interval '1 minute' where id = ${id}`
    const queued = /^renderImageTask is in its queue for a worker, attempt 1\.$/
    const step = 'Start a media worker (WORKER_ROLE=media): none lives.'
    assert.equal(await untilSaid(id, 'workflow', queued), step)
    const { output, code } = await operate(service, 'explain', id.toUpperCase())
    const [task, waits, workflow, next, ...rest] = output.split('\n')
    assert.equal(code, 0)
    assert.match(task ?? '', /^task {7}upscale of user-\S+ on the engine local, .*: queued since /)
    assert.equal(waits, 'wait       It waits: no worker serves its engine now.')
    assert.match(workflow ?? '', /^workflow {3}renderImageTask is in its queue/)
    assert.deepEqual([next, ...rest], [`next step  ${step}`, ''])
  })

  test('of one whose media worker is free, while no core worker lives', async () => {
    const client = service.client()
    const id = await upscale(client)
    const media = { id: randomUUID(), identity: 'm', role: 'media', slots: { local: 1 } }
    await beatWorker(service.sql, media)
    try {
      await service.sql`update worker set beat_at = now() + interval '1 hour' where id = ${media.id}`
      await service.sql`update worker set ended_at = now() where role = 'core'`
      await service.sql`update task set last_moved_at = now() - interval '1 minute' where id = ${id}`
      assert.equal(
        await untilSaid(id, 'wait', /^It waits: no core worker lives\.$/),
        'Start a core worker (WORKER_ROLE=core): none lives.',
      )
      const { body } = expectStatus(await client.get(`${UPSCALE}/${id}`), 200)
      const { waits_for: wait } = body['data'] as unknown as { waits_for?: string }
      assert.equal(wait, 'It waits: no worker serves its engine now.')
    } finally {
      await service.sql`delete from worker where id = ${media.id}`
      await service.sql`update worker set ended_at = null where role = 'core'`
    }
  })

  test('of one whose engine does not respond', async () => {
    const id = await relight(await base64())
    const away =
      /^renderImageTask runs on core@\S+ since \S+, attempt 1: submitting to the upstream, 0 %, but the upstream at 127\.0\.0\.1:9 \(VENDOR_IMAGE_URL\) gave no response: .*the port is closed\.$/
    assert.match(
      await untilSaid(id, 'workflow', away),
      /^Mend this: the upstream at 127\.0\.0\.1:9 \(VENDOR_IMAGE_URL\) gave no response: .* Its worker goes on by itself\.$/,
    )
  })

  test('of one between two attempts', () => {
    const activity = {
      type: 'renderImageTask',
      attempt: 3,
      isStarted: false,
      isPaused: false,
      worker: 'media@one:7',
      nextAttemptAt: '2026-11-30T09:00:00.000Z',
      heartbeat: {},
      failure: 'engine_failed: the disk is full',
    }
    const facts = {
      task: { id: randomUUID(), owner: 'alice', engine: 'local', ended: false },
      detail: { item: {}, movedAt: new Date(), waitsFor: null },
      context: { pauses: [], missingWorker: null, start: null, placement: null },
      run: { found: { status: 'RUNNING', activities: [activity] } },
      attempts: [],
      deliveries: [],
    } as unknown as Facts
    assert.deepEqual(listFindings(facts)[1], {
      about: 'workflow',
      text: 'renderImageTask is between attempts: attempt 3 is due at 2026-11-30T09:00:00.000Z, and media@one:7 had the one before. The attempt before failed: engine_failed: the disk is full',
    })
    assert.deepEqual(listNextSteps(facts), [
      'Mend what the last attempt failed by: engine_failed: the disk is full. The next one comes by itself.',
    ])
    const outcome = 'running' as const
    const begun = { number: 6, started_at: '2026-11-30T08:59:00.000Z', outcome }
    const repeated = listFindings({ ...facts, attempts: [begun] }).map(({ text }) => text)
    assert.match(repeated[1] ?? '', /: attempt 7 is due at /, 'as the list counts')
    assert.equal(repeated[2], 'Attempt 6 since 2026-11-30T08:59:00.000Z: failed.')
    const running = { ...activity, isStarted: true, startedAt: begun.started_at }
    const run = { found: { status: 'RUNNING', activities: [running] } } as unknown as Facts['run']
    const again = listFindings({ ...facts, attempts: [begun], ...(run && { run }) })
    assert.match(again[1]?.text ?? '', /, attempt 6\./)
    assert.match(again[2]?.text ?? '', /: running\.$/)
    const lost = { ...facts, run: { found: undefined } }
    assert.equal(listFindings(lost)[1]?.text, 'Temporal knows no run of it.')
    assert.match(
      listNextSteps(lost)[0] ?? '',
      /^`kiln operate restart \S+` starts its workflow again/,
    )
    const away = { ...facts, run: { error: 'no connection' } }
    assert.match(listNextSteps(away)[0] ?? '', /^Mend Temporal/)
  })

  test('of one whose webhook URL fails', async () => {
    const client = service.client()
    const id = await upscale(client, { webhook_url: receiver.url('/down?token=secret') })
    expectStatus(await root.post(`/admin/tasks/${id}/fail`, { reason: 'its input is gone' }), 200)
    const failed =
      /^FAILED to http:\/\/127\.0\.0\.1:\d+: (pending|exhausted) after (1 attempt|[2-9]\d* attempts|1\d+ attempts)\. The last one: status 503, status_5xx\b/
    assert.match(
      await untilSaid(id, 'delivery', failed),
      /^Mend what internal_error stands for\..*\nHave the webhook URL at 127\.0\.0\.1:\d+ mended: status 503.* (The next attempt comes by itself|Then POST \/tasks\/\S+\/events\/\S+\/redeliver sends it again)\.$/,
    )
    assert.equal(JSON.stringify(await explain(id)).includes('secret'), false)
  })

  test('of one of which a subscription fails', async () => {
    const client = service.client()
    const endpoint = { url: receiver.url('/down'), events: ['image_task.failed'] }
    const { id: subscription } = expectStatus(await client.post('/endpoints', endpoint), 201).body
    const id = await upscale(client)
    await cancel(client, id)
    const failed = new RegExp(`:\\d+ of the subscription ${String(subscription)}: .*status 503`)
    const steps = await untilSaid(id, 'delivery', failed)
    assert.match(steps, /^Have the webhook URL at [^\n]*$/)
  })

  test('of one that has ended, and of an id that is none', async () => {
    const client = service.client()
    const id = await upscale(client)
    await cancel(client, id)
    const { state, findings, next_steps: steps } = await explain(id)
    assert.deepEqual([state, findings.length, steps], ['cancelled', 1, ['Nothing: it has ended.']])
    const none = randomUUID()
    const rejected = [await root.get(pathOf(none)), await client.get(pathOf(id))]
    assert.deepEqual(statusesOf(rejected), [404, 403])
    const { errors, code } = await operate(service, 'explain', none)
    const sentence = `kiln: there is no task ${none}: \`kiln operate stuck\` lists ids\n`
    assert.deepEqual([code, errors], [1, sentence])
  })
})
