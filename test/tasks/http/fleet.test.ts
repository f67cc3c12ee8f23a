import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { beatWorker } from '../../../src/tasks/db/worker.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import { NO_INSTANCE } from '../../../src/tasks/domain/waits-for.ts'
import { recordWait } from '../../../src/engines/db/placement.ts'
import type { Fleet } from '../../../src/tasks/domain/fleet.ts'
import { examine } from '../../../src/operate/doctor.ts'
import { makeEngineChecks } from '../../../src/operate/engine-checks.ts'
import { makeWaitingCheck } from '../../../src/operate/fleet-checks.ts'
import { makeFleetCommands } from '../../../src/operate/fleet.ts'
import type { Config } from '../../../src/compose/settings/env.ts'
import { expectStatus, listOf, UPSCALE, type Client } from '../../support/client.ts'
import { openStream } from '../../support/event-stream.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'
import { readMetrics } from '../../support/metrics.ts'
import { useService } from '../../support/service.ts'
import { cancelTasks, insertTasks } from '../../support/task-rows.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'

const service = useService({
  roles: ['api'],
  env: {
    ADMIN_SUBJECTS: 'root',
    IMAGE_ENGINE: 'comfyui',
    METRICS_PORT: '0',
  },
})
const { sql } = service
const root = service.client('root')

const NO_ENGINES = {
  ENGINES: [],
  ENGINES_HTTP: [],
  ENGINES_HTTP_TOKENS: [],
  VENDOR_IMAGE_URL: '',
  VENDOR_IMAGE_KEY: '',
  VENDOR_VIDEO_KEY: '',
  VENDOR_VIDEO_URL: '',
} as unknown as Config

const QUIET = { audit: AUDIT, searchPath: '', write: () => {} }

const X2 = {
  file: 'x2.safetensors',
  folder: 'upscale_models',
  url: 'https://models.example/x2.safetensors',
  digest: 'sha256:0af3',
}
const ABILITIES = {
  // As a worker of an earlier release has read it.
  'relight+light': { models: ['light.safetensors'], issues: [] },
  upscale: {
    models: ['x2.safetensors'],
    version: '0af3',
    warnings: ['it may mean something else'],
    model_files: [X2],
    issues: [],
  },
}
const ISSUE = 'node 4 "Sharpen": there is no class ImageSharpen'

/** An instance in each state, by its name. */
const insertInstances = async (): Promise<void> => {
  const lacking = { ...ABILITIES, upscale: { ...ABILITIES.upscale, issues: [ISSUE] } }
  for (const [name, abilities] of [
    ['ready', ABILITIES],
    ['Busy.1', ABILITIES],
    ['resting', lacking],
    ['stalled', ABILITIES],
    ['late', null],
    ['quarantined', ABILITIES],
    ['down', ABILITIES],
    ['unseen', ABILITIES],
  ] as const)
    await sql`
      insert into instance (name, state, abilities, version)
      values (${name}, 'up', ${abilities && sql.json(abilities)}, ${abilities && '0.3.64'})
    `
  const later = sql`clock_timestamp() + interval '1 hour'`
  await sql`update instance set template = 'upscale' where name = 'Busy.1'`
  await sql`update instance set rests_until = ${later} where name = 'resting'`
  await sql`update instance set state = 'stalled' where name = 'stalled'`
  await sql`update instance set state = 'doubtful' where name = 'late'`
  await sql`update instance set quarantined_at = now(), reason = 'CUDA error' where name = 'quarantined'`
  await sql`update instance set state = 'down' where name = 'down'`
  await sql`update instance set seen_at = now() - interval '3 minutes' where name = 'unseen'`
}

const place = async (taskId: string, state: string, detail: string | null): Promise<void> => {
  await sql`
    insert into placement (id, task_id, instance, template, inputs, state, detail)
    values (${randomUUID()}, ${taskId}, 'Busy.1', 'upscale', '{}', ${state}, ${detail})
  `
}

const readFleet = async (): Promise<Fleet> =>
  expectStatus(await root.get('/admin/instances'), 200).body as unknown as Fleet

const find = async (name: string) =>
  (await readFleet()).instances.find((instance) => instance.name === name)

describe('the fleet of an operator', () => {
  let ids: string[]

  before(async () => {
    await insertInstances()
    ids = [await service.client().createImage(), await service.client().createImage()]
    await place(ids[0] ?? '', 'failed', 'node 4 ImageSharpen: ValueError: no')
    for (const state of ['done', 'done', 'open']) await place(ids[0] ?? '', state, null)
  })

  test('has the state of each instance', async () => {
    const { instances } = await readFleet()
    assert.deepEqual(Object.fromEntries(instances.map(({ name, state }) => [name, state])), {
      ready: 'ready',
      'Busy.1': 'busy',
      resting: 'resting',
      stalled: 'stalled',
      late: 'stalled',
      quarantined: 'quarantined',
      down: 'gone',
      unseen: 'gone',
    })
    assert.equal((await find('quarantined'))?.last_error, 'CUDA error')
  })

  test('has what an instance that is silent lacks, which can run nothing', async () => {
    const silence = 'no connection could be made: the port is closed'
    await sql`update instance set silence = ${silence} where name = 'stalled'`
    const { instances, templates } = await readFleet()
    const commands = makeFleetCommands({ config: {} as Config, sql, ...QUIET })
    const printed = await commands.instances()
    await sql`update instance set silence = null where name = 'stalled'`
    const silent = instances.find(({ name }) => name === 'stalled')
    assert.equal(silent?.last_error, `does not respond: ${silence}`)
    assert.ok(Date.parse(silent.last_error_at ?? '') <= Date.now())
    const upscale = templates.find(({ name }) => name === 'upscale')
    assert.equal(upscale?.able, 3)
    const lack = { instance: 'stalled', issues: [`does not respond: ${silence}`] }
    assert.deepEqual(
      upscale.lacking.find(({ instance }) => instance === 'stalled'),
      lack,
    )
    assert.match(printed, /stalled {2}stalled {2}0 tasks {2}does not respond: no connection/)
  })

  test('has the tasks of an instance, what is loaded there, and how its placements ended', async () => {
    const { seen_at: seenAt, last_error_at: errorAt, tasks, ...busy } = (await find('Busy.1')) ?? {}
    assert.deepEqual(busy, {
      name: 'Busy.1',
      state: 'busy',
      is_drained: false,
      version: '0.3.64',
      template: 'upscale',
      models: ['x2.safetensors'],
      last_error: 'node 4 ImageSharpen: ValueError: no',
      ends: [
        { end: 'done', count: 2 },
        { end: 'failed', count: 1 },
      ],
    })
    const [{ since, ...task } = assert.fail(), ...others] = tasks ?? []
    assert.deepEqual([task, others], [{ id: ids[0], kind: 'upscale', template: 'upscale' }, []])
    for (const time of [seenAt, errorAt, since])
      assert.ok(Date.parse(time ?? '') <= Date.now(), time)
  })

  test('has the templates with what instances lack, and the tasks that no instance has', async () => {
    const { templates, waiting } = await readFleet()
    assert.deepEqual(templates, [
      {
        name: 'relight+light',
        warnings: [],
        models: ['light.safetensors'],
        model_files: [{ file: 'light.safetensors' }],
        able: 5,
        lacking: [],
      },
      {
        name: 'upscale',
        version: '0af3',
        warnings: ['it may mean something else'],
        models: ['x2.safetensors'],
        model_files: [X2],
        able: 4,
        lacking: [{ instance: 'resting', issues: [ISSUE] }],
      },
    ])
    const [{ oldest_seconds: seconds, ...queue } = assert.fail(), ...others] = waiting
    assert.deepEqual([queue, others], [{ template: 'upscale', tasks: 1, reasons: [] }, []])
    assert.ok(seconds >= 0)
  })

  test('says why a task waits: to its owner in a sentence, to an admin of each instance', async () => {
    const user = `user-${randomUUID()}`
    const owner = service.client(user)
    const id = await owner.createImage()
    const [path, lack] = [`${UPSCALE}/${id}`, 'resting cannot run upscale: there is no model x2']
    const read = async (): Promise<unknown> => {
      const { data } = expectStatus(await owner.get(path), 200).body
      return (data as { waits_for?: string }).waits_for
    }
    await sql.begin((sql) => transitionTask(sql, 'image', { id, to: 'IN_PROGRESS' }))
    assert.equal(await read(), undefined)
    await using stream = await openStream(`${service.baseUrl}/tasks/${id}/stream`, {
      authorization: `Bearer ${await service.token(user)}`,
    })
    for (const status of ['CREATED', 'IN_PROGRESS'])
      assert.equal((await stream.next())?.data['status'], status)
    const task = { id, fence: 0 }
    assert.ok(await recordWait(sql, { ...task, reasons: [] }))
    const busy = 'It waits for a machine: all that can run it are busy.'
    assert.equal(await read(), busy)
    assert.deepEqual((await stream.next())?.data, { progress: 0, waits_for: busy })
    assert.ok(await recordWait(sql, { ...task, reasons: [lack] }))
    assert.ok(!(await recordWait(sql, { ...task, reasons: [lack] })), 'once')
    const none = 'It waits for a machine: none can run it now.'
    assert.equal(await read(), none)
    assert.deepEqual((await stream.next())?.data, { progress: 0, waits_for: none })
    const [listed] = listOf<{ waits_for?: string }>(await owner.get('/tasks'), 'tasks')
    assert.equal(listed?.waits_for, none)
    const shown = async (client: Client) => {
      const { body } = expectStatus(await client.get(`/tasks/${id}`), 200)
      return [body['waits_for'], body['lacking']]
    }
    assert.deepEqual(
      [await shown(owner), await shown(root)],
      [
        [none, undefined],
        [none, [lack]],
      ],
    )
    const { waiting } = await readFleet()
    assert.deepEqual(waiting[0]?.reasons, [{ reason: lack, tasks: 1 }])
    const { lines, isWell } = await examine([makeWaitingCheck(() => sql)], {
      issues: [],
      limitMs: PATIENCE_MS,
    })
    assert.match(
      lines.join(),
      /WARN {3}waiting tasks {6}2 tasks wait for an instance: resting cannot run upscale: there is no model x2 \(1\)/,
    )
    assert.ok(isWell)
    await cancelTasks(sql, [id])
    assert.equal(await read(), undefined)
  })

  test('counts the queue of a custom template, with what it waits for', async () => {
    const columns = {
      kind: sql`'custom/poster'`,
      segment: sql`'templates'`,
      waits_for: sql`array['ready cannot run custom/poster, as it was when the task was made: no']`,
    }
    const ids = await insertTasks(sql, { engine: 'comfyui', state: 'running', count: 2, columns })
    const { waiting } = await readFleet()
    const queue = waiting.find(({ template }) => template === 'custom/poster')
    assert.deepEqual([queue?.tasks, queue?.reasons.length], [2, 1])
    const metrics = await readMetrics(service.entry('api'))
    assert.equal(metrics.get('kiln_comfyui_tasks_waiting{template="custom/poster"}'), 2)
    await sql`update task set waits_on = ${NO_INSTANCE} where id = ${ids[0] ?? ''}`
    const { waiting: still } = await readFleet()
    const put = still.find(({ template }) => template === 'custom/poster')
    assert.equal(put?.tasks, 2, 'one that was put back because none responds counts, too')
    await cancelTasks(sql, ids)
  })

  test('is counted by the metrics', async () => {
    const metrics = await readMetrics(service.entry('api'))
    const counts = ['ready', 'busy', 'resting', 'stalled', 'draining', 'quarantined', 'gone'].map(
      (state) => metrics.get(`kiln_comfyui_instances{state="${state}"}`),
    )
    assert.deepEqual(counts, [1, 1, 1, 2, 0, 1, 2])
    assert.equal(metrics.get('kiln_comfyui_tasks_waiting{template="upscale"}'), 1)
    assert.ok((metrics.get('kiln_comfyui_oldest_seconds{template="upscale"}') ?? -1) >= 0)
  })

  describe('has an engine that makes nothing', () => {
    const name = 'blur-1'
    const readProblems = async () => {
      const { body } = expectStatus(await root.get('/admin/operations'), 200)
      const problems = body['problems'] as unknown as {
        dependency: string
        message: string
        since?: string
        scope?: string
      }[]
      return problems.filter(
        ({ dependency, message }) => dependency === 'engines' && /blur/.test(message),
      )
    }
    const readDoctor = async (): Promise<string> => {
      const checks = makeEngineChecks({ config: NO_ENGINES, sql: () => sql })
      const { lines } = await examine(checks, { issues: [], limitMs: PATIENCE_MS })
      return lines.at(-1) ?? ''
    }

    before(async () => {
      await sql`insert into instance (name, engine, state) values (${name}, 'blur', 'up')`
      await sql`insert into template (name, digest, content, members) values ('blur', '', '{}', '{}') on conflict do nothing`
      const worker = { id: randomUUID(), identity: 'core@b:1', role: 'core', slots: { blur: 1 } }
      await beatWorker(sql, worker)
      const [id] = await insertTasks(sql, { engine: 'blur', state: 'running' })
      await sql`
        insert into placement (id, task_id, instance, template, inputs, state, detail)
        values (${randomUUID()}, ${id ?? ''}, ${name}, 'blur', '{}', 'lost', 'responded with status 500')
      `
    })

    after(async () => {
      await sql`delete from breaker where scope = 'engine:blur'`
      await sql`delete from placement where instance = ${name}`
      await sql`delete from instance where name = ${name}`
    })

    test('behind an open breaker, with the last error, in operations and the doctor alike', async () => {
      assert.deepEqual(await readProblems(), [])
      assert.match(await readDoctor(), /^ok +engines +none fails/)
      await sql`insert into breaker (scope, failures, opened_at, retry_at) values ('engine:blur', 5, now(), now() + interval '1 hour')`
      await sql`update task set waits_on = 'breaker:engine:blur' where engine = 'blur'`
      const [problem] = await readProblems()
      assert.match(
        problem?.message ?? '',
        /^the engine blur fails, and 1 task waits: responded with status 500; mend it: /,
      )
      assert.equal(problem?.scope, 'engine:blur')
      assert.ok(Date.parse(problem.since ?? '') <= Date.now())
      assert.ok((await readDoctor()).startsWith(`ERROR  engines            ${problem.message}`))
    })

    test('where no instance of it takes tasks any more, as the alert sees it too', async () => {
      await sql`
        update instance set state = 'doubtful', state_at = clock_timestamp(), silence = 'responded with status 500'
        where name = ${name}
      `
      assert.equal((await readProblems())[0]?.scope, 'engine:blur', 'a moment may pass')
      for (const state of ['doubtful', 'down']) {
        await sql`
          update instance set state = ${state}, state_at = now() - interval '1 minute' where name = ${name}
        `
        const [problem, ...more] = await readProblems()
        assert.equal(
          problem?.message,
          'no instance of the engine blur takes tasks, and 1 task waits: blur-1 responds with status 500; start it again, or correct ENGINES_HTTP',
        )
        assert.ok(problem.since)
        assert.deepEqual(more, [])
        assert.ok((await readDoctor()).includes(problem.message))
      }
      await waitFor('the metric counts its task', async () => {
        const metrics = await readMetrics(service.entry('api'))
        return metrics.get('kiln_engine_away_tasks{engine="blur"}') === 1
      })
    })
  })

  test('is drained and resumed, each once and in the audit log', async () => {
    const set = async (verb: string, body: object = {}) =>
      expectStatus(await root.post(`/admin/instances/Busy.1/${verb}`, body), 200).body
    const drained = { name: 'Busy.1', is_drained: true, changed: true }
    assert.deepEqual(await set('drain', { reason: 'its driver' }), drained)
    assert.deepEqual(await set('drain'), { ...drained, changed: false })
    const seen = await find('Busy.1')
    assert.deepEqual([seen?.state, seen?.is_drained, seen?.tasks.length], ['draining', true, 1])
    const { instances } = makeFleetCommands({ config: {} as Config, sql, ...QUIET })
    assert.match(await instances(), /Busy\.1 {2}draining {2}1 task {2}upscale {2}node 4 ImageSh/)
    assert.deepEqual(await set('resume'), { ...drained, is_drained: false })
    assert.deepEqual(await set('resume'), { ...drained, is_drained: false, changed: false })
    const { body } = await root.get('/admin/audit-log?target=instance/Busy.1')
    const log = (body['entries'] as unknown as Record<string, unknown>[]).map(
      ({ action, actor, before, after, reason }) => [action, actor, before, after, reason],
    )
    const [serving, draining] = [{ status: 'serving' }, { status: 'draining' }]
    assert.deepEqual(log, [
      ['instance.resume', 'root', draining, serving, undefined],
      ['instance.drain', 'root', serving, draining, 'its driver'],
    ])
  })

  test('is for platform admins, who name an instance that there is', async () => {
    const alice = service.client('alice')
    expectStatus(await alice.get('/admin/instances'), 403, 'forbidden')
    for (const verb of ['drain', 'resume']) {
      const path = `/admin/instances/ready/${verb}`
      expectStatus(await alice.post(path, {}), 403, 'forbidden')
      expectStatus(await root.post(path.replace('ready', 'READY'), {}), 404, 'instance_not_found')
    }
    assert.equal((await find('ready'))?.is_drained, false)
  })
})
