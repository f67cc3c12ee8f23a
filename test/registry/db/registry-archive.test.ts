import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  expireVersion,
  findArchive,
  findArchivePlace,
  rejectArchive,
} from '../../../src/registry/db/archive.ts'
import { countDownload } from '../../../src/registry/db/download.ts'
import { getNode } from '../../../src/registry/db/node.ts'
import { getVersion } from '../../../src/registry/db/version.ts'
import { OPTIONS, signalOf, stored, useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const reject = (versionId: string, text: string) =>
  database.sql.begin((sql) =>
    rejectArchive(sql, { versionId, sha256: stored(text).sha256, code: 'bad_zip' }),
  )

describe('the archive of a version', () => {
  test('an archive is accepted or rejected once, and only with the bytes that were checked', async () => {
    const id = await place.addVersion({ nodeId: 'checked' })
    assert.equal(await place.accept(id, 'first'), false, 'before there is one')
    await place.receive(id, 'first')
    await place.receive(id, 'second')
    assert.equal(await place.accept(id, 'first'), false, 'replaced meanwhile')
    assert.equal(await reject(id, 'first'), false, 'replaced meanwhile')
    assert.ok(!('downloadUrl' in (await getVersion(database.sql, id, OPTIONS))), 'no link yet')
    assert.equal(await place.accept(id, 'second'), true)
    assert.equal(await place.accept(id, 'second'), false, 'twice')
    assert.equal(await reject(id, 'second'), false, 'after acceptance')
    assert.ok(!('downloadUrl' in (await getVersion(database.sql, id, OPTIONS))), 'not yet Active')
    assert.ok(await place.transition(id, 'pass'), 'passed')
    const version = await getVersion(database.sql, id, OPTIONS)
    assert.equal(version.downloadUrl, 'http://kiln.test/archives/pub/checked/1.0.0/node.zip')
    assert.equal((await findArchive(database.sql, id))?.storageKey, `archives/${id}`)
  })

  test('of fifty uploads and an acceptance at once is one that was accepted as a whole', async () => {
    const id = await place.addVersion({ nodeId: 'race' })
    await place.receive(id, 'early')
    const [accepted, ...received] = await Promise.all([
      place.accept(id, 'early'),
      ...Array.from({ length: 50 }, (_, index) => place.receive(id, `late ${index}`)),
    ])
    const kept = await findArchive(database.sql, id)
    const state = (await findArchivePlace(database.sql, id))?.archiveState
    if (accepted) {
      assert.deepEqual([kept?.sha256, state], [stored('early').sha256, 'accepted'])
      const results = new Set(received.map(({ result }) => result))
      assert.deepEqual(results, new Set(['archive_exists']), 'none after it')
    } else assert.equal(state, 'received')
  })
})

describe('the wait for an archive', () => {
  const countSignals = async (versionId: string) => {
    const { workflowId, signalName } = signalOf(versionId)
    const rows = await database.sql`
      select from outbox where workflow_id = ${workflowId} and signal_name = ${signalName}
    `
    return rows.length
  }

  test('gets a signal of another deadline and of a deletion, and of nothing else', async () => {
    const nodeId = 'awaited'
    const id = await place.addVersion({ nodeId })
    assert.equal(await countSignals(id), 0)
    await place.publish({ nodeId, uploadSeconds: 7200 })
    assert.equal(await countSignals(id), 1)
    await place.transition(id, 'give_up_checks')
    assert.equal(await countSignals(id), 1)
    await place.transition(id, 'delete')
    assert.equal(await countSignals(id), 2)
  })

  test('that is over gets no signal', async () => {
    const id = await place.addVersion({ nodeId: 'overdue', uploadSeconds: -400 })
    assert.equal(await database.sql.begin((sql) => expireVersion(sql, id)), true)
    assert.equal(await countSignals(id), 0)
  })
})

describe('installs', () => {
  test('are counted on node and day, and rewrite no row of the node', async () => {
    const versionId = await place.addActive({ nodeId: 'popular' })
    const readNode = async () => {
      const [row] = await database.sql`select xmin::text from node where id = 'popular'`
      return row
    }
    const before = await readNode()
    const count = () => countDownload(database.sql, { nodeId: 'popular', versionId })
    await Promise.all(Array.from({ length: 40 }, count))
    assert.equal((await getNode(database.sql, 'popular', OPTIONS)).downloads, 40)
    const [counted] = await database.sql`
      select sum(n)::integer as n from download_day where version_id = ${versionId}
    `
    assert.equal(counted?.['n'], 40)
    assert.deepEqual(await readNode(), before)
  })
})
