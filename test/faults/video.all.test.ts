import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { findVideoBinaries } from '../../packages/engines/src/binaries.ts'
import { VIDEO_API, pluck, type Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { useService, type Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { makeButtons } from '../support/temporal-ui.ts'
import { waitFor } from '../support/wait.ts'
import { HEARTBEAT } from './calls.ts'
import { listEngineProcesses } from './engine-processes.ts'
import { assertLedger, assertRows } from './ledger.ts'
import { ageScratch, listScratch, untilCleaned } from './scratch.ts'

/** A scene that keeps ffmpeg busy for a second or two; tiny ones ignore all but the credits. */
const BODY = { model: 'videoq2-turbo', duration: 4, resolution: '540p', prompt: 'a quiet ocean' }

const createVideo = async (client: Client, body: object = BODY): Promise<string> => {
  const response = await client.post(`${VIDEO_API}/text2video`, body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return String(response.body['task_id'])
}

describe('a media worker that is killed while ffmpeg runs', () => {
  const service = useService({ roles: ['api', 'core'], env: HEARTBEAT })
  const alice = service.client('alice')

  test('leaves no process behind; its task goes on, succeeds and is charged once', async () => {
    const killed = await service.start('media', { OVERRIDE_FAILPOINT: 'render.in-child' })
    const id = await createVideo(alice)
    assert.equal(await killed.end(), 'SIGKILL')
    const listFfmpegs = () => listEngineProcesses(service.storagePath)
    await waitFor('ffmpeg is gone', async () => (await listFfmpegs()).length === 0)
    await ageScratch(service)
    await service.start('media')
    const [task] = await assertLedger(service, [id])
    assert.ok(task && task.fence > 1)
    assert.equal(task.status, 'success')
    await untilCleaned(service)
  })

  test('whose children outlive it are ended by the next worker', async () => {
    await service.entry('media').kill()
    // Where `setpriv` is missing nothing ends ffmpeg together with its worker.
    const media = await service.start('media', { PATH: await makeBarePath(service) })
    const id = await createVideo(alice, { ...BODY, duration: 8 })
    const group = await waitFor('ffmpeg runs and is written down', async () => {
      const record = (await listScratch(service)).find((path) => path.endsWith('.child.json'))
      const written = Number(/(\d+)\.child\.json$/.exec(record ?? '')?.[1])
      return (await listEngineProcesses(service.storagePath)).find((pid) => pid === written)
    })
    process.kill(group, 'SIGSTOP')
    await media.kill()
    await ageScratch(service)
    await service.start('media')
    const listFfmpegs = () => listEngineProcesses(service.storagePath)
    await waitFor('ffmpeg is gone', async () => !(await listFfmpegs()).includes(group))
    assert.equal((await alice.untilVideoEnded(id)).state, 'success')
    await assertRows(service)
  })
})

/** A folder with the programs of the engine and no others. */
const makeBarePath = async ({ storagePath }: Service): Promise<string> => {
  const folder = join(storagePath, '..', 'programs')
  await mkdir(folder)
  const searchPath = process.env['PATH'] ?? ''
  const { ffmpeg, ffprobe } = await findVideoBinaries({ searchPath, production: false })
  await symlink(ffmpeg.path, join(folder, 'ffmpeg'))
  await symlink(ffprobe.path, join(folder, 'ffprobe'))
  return folder
}

describe('the queue of the media workers', () => {
  const service = useService({
    roles: ['api', 'core'],
    env: {
      OVERRIDE_VIDEO_TINY: 'true',
      VIDEO_CONCURRENCY_PER_OWNER: '100',
      MEDIA_SLOTS: '1',
    },
  })
  const { sql } = service
  /** Temporal's own number of what is in a queue is an estimate: the renders are counted one by one. */
  const untilWaiting = async (t: TestContext, count: number) => {
    const connection = await Connection.connect({ address: temporalAddress() })
    t.after(async () => await connection.close())
    const { workflow } = new TemporalClient({ connection })
    const { findActivity } = makeButtons(workflow)
    let waiting = 0
    await waitFor(
      () => `${count} wait for a worker, and not ${waiting}`,
      async () => {
        const ids = await sql<{ id: string }[]>`
          select family || '-task/' || id as id from task where ended_at is null and waits_on is null
        `
        const steps = await Promise.all(ids.map(({ id }) => findActivity(workflow.getHandle(id))))
        waiting = steps.filter((step) => step?.activityType?.name?.startsWith('render')).length
        return waiting === count && ids.length === count
      },
    )
  }
  /** Starts a worker, and asserts that so few of all tasks are begun before the last of these. */
  const assertInTurn = async (late: string[], others: string[]) => {
    await service.start('media')
    await waitFor('the late ones have ended', async () => {
      const open = await sql`select from task where id in ${sql(late)} and ended_at is null`
      return open.length === 0
    })
    const order = await sql<{ id: string }[]>`
      select id from task where claimed_at is not null and id in ${sql([...late, ...others])}
      order by claimed_at
    `
    const last = Math.max(...late.map((id) => order.findIndex((task) => task.id === id)))
    // Taken in turns the last of two is the fourth or so; without turns it would be the last of all.
    assert.ok(last < 4 * late.length, `the last of bob's tasks was number ${last + 1}`)
  }

  test('is shared between owners: two tasks of one do not wait for twelve of another', async (t) => {
    const [alice, bob] = [service.client('alice'), service.client('bob')]
    const others: string[] = []
    for (let i = 0; i < 12; i++) others.push(await createVideo(alice))
    const late = [await createVideo(bob), await createVideo(bob)]
    await untilWaiting(t, 14)
    await assertInTurn(late, others)
  })

  test('gives nobody the turn of another owner for a higher priority', async (t) => {
    await waitFor('the tasks before have ended', async () => {
      const open = await sql`select from task where ended_at is null`
      return open.length === 0
    })
    await service.entry('media').kill()
    const [carol, bob] = [service.client('carol'), service.client('bob')]
    const image = await base64()
    const others: string[] = []
    // Two lines of hers, of which one waits for the other.
    for (let i = 0; i < 12; i++)
      others.push(await carol.createImage({ image, kiln_priority: i % 2 === 0 ? 3 : 0 }))
    const late = [await bob.createImage({ image }), await bob.createImage({ image })]
    // Those of the lower priority are not admitted while one of the higher waits.
    await untilWaiting(t, 8)
    await assertInTurn(late, others)
    const begun = await sql<{ priority: number }[]>`
      select priority from task where owner = 'carol' and claimed_at is not null order by claimed_at
    `
    const priorities = pluck<number>(begun, 'priority')
    assert.deepEqual(
      priorities,
      priorities.toSorted((one, other) => other - one),
    )
  })
})
