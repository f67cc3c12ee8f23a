import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import { readTemporalStore } from '../../src/platform/temporal/store-size.ts'
import { spawnEntry } from '../support/entry.ts'
import { readMetrics } from '../support/metrics.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { AWAITS_OUTAGE, startService, type Service } from '../support/service.ts'
import { useDatabase, withAdmin } from '../support/stack.ts'
import { PATIENT } from '../support/template.ts'
import { waitFor } from '../support/wait.ts'

describe("Temporal's databases", () => {
  const main = useDatabase()
  const visibility = `${main.url}_visibility`
  const name = new URL(visibility).pathname.slice(1)
  let service: Service

  const inVisibility = async (...statements: string[]): Promise<void> => {
    const sql = makeDatabase({ url: visibility, ...PATIENT })
    for (const statement of statements) await sql.unsafe(statement)
    await sql.end()
  }
  const read = async () =>
    Object.fromEntries(
      (await readTemporalStore(main.url, PATIENCE_MS)).map(({ database, ...size }) => [
        database,
        size,
      ]),
    )

  before(async () => {
    await withAdmin(async (admin) => void (await admin`create database ${admin(name)}`))
    await inVisibility(
      'create table executions_visibility (run_id text primary key, state text)',
      'create index by_state on executions_visibility (state, run_id)',
      `insert into executions_visibility select md5(n::text), md5(n::text)
       from generate_series(1, 20000) n`,
    )
    const env = { ...AWAITS_OUTAGE, TEMPORAL_DATABASE_URL: main.url, METRICS_PORT: '0' }
    service = await startService({ roles: ['api'], env })
  })
  after(async () => {
    await service?.stop()
    await withAdmin(async (admin) => {
      await admin`drop database if exists ${admin(name)} with (force)`
    })
  })

  test('are measured with their indexes, in the metrics and by the doctor', async () => {
    const { temporal, visibility: shown } = await read()
    assert.ok((temporal?.tables ?? 0) > 0)
    assert.equal(shown?.largest, 'executions_visibility')
    assert.equal(shown.largest_bytes, shown.tables + shown.indexes)
    const metrics = await waitFor('they are shown', async () => {
      const found = await readMetrics(service.entry('api'))
      return found.has('kiln_temporal_store_bytes{database="visibility",part="indexes"}') && found
    })
    for (const part of ['tables', 'indexes'] as const)
      assert.equal(
        metrics.get(`kiln_temporal_store_bytes{database="visibility",part="${part}"}`),
        shown[part],
      )
    const doctor = spawnEntry({ path: 'src/operate.ts', args: ['doctor'], env: service.settings })
    await doctor.end()
    const says =
      /^ok +temporal store +temporal has tables of .*; visibility has .*executions_visib/m
    assert.match(doctor.log.join('\n'), says)
  })

  test('are named by the doctor where they cannot be read', async () => {
    const url = new URL(main.url)
    const env = {
      ...service.settings,
      TEMPORAL_DATABASE_URL: Object.assign(url, { pathname: 'no' }).href,
    }
    const doctor = spawnEntry({ path: 'src/operate.ts', args: ['doctor'], env })
    await doctor.end()
    const says =
      /^ERROR +temporal store .*"no" does not exist: create it, or correct TEMPORAL_DATABASE/m
    assert.match(doctor.log.join('\n'), says)
  })

  test('shrink by the statements of the guide', async () => {
    const guide = readFileSync(join(ROOT, 'docs/operations/troubleshoot.md'), 'utf8')
    const [, section = ''] = guide.split('### KilnTemporalStoreGrows')
    const [, statements = ''] = /```sql\n([^`]+)```/.exec(section) ?? []
    const earlier = (await read())['visibility']
    await inVisibility("delete from executions_visibility where state >= '1'")
    await inVisibility(...statements.trim().split('\n'))
    const later = (await read())['visibility']
    assert.ok(earlier && later)
    assert.ok(later.indexes < earlier.indexes / 2, `${later.indexes} of ${earlier.indexes}`)
  })
})
