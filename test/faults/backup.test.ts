import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv, promisify } from 'node:util'

import { makeDatabase } from '../../src/platform/db/client.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { secretOf } from '../events/http/delivery-support.ts'
import { backUp } from '../machines/standby.ts'
import { expectStatus, UPSCALE } from '../support/client.ts'
import { makeFolder, withKept, type Keep } from '../support/keep.ts'
import { base64 } from '../support/pictures.ts'
import { startService, type Service } from '../support/service.ts'
import { PATIENT } from '../support/template.ts'
import { clientOf } from './calls.ts'
import { operate, operateWith } from './operate.ts'
import { startOwnPostgres } from './servers.ts'

const readResult = async (service: Service, id: string): Promise<Buffer> => {
  const client = await clientOf(service, 'alice')
  const { body } = expectStatus(await client.get(`${UPSCALE}/${id}`), 200)
  const [link] = body.data.generated
  const response = await fetch(link ?? '')
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

/** Settings of an instance that is away, and of its templates. */
const fleetOf = (templates: string) => ({
  COMFYUI_URLS: 'gpu1=http://127.0.0.1:9',
  COMFYUI_TEMPLATES: templates,
})

/** Fills a service, and keeps all of it as docs/operations/recover.md says: operate, the database, then the files. */
const fillAndKeep = async (folder: string) =>
  await withKept(async (keep) => {
    const postgres = await startOwnPostgres()
    const [templates, files] = [join(folder, 'own-templates'), join(folder, 'own-files')]
    await mkdir(templates)
    await writeFile(join(templates, 'upscale.json'), '{}')
    const env = { STORAGE: 'local', STORAGE_PATH: files, ...fleetOf(templates) }
    const service = keep(await startService({ database: postgres.database, env }))
    const alice = await clientOf(service, 'alice')
    const id = await alice.createImage({ image: await base64() })
    await alice.untilEnded('image-upscaler', id)
    const [secret, result] = [await secretOf(alice), await readResult(service, id)]
    const kept = join(folder, 'kept')
    const { output, errors, code } = await operate(service, 'backup', kept, '--all')
    assert.deepEqual([code, errors], [0, ''])
    // The packaged PostgreSQL has no pg_dump.
    await backUp(postgres.server, folder)
    await cp(files, join(folder, 'files'), { recursive: true })
    return { kept, output, id, secret, result, settings: service.settings }
  })

/** Starts the copy of the cluster in an empty place. */
const startCopy = async (keep: Keep, from: string) => {
  const folder = keep(await makeFolder()).path
  // The cluster belongs to another user.
  const owned = ['cluster', 'password'].map((name) => join(from, name))
  await promisify(execFile)('cp', ['-a', ...owned, folder])
  const server = await startPostgres({ dataDir: folder, say: () => {} })
  keep({ stop: () => server.remove() })
  return { url: server.url, folder }
}

describe('a backup', () => {
  test('is put back in an empty place, where all is checked and the service goes on', async () => {
    await withKept(async (keep) => {
      const from = keep(await makeFolder()).path
      const { kept, output, id, secret, result, settings } = await fillAndKeep(from)
      assert.deepEqual((await readdir(kept)).toSorted(), ['keys.env', 'settings.env', 'templates'])
      assert.equal((await stat(join(kept, 'keys.env'))).mode & 0o777, 0o600)
      const keys = parseEnv(await readFile(join(kept, 'keys.env'), 'utf8'))
      const others = await readFile(join(kept, 'settings.env'), 'utf8')
      for (const name of [
        'SIGNING_KEYS',
        'SECRETS_KEYS',
        'WEBHOOK_DEFAULT_SECRET',
        'DATABASE_URL',
      ]) {
        assert.equal(keys[name], settings[name])
        assert.equal(`${output}${others}`.includes(settings[name] ?? ''), false, `${name} is shown`)
      }
      assert.match(output, /^ok +files +\d+ files that rows name are in the store$/m)
      assert.match(output, /^to do +dump the database: pg_dump/m)

      const { url, folder } = await startCopy(keep, from)
      const [files, templates] = [join(folder, 'files'), join(folder, 'templates')]
      const place = { DATABASE_URL: url, STORAGE_PATH: files, ...fleetOf(templates) }
      const empty = { ...settings, ...place, SECRETS_KEYS: randomBytes(32).toString('base64') }
      const before = await operateWith(empty, 'restore', '--check', kept, '--all')
      assert.equal(before.code, 1)
      assert.match(before.errors, /^kiln: not all is there:\n/)
      for (const line of [
        /^ok +schema /m,
        /^ERROR +secrets +SECRETS_KEYS do not open 1 of 1 of webhooks/m,
        /^ERROR +files +the store lacks \d+ of \d+ files that rows name, such as (inputs|results)\//m,
        /^ERROR +keys +SECRETS_KEYS lack what the backup has/m,
        /^WARN +other settings +COMFYUI_TEMPLATES, STORAGE_PATH are not as they were/m,
        /^ERROR +templates +upscale\.json are not there as they were/m,
      ])
        assert.match(before.errors, line)

      await cp(join(from, 'files'), files, { recursive: true })
      await cp(join(kept, 'templates'), templates, { recursive: true })
      const whole = { ...settings, ...keys, ...place }
      const checked = await operateWith(whole, 'restore', '--check', kept)
      assert.deepEqual([checked.code, checked.errors], [0, ''])
      assert.match(checked.output, /\nall is there: start the service\n$/)

      const sql = makeDatabase({ url, ...PATIENT, pool: 4 })
      const database = { url, sql, drop: () => sql.end({ timeout: 1 }) }
      const { SIGNING_KEYS = '', SECRETS_KEYS = '' } = keys
      const env = { ...place, STORAGE: 'local', SIGNING_KEYS, SECRETS_KEYS }
      const service = keep(await startService({ database, env }))
      assert.deepEqual(await readResult(service, id), result)
      assert.equal(await secretOf(await clientOf(service, 'alice')), secret)
    })
  })

  test('writes nothing over another one', async () => {
    await withKept(async (keep) => {
      const folder = keep(await makeFolder()).path
      await writeFile(join(folder, 'kept'), '')
      const service = keep(await startService({ roles: ['api'] }))
      const { errors, code } = await operate(service, 'backup', folder)
      assert.deepEqual([code, errors], [1, `kiln: ${folder} is not empty: name a new folder\n`])
      assert.deepEqual(await readdir(folder), ['kept'])
    })
  })
})
