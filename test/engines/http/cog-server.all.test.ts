import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT } from '../../../src/local/root.ts'
import { Skipped } from '../../../tools/python.ts'
import { expectStatus, listOf, makeClient } from '../../support/client.ts'
import { installCog, startCogServer } from '../../support/cog/server.ts'
import { useFolder } from '../../support/folder.ts'
import { base64 } from '../../support/pictures.ts'
import { PYTHON } from '../../support/python.ts'
import { startService, type Service } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

/** Folder of the programs; where there is none, why. */
const installed = await installCog().catch((error: unknown) => {
  if (error instanceof Skipped) return error
  throw error
})
const skip = installed instanceof Skipped ? installed.message : false

describe('the server of the package cog, without a container', { skip }, () => {
  const folder = useFolder()
  let cog: Awaited<ReturnType<typeof startCogServer>>
  let service: Service
  const client = makeClient(
    () => service.baseUrl,
    () => service.token('alice'),
  )
  before(async () => {
    cog = await startCogServer(String(installed), folder)
    service = await startService({
      roles: ['api', 'core'],
      env: { ENGINES_HTTP: `bare=${cog.url}` },
    })
  })
  after(async () => {
    await service.stop()
    await cog.stop()
  })

  test('passes the conformance test of engines', async () => {
    const args = ['-m', 'kiln_engine', 'conform', cog.url, '--slow', '{"hold": 5}']
    const env = { ...process.env, PYTHONPATH: join(ROOT, 'packages/engine-python/src') }
    const { stdout } = await promisify(execFile)(String(PYTHON), args, { env })
    assert.match(stdout, /^(right .*\n){20,}$/)
    assert.match(stdout, /^right {2}its end is canceled, and it ran once$/m)
  })

  test('renders tasks, with their lists of files and their progress', async () => {
    await waitFor('it is listed', async () =>
      listOf<{ name: string }>(await client.get('/templates'), 'templates').some(
        ({ name }) => name === 'bare',
      ),
    )
    const image = await base64()
    const body = { image, masks: [image, image], hold: 1 }
    const { task_id: id } = (await client.create('/templates/bare/tasks', body)).body.data
    const ended = await waitFor(`task ${id} has ended`, async () => {
      const { data } = expectStatus(await client.get(`/templates/bare/tasks/${id}`), 200).body
      return ['COMPLETED', 'FAILED'].includes(data.status) ? data : undefined
    })
    assert.deepEqual([ended.status, ended.generated.length], ['COMPLETED', 3])
    const { body: task } = expectStatus(await client.get(`/tasks/${id}`), 200)
    assert.match((task as unknown as { log: string }).log, / 50%\|/)
  })
})
