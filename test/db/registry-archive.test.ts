import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  findArchive,
  findArchivePlace,
  recordArchive,
  rejectArchive,
  startUpload,
} from '../../src/db/registry/archive.ts'
import { countDownload } from '../../src/db/registry/download.ts'
import { getNode } from '../../src/db/registry/node.ts'
import { getVersion } from '../../src/db/registry/version.ts'
import { unitOfWork } from '../../src/db/unit-of-work.ts'
import { OPTIONS, useRegistryPlace, signalOf, stored } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const reject = (versionId: string, text: string) =>
  database.sql.begin((sql) =>
    rejectArchive(sql, { versionId, sha256: stored(text).sha256, code: 'bad_zip' }),
  )
const listSignals = async (id: string): Promise<number> => {
  const rows = await database.sql`
    select from outbox where workflow_id = ${`receive-archive/${id}`}
      and signal_name = 'archiveUploaded'
  `
  return rows.length
}

describe('the archive of a version', () => {
  test('is received once of fifty uploads at once, and never of two together', async () => {
    const id = await place.addVersion({ nodeId: 'parallel' })
    const texts = Array.from({ length: 50 }, (_, index) => `bytes ${index} `.repeat(index + 1))
    const results = await Promise.all(texts.map((text) => place.receive(id, text)))
    assert.ok(
      results.every(({ result }) => result === 'received'),
      'each replaces the one before',
    )
    const kept = await findArchive(database.sql, id)
    const winner = texts.find((text) => stored(text).sha256 === kept?.sha256) ?? ''
    assert.deepEqual(kept, { versionId: id, ...stored(winner) })
    const replaced = results.flatMap((one) =>
      one.result === 'received' && one.replacedKey !== undefined ? [one.replacedKey] : [],
    )
    const keys = [...replaced, kept?.storageKey].toSorted()
    assert.deepEqual(keys, texts.map((text) => stored(text).storageKey).toSorted())
    assert.equal(await listSignals(id), 50)
  })

  test('is accepted or rejected once, and only with the bytes that were judged', async () => {
    const id = await place.addVersion({ nodeId: 'judged' })
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
    assert.ok(await place.move(id, 'pass'), 'passed')
    const version = await getVersion(database.sql, id, OPTIONS)
    assert.equal(version.downloadUrl, 'http://kiln.test/archives/pub/judged/1.0.0/node.zip')
    assert.equal((await findArchive(database.sql, id))?.storageKey, `archives/${id}`)
  })

  test('of fifty uploads and an acceptance at once is one that was accepted as a whole', async () => {
    const id = await place.addVersion({ nodeId: 'race' })
    await place.receive(id, 'judged')
    const [accepted, ...received] = await Promise.all([
      place.accept(id, 'judged'),
      ...Array.from({ length: 50 }, (_, index) => place.receive(id, `late ${index}`)),
    ])
    const kept = await findArchive(database.sql, id)
    const state = (await findArchivePlace(database.sql, id))?.archiveState
    if (accepted) {
      assert.equal(kept?.sha256, stored('judged').sha256)
      assert.equal(state, 'accepted')
      assert.ok(
        received.every(({ result }) => result === 'archive_exists'),
        'none after it',
      )
    } else assert.equal(state, 'received')
  })

  test('is replaced by the same bytes, too, of which nobody has to be told', async () => {
    const id = await place.addVersion({ nodeId: 'again' })
    await place.receive(id, 'bytes')
    const { sha256, bytes } = stored('bytes')
    const again = { versionId: id, storageKey: 'uploads/again', sha256, bytes }
    const receiveAgain = () =>
      unitOfWork(database, (sql) =>
        recordArchive(sql, { ...again, signal: signalOf(id) }, () => assert.fail('told again')),
      )
    const replacedKey = stored('bytes').storageKey
    assert.deepEqual(await receiveAgain(), { result: 'received', replacedKey })
    assert.equal((await findArchive(database.sql, id))?.storageKey, 'uploads/again')
    // Also of one that was begun in time and repeated late.
    await database.sql`
      update version set upload_expires_at = clock_timestamp() - interval '6 minutes' where id = ${id}
    `
    assert.equal((await receiveAgain()).result, 'received')
    assert.equal(await listSignals(id), 1)
  })

  test('is taken again with the same bytes, and refused with others, once it is decided', async () => {
    const accepted = await place.addActive({ nodeId: 'accepted' })
    assert.deepEqual(await place.receive(accepted, accepted), { result: 'same' })
    assert.deepEqual(await place.receive(accepted, 'other'), { result: 'archive_exists' })
    const rejected = await place.addVersion({ nodeId: 'rejected' })
    await place.receive(rejected, 'bad')
    assert.equal(await reject(rejected, 'bad'), true)
    assert.deepEqual(await place.receive(rejected, 'bad'), { result: 'same' })
    assert.deepEqual(await place.receive(rejected, 'other'), { result: 'archive_exists' })
    assert.equal(await startUpload(database.sql, rejected), false)
  })

  test('is not taken of a version that is deleted, or long after the deadline', async () => {
    const id = await place.addVersion({ nodeId: 'deadline' })
    assert.equal(await startUpload(database.sql, id), true)
    const setDeadline = (minutes: number) => database.sql`
      update version set upload_expires_at = clock_timestamp() - make_interval(mins => ${minutes})
      where id = ${id}
    `
    await setDeadline(6)
    assert.deepEqual(await place.receive(id, 'late'), { result: 'upload_expired' })
    await setDeadline(4)
    assert.equal((await place.receive(id, 'begun in time')).result, 'received')
    await place.move(id, 'delete')
    assert.deepEqual(await place.receive(id, 'more'), { result: 'upload_closed' })
    assert.deepEqual(await place.receive('11111111-1111-4111-8111-111111111111', 'x'), {
      result: 'version_not_found',
    })
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
    await Promise.all(
      Array.from({ length: 40 }, () =>
        countDownload(database.sql, { nodeId: 'popular', versionId }),
      ),
    )
    assert.equal((await getNode(database.sql, 'popular', OPTIONS)).downloads, 40)
    const [counted] = await database.sql`
      select sum(n)::integer as n from download_day where version_id = ${versionId}
    `
    assert.equal(counted?.['n'], 40)
    assert.deepEqual(await readNode(), before)
  })
})
