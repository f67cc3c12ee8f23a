import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'

import { ApplicationFailure } from '@temporalio/activity'

import type { MediaDependencies } from '../../support/media.ts'
import {
  makeInspectArchive,
  type InspectedArchive,
} from '../../../activities/registry/inspect-archive.ts'
import { makeVersionTransitions } from '../../../activities/registry/version.ts'
import type { Storage } from '../../../src/platform/storage/storage.ts'
import { findArchivePlace } from '../../../src/registry/db/archive.ts'
import { findScan, forgetScan, listFindings } from '../../../src/registry/db/scan.ts'
import { findVersionState, transitionVersion } from '../../../src/registry/db/version-transition.ts'
import type { VersionTransitionName } from '../../../src/registry/domain/version-transition.ts'
import { makeRegistryPlace, type RegistryPlace } from '../db/registry-place.ts'
import { sha256Of } from '../../support/digest.ts'
import { waitFor } from '../../support/wait.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { makeZip } from '../../support/zip.ts'
import { makeEnvironment, usePlace } from '../../tasks/activities/place.ts'
import { uploadArchive } from './version-upload.ts'

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}')
const OTHER = makeZip('NODE_CLASS_MAPPINGS = None')
const PENDING = 'NodeVersionStatusPending'
const ACTIVE = 'NodeVersionStatusActive'
const FLAGGED = 'NodeVersionStatusFlagged'

let registry: RegistryPlace
let transitions: ReturnType<typeof makeVersionTransitions>
let count = 0

const place = usePlace(async ({ database, deps }) => {
  registry = makeRegistryPlace(database)
  await registry.addPublisher('pub')
  transitions = makeVersionTransitions(deps)
})

const addVersion = (): Promise<string> => {
  count += 1
  return registry.addVersion({ nodeId: `pack-${count}` })
}

const upload = (versionId: string, bytes: Buffer, recorded = bytes) =>
  uploadArchive(place, { versionId, bytes, recorded })

const addUploaded = async (bytes = ZIP): Promise<string> => {
  const id = await addVersion()
  await upload(id, bytes)
  return id
}

const ATTEMPTS = 5
const inspect = (
  id: string,
  deps: Partial<MediaDependencies> = {},
  environment = makeEnvironment(),
): Promise<InspectedArchive> =>
  environment.run<[string, number], InspectedArchive, ReturnType<typeof makeInspectArchive>>(
    makeInspectArchive({ ...place.deps, ...deps }),
    id,
    ATTEMPTS,
  )

const check = async (id: string, deps?: Partial<MediaDependencies>) =>
  (await inspect(id, deps)).archiveState

/** The store with one of its functions in place of the own. */
const storeWith = (own: Partial<Storage>): Storage => ({ ...place.deps.storage, ...own })
const storeRejecting = (cause: Error): Storage =>
  storeWith({ putFile: () => Promise.reject(cause) })

const see = async (id: string) => {
  const state = await findVersionState(place.deps.sql, id)
  if (!state) throw new Error(`no version ${id}`)
  return state
}

const listFiles = async (id: string): Promise<string[]> => [
  ...(await place.deps.storage.list(`uploads/${id}`)),
  ...(await place.deps.storage.list(`archives/${id}`)),
]

const countTransitions = async (id: string): Promise<number> =>
  (await place.deps.sql`select from version_transition where version_id = ${id}`).length

const transition = (id: string, name: VersionTransitionName) =>
  place.deps.sql.begin((sql) => transitionVersion(sql, { id, name, actor: 'user:root' }))

const makeLate = (id: string) => place.deps.sql`
  update version set upload_expires_at = clock_timestamp() - interval '6 minutes' where id = ${id}
`

describe('content that was banned', () => {
  const CODE = `NODE_CLASS_MAPPINGS = {} # ${'malware '.repeat(40)}`
  const makePack = (version: string, more: Record<string, string> = {}, folder = '') =>
    writeZip(
      Object.entries({
        '__init__.py': CODE,
        'pyproject.toml': `[project]\nversion = "${version}"\n`,
        ...more,
      }).map(([name, data]) => ({ name: folder + name, data })),
    )
  const publish = async (zip: Buffer, nodeId?: string) => {
    const id = nodeId ? await registry.addVersion({ nodeId, version: '2.0.0' }) : await addVersion()
    await upload(id, zip)
    assert.equal(await check(id), 'accepted')
    return id
  }
  const decide = async (id: string) => (await transitions.decideVersion(id)).status
  const findingsOf = async (id: string, isNamed = true) =>
    (await listFindings(place.deps.sql, id, isNamed))
      .filter(({ scanner }) => scanner === 'registry')
      .map(({ issue_type, severity, file_path, same_as }) =>
        [issue_type, severity, file_path, same_as].filter(Boolean).join(' '),
      )

  test('is flagged under every number and node, until an admin frees it', async () => {
    const first = await publish(makePack('1.0.0'))
    assert.equal(await decide(first), ACTIVE)
    const name = `pack-${count}@1.0.0`
    await transition(first, 'admin_ban')
    const again = await publish(makePack('2.0.0'), `pack-${count}`)
    const elsewhere = await publish(makePack('3.0.0', {}, 'folder/'))
    for (const id of [again, elsewhere]) {
      assert.equal(await decide(id), FLAGGED)
      assert.doesNotMatch((await see(id)).reason, /pack-/)
      assert.deepEqual(await findingsOf(id), [`banned-content high ${name}`])
      assert.deepEqual(await findingsOf(id, false), ['banned-content high'])
    }
    // An admin frees it in one node.
    const elsewhereId = `pack-${count}`
    await transition(elsewhere, 'admin_activate')
    assert.equal(await decide(await publish(makePack('4.0.0'), elsewhereId)), ACTIVE)
    assert.equal(await decide(await publish(makePack('4.0.0'))), FLAGGED)
    // Its deletion changes nothing: what was banned is the content.
    await transition(first, 'admin_flag')
    await transition(again, 'admin_delete')
    assert.equal(await decide(await publish(makePack('5.0.0'))), FLAGGED)
    await transition(first, 'admin_activate')
    assert.equal(await decide(await publish(makePack('6.0.0'))), ACTIVE)
  })

  test('decides nothing before the scan', async () => {
    const first = await publish(makePack('1.0.0', { 'scan.py': 'NOT_SCANNED = 1' }))
    assert.equal(await decide(first), ACTIVE)
    await transition(first, 'admin_ban')
    const again = await publish(makePack('2.0.0', { 'scan.py': 'NOT_SCANNED = 1' }))
    await place.deps.sql.begin((sql) => forgetScan(sql, again))
    assert.equal(await decide(again), PENDING)
    assert.deepEqual(await findingsOf(again), [])
  })

  test('does not end with a copy, and does not free it', async () => {
    const sent = { 'copied.py': 'COPIED = 1' }
    assert.equal(await decide(await publish(makePack('1.0.0', sent))), ACTIVE)
    const owner = `pack-${count}`
    const copy = await publish(makePack('1.0.0', { ...sent, 'pyproject.toml': 'worse' }))
    assert.equal(await decide(copy), ACTIVE)
    await transition(copy, 'admin_ban')
    const next = await publish(makePack('2.0.0', sent), owner)
    assert.equal(await decide(next), ACTIVE)
    await transition(next, 'admin_flag')
    await transition(next, 'admin_activate')
    assert.equal(await decide(await publish(makePack('1.0.0', sent))), FLAGGED)
  })

  test('is that of banned nodes, too, while they are banned', async () => {
    const sent = { 'node.py': 'OF_A_BANNED_NODE = 1' }
    assert.equal(await decide(await publish(makePack('1.0.0', sent))), ACTIVE)
    const nodeId = `pack-${count}`
    const setStatus = (status: string) =>
      place.deps.sql`update node set status = ${status} where id = ${nodeId}`
    await setStatus('NodeStatusBanned')
    assert.equal(await decide(await publish(makePack('1.0.0', sent))), FLAGGED)
    await setStatus('NodeStatusActive')
    assert.equal(await decide(await publish(makePack('1.0.0', sent))), ACTIVE)
  })

  test('is followed by other names, which are for a person to see', async () => {
    const id = await publish(makePack('1.0.0', { '__init__.py': 'E = 1' }))
    const nodeId = `pack-${count}`
    await place.deps.sql`
      insert into node_host_policy (node_id, host_node_name, policy)
      values (${nodeId}, 'Evil', 'HostNodePolicyBanned')
    `
    assert.equal(await decide(id), ACTIVE)
    assert.deepEqual(await findingsOf(id), [])
    const next = await publish(makePack('2.0.0', { '__init__.py': 'E = 2' }), nodeId)
    await place.deps.sql`
      insert into host_node (version_id, host_node_name) values (${next}, 'evil')
    `
    assert.equal(await decide(next), ACTIVE)
    const [found] = await listFindings(place.deps.sql, next, true)
    assert.match(found?.message ?? '', /before has not: evil$/)
    const [tagged] = await place.deps.sql`select tags_admin as tags from version where id = ${next}`
    assert.deepEqual(tagged?.['tags'], ['security:banned-host-node'])
  })

  test('may be changed: a file of it, in whatever node, is for a person to see', async () => {
    const code = { '__init__.py': `${CODE}again` }
    const first = await publish(makePack('1.0.0', { ...code, 'a.py': 'A = 1' }))
    await transition(first, 'admin_ban')
    const nodeId = `pack-${count}`
    const own = await publish(makePack('2.0.0', { ...code, 'a.py': 'A = 2' }), nodeId)
    const other = await publish(makePack('2.0.0', { ...code, 'a.py': 'A = 1', 'b.py': '' }))
    assert.deepEqual([await decide(own), await decide(other)], [ACTIVE, ACTIVE])
    const found = [`banned-file medium __init__.py ${nodeId}@1.0.0`]
    assert.deepEqual([await findingsOf(own), await findingsOf(other)], [found, found])
  })

  test('may have an id, or a name, that another publisher is known by', async () => {
    assert.equal(await decide(await publish(makePack('1.0.0', { 'f.py': 'F = 1' }))), ACTIVE)
    const known = `pack-${count}`
    await registry.addPublisher('copyist')
    const rulesOf = async (nodeId: string, name: string) => {
      const publisherId = 'copyist'
      const id = await registry.addVersion({ publisherId, nodeId, fields: { name } })
      await upload(id, makePack('1.0.0', { '__init__.py': `F = '${nodeId}'` }))
      assert.deepEqual([await check(id), await decide(id)], ['accepted', ACTIVE])
      return (await listFindings(place.deps.sql, id, true)).map(
        ({ issue_type, message }) => issue_type + message.slice(message.lastIndexOf(' ')),
      )
    }
    const alike = [`look-alike-id ${known}`]
    assert.deepEqual(await rulesOf(`PACK__${count}`, 'Mine'), alike)
    assert.deepEqual(await rulesOf('another-1', known.toUpperCase()), alike)
    assert.deepEqual(await rulesOf('another-2', 'Mine'), [])
  })

  test('may be flagged by hand, or before it was read', async () => {
    const first = await addVersion()
    await transition(first, 'admin_flag')
    await upload(first, makePack('1.0.0', { 'c.py': 'C = 1' }))
    assert.equal(await check(first), 'accepted')
    const again = await publish(makePack('2.0.0', { 'c.py': 'C = 1' }))
    assert.equal(await decide(again), FLAGGED)
  })

  test('is flagged also where the ban is being written meanwhile', async () => {
    const sent = { 'd.py': 'D = 1' }
    const first = await publish(makePack('1.0.0', sent))
    assert.equal(await decide(first), ACTIVE)
    const second = await publish(makePack('2.0.0', sent))
    let decided: Promise<string> | undefined
    await place.deps.sql.begin(async (sql) => {
      await transitionVersion(sql, { id: first, name: 'admin_ban', actor: 'user:root' })
      decided = decide(second)
      await waitFor('the decision waits for the ban', async () => {
        const [waiting] = await place.deps.sql`
          select from pg_locks l join pg_database d on d.oid = l.database
          where d.datname = current_database() and l.locktype = 'advisory' and not l.granted
        `
        return waiting !== undefined
      })
    })
    assert.equal(await decided, FLAGGED)
  })
})

describe('waiting for an upload', () => {
  test('says how long it may still come', async () => {
    const wait = await transitions.finishUpload(await addVersion())
    assert.deepEqual([wait.status, wait.hasArchive], [PENDING, false])
    assert.ok(wait.waitMs > 3_800_000 && wait.waitMs <= 3_900_000, `${wait.waitMs}`)
  })

  test('ends with the archive', async () => {
    const id = await addUploaded()
    const { transition } = await see(id)
    const arrived = { status: PENDING, hasArchive: true, waitMs: 0, transition }
    assert.deepEqual(await transitions.finishUpload(id), arrived)
  })

  test('ends a version whose time is over, and frees its number', async () => {
    const nodeId = 'never-uploaded'
    const id = await registry.addVersion({ nodeId })
    // What a killed api stored and could not record.
    await place.deps.storage.putStream(`uploads/${id}/x`, Readable.from([ZIP]), { maxBytes: 1e6 })
    await makeLate(id)
    const ended = { status: 'NodeVersionStatusDeleted', hasArchive: false, waitMs: 0 }
    assert.deepEqual(await transitions.finishUpload(id), ended)
    assert.deepEqual(await transitions.finishUpload(id), ended)
    const { reason, archiveState } = await see(id)
    assert.deepEqual([archiveState, reason], ['expired', 'archive was not uploaded in time'])
    assert.deepEqual([await listFiles(id), await countTransitions(id)], [[], 2])
    assert.notEqual(await registry.addVersion({ nodeId }), id)
  })

  test('goes on for a deadline that was moved', async () => {
    const id = await registry.addVersion({ nodeId: 'again' })
    await makeLate(id)
    assert.equal(await registry.addVersion({ nodeId: 'again' }), id)
    assert.ok((await transitions.finishUpload(id)).waitMs > 3_000_000, 'an hour more')
  })

  test('ends with the deletion, and for one that an operator blocked when its time is over', async () => {
    const deleted = await addVersion()
    await transition(deleted, 'delete')
    assert.equal((await transitions.finishUpload(deleted)).waitMs, 0)
    const banned = await addVersion()
    await transition(banned, 'admin_ban')
    assert.ok((await transitions.finishUpload(banned)).waitMs > 0, 'it may still come')
    await makeLate(banned)
    const ended = { status: 'NodeVersionStatusBanned', hasArchive: false, waitMs: 0 }
    assert.deepEqual(await transitions.finishUpload(banned), ended)
  })

  test('ends for a version that is not there', async () => {
    assert.equal((await transitions.finishUpload(randomUUID())).waitMs, 0)
  })
})

describe('checking an archive', () => {
  test('accepts a good one at its final key', async () => {
    const id = await addUploaded()
    assert.equal(await check(id), 'accepted')
    const found = await findArchivePlace(place.deps.sql, id)
    assert.equal(found?.archive?.storageKey, `archives/${id}/${sha256Of(ZIP)}.zip`)
    const { stream } = await place.deps.storage.open(found.archive.storageKey)
    assert.deepEqual(Buffer.concat((await stream.toArray()) as Buffer[]), ZIP)
  })

  test('finds the verdict the second time', async () => {
    const id = await addUploaded()
    assert.deepEqual([await check(id), await check(id)], ['accepted', 'accepted'])
  })

  test('takes a zip with a comment, and an empty one', async () => {
    const comment = Buffer.from('a commit')
    const commented = Buffer.concat([ZIP, comment])
    commented.writeUInt16LE(comment.length, ZIP.length - 2)
    const empty = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)])
    for (const bytes of [commented, empty])
      assert.equal(await check(await addUploaded(bytes)), 'accepted')
  })

  const BAD: [string, Buffer][] = [
    ['truncated', ZIP.subarray(0, ZIP.length / 2)],
    ['truncated', ZIP.subarray(0, -1)],
    ['not_a_zip', Buffer.from('#!/bin/sh')],
  ]
  for (const [code, bytes] of BAD)
    test(`rejects one of ${bytes.length} bytes as ${code}`, async () => {
      const id = await addUploaded(bytes)
      assert.equal(await check(id), 'rejected')
      assert.equal((await see(id)).archiveCode, code)
    })

  const rejectsAs = (code: string) => (error: unknown) => {
    assert.ok(error instanceof ApplicationFailure, String(error))
    assert.deepEqual([error.type, error.nonRetryable], [code, false])
    return true
  }

  test('rejects no archive that the store has lost or changed', async () => {
    const lost = await addUploaded()
    await place.deps.storage.removePrefix(`uploads/${lost}`)
    await assert.rejects(check(lost), rejectsAs('archive_missing'))
    const changed = await addVersion()
    await upload(changed, OTHER, ZIP)
    await assert.rejects(check(changed), rejectsAs('archive_differs'))
    for (const id of [lost, changed]) assert.equal((await see(id)).archiveState, 'received')
  })

  test('reports an error of the store as no issue of the archive, and without its message', async () => {
    const full = Object.assign(new Error('ENOSPC /secret/path'), { syscall: 'write' })
    const storage = storeRejecting(full)
    const id = await addUploaded()
    await assert.rejects(check(id, { storage }), (error: Error) => {
      assert.doesNotMatch(error.message, /secret/)
      return rejectsAs('storage_failed')(error)
    })
    assert.equal(await check(id), 'accepted')
  })

  const outage = Object.assign(new Error('no response'), { isOutage: true })
  const full = Object.assign(new Error('no space'), { syscall: 'write' })
  /** Error thrown, number of the attempt, outages before it; whether it is final, and its heartbeat. */
  const FAILURES: [Error, attempt: number, outages: number, final: boolean, beat?: object][] = [
    [full, 4, 0, false],
    [full, 5, 0, true],
    [full, 14, 10, false],
    [full, 15, 10, true],
    [outage, 5, 0, false, { outages: 1 }],
    [outage, 500, 499, false, { outages: 500 }],
  ]
  for (const [error, attempt, outages, nonRetryable, heartbeat] of FAILURES)
    test(`ends with attempt ${ATTEMPTS}, outages aside: ${error.message} at ${attempt} after ${outages}`, async () => {
      const id = await addUploaded()
      const environment = makeEnvironment({ attempt, heartbeatDetails: { outages } })
      let last: unknown
      environment.on('heartbeat', (details) => (last = details))
      const failing = inspect(id, { storage: storeRejecting(error) }, environment)
      await assert.rejects(failing, { type: 'storage_failed', nonRetryable })
      if (heartbeat) assert.deepEqual(last, heartbeat)
    })

  test('is not begun when each of its workers was lost', async () => {
    const environment = makeEnvironment({ attempt: ATTEMPTS + 1 })
    const inspecting = inspect(await addUploaded(), {}, environment)
    await assert.rejects(inspecting, { type: 'worker_lost', nonRetryable: true })
  })

  test('goes on with the one that has replaced it meanwhile', async () => {
    const id = await addUploaded()
    let calls = 0
    const storage = storeWith({
      fetchToFile: async (key, path) => {
        if ((calls += 1) === 1) {
          await upload(id, OTHER)
          await place.deps.storage.remove(key)
        }
        await place.deps.storage.fetchToFile(key, path)
      },
    })
    assert.equal(await check(id, { storage }), 'accepted')
    const found = await findArchivePlace(place.deps.sql, id)
    assert.deepEqual([found?.archive?.sha256, calls], [sha256Of(OTHER), 2])
  })

  test('leaves the findings of the one that another attempt has read meanwhile', async () => {
    const id = await addUploaded()
    const environment = makeEnvironment()
    const inspector: typeof place.deps.inspector = {
      ...place.deps.inspector,
      inspect: async (request) => {
        const found = await place.deps.inspector.inspect(request)
        await upload(id, OTHER)
        assert.equal(await check(id), 'accepted')
        environment.cancel()
        return found
      },
    }
    await inspect(id, { inspector }, environment).catch(() => {})
    assert.deepEqual((await findScan(place.deps.sql, id))?.counts, { high: 0, medium: 0, info: 0 })
  })

  test('goes on for a version that an operator has flagged, and not for a deleted one', async () => {
    const flagged = await addUploaded(makeZip('NODE_CLASS_MAPPINGS = {} # flagged'))
    await transition(flagged, 'admin_flag')
    assert.equal(await check(flagged), 'accepted')
    const deleted = await addUploaded()
    await transition(deleted, 'delete')
    assert.equal(await check(deleted), 'received')
    assert.equal(await check(randomUUID()), 'gone')
  })
})

describe('deciding on a version', () => {
  const checked = async (bytes = ZIP): Promise<string> => {
    const id = await addUploaded(bytes)
    await transitions.startChecks(id)
    await check(id)
    return id
  }

  test('says once that the checks run', async () => {
    const id = await addUploaded()
    await transitions.startChecks(id)
    await transitions.startChecks(id)
    const { status, reason } = await see(id)
    assert.deepEqual([status, reason], [PENDING, 'archive received, checks are running'])
    assert.equal(await countTransitions(id), 2)
  })

  test('makes it Active with its archive, once, and leaves nothing else', async () => {
    const id = await checked()
    const decided = { status: 'NodeVersionStatusActive', result: 'archive accepted' }
    assert.deepEqual(await transitions.decideVersion(id), decided)
    assert.deepEqual(await transitions.decideVersion(id), decided)
    assert.equal((await see(id)).reason, 'Passed automated checks')
    assert.deepEqual(await listFiles(id), [`archives/${id}/${sha256Of(ZIP)}.zip`])
    assert.equal(await countTransitions(id), 3)
  })

  test('leaves nothing of an archive that was replaced after it had been found good', async () => {
    const id = await addUploaded()
    let calls = 0
    const storage = storeWith({
      putFile: async (key, path) => {
        await place.deps.storage.putFile(key, path)
        if ((calls += 1) === 1) await upload(id, OTHER)
      },
    })
    assert.equal(await check(id, { storage }), 'accepted')
    assert.equal((await listFiles(id)).filter((key) => key.startsWith('archives/')).length, 2)
    await transitions.decideVersion(id)
    assert.deepEqual(await listFiles(id), [`archives/${id}/${sha256Of(OTHER)}.zip`])
  })

  test('flags it with a sentence when the archive was rejected', async () => {
    const id = await checked(ZIP.subarray(0, -30))
    const decided = { status: 'NodeVersionStatusFlagged', result: 'archive rejected: truncated' }
    assert.deepEqual(await transitions.decideVersion(id), decided)
    assert.equal(
      (await see(id)).reason,
      'The archive was rejected (truncated): The archive has no complete end record, it is cut or damaged: zip and send it again; mend it and publish the same version again: its number is free',
    )
  })

  for (const name of ['delete', 'admin_ban', 'admin_flag'] as const)
    test(`leaves it where ${name} has put it`, async () => {
      const id = await checked(makeZip(`NODE_CLASS_MAPPINGS = {} # ${name}`))
      await transition(id, name)
      const { status } = await see(id)
      assert.equal((await transitions.decideVersion(id)).status, status)
      assert.equal((await see(id)).status, status)
    })

  test('gives up once, with a reason, and goes on after a retry', async () => {
    const id = await addUploaded()
    await transitions.startChecks(id)
    assert.equal(await transitions.giveUpChecks(id, 'storage_failed'), PENDING)
    assert.equal(await transitions.giveUpChecks(id, 'storage_failed'), PENDING)
    const { reason, checksFailed } = await see(id)
    const why = 'the archive could not be read or stored'
    assert.equal(reason, `checks could not run (${why}); an operator can retry`)
    assert.deepEqual([checksFailed, await countTransitions(id)], [true, 3])
    assert.ok(await transition(id, 'retry'), 'the retry')
    await transitions.startChecks(id)
    await check(id)
    assert.equal((await transitions.decideVersion(id)).status, 'NodeVersionStatusActive')
    assert.equal(await countTransitions(id), 5)
  })

  test('gives nothing up of checks that began before a retry, nor starts them, however late it runs', async () => {
    const id = await addUploaded()
    const published = (await see(id)).transition
    const since = await transitions.startChecks(id, published)
    assert.equal(await transitions.giveUpChecks(id, 'storage_failed', since), PENDING)
    await transitions.startChecks(id, published)
    assert.deepEqual([(await see(id)).checksFailed, await countTransitions(id)], [true, 3])
    assert.ok(await transition(id, 'retry'), 'the retry')
    assert.equal(await transitions.giveUpChecks(id, 'storage_failed', since), PENDING)
    assert.deepEqual([(await see(id)).checksFailed, await countTransitions(id)], [false, 4])
  })

  test('gives nothing up of a version that was moved', async () => {
    const id = await addUploaded()
    await transition(id, 'admin_ban')
    assert.equal(await transitions.giveUpChecks(id, 'nonsense'), 'NodeVersionStatusBanned')
    assert.equal(await countTransitions(id), 2)
  })
})
