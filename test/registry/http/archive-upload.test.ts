import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'

import { rejectArchive } from '../../../src/registry/db/archive.ts'
import { waitFor } from '../../support/wait.ts'
import { sha256Of } from '../../support/digest.ts'
import { makeZip } from '../../support/zip.ts'
import { expectStatus } from '../../support/client.ts'
import { MAX_BYTES, openArchivePlace } from './archive-support.ts'
import type { ArchiveTestPlace, SentArchive as Sent } from './archive-support.ts'

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}')
const OTHER = makeZip('NODE_CLASS_MAPPINGS = None')

describe('the upload of an archive', () => {
  let place: ArchiveTestPlace
  let count = 0
  before(async () => {
    place = await openArchivePlace()
  })
  after(() => place.close())

  const addVersion = (): Promise<string> => {
    count += 1
    return place.registry.addVersion({ nodeId: `pack-${count}` })
  }
  const put = (id: string, sent: Sent = {}) => place.send(place.sign(id), { body: ZIP, ...sent })

  type Rejection = readonly [status: number, error: string]
  const assertRejected = async (id: string, rejection: Rejection, sent: Sent) => {
    expectStatus(await put(id, sent), ...rejection)
    assert.equal((await place.see(id)).archiveState, 'awaiting')
    assert.equal(await place.countSignals(id), 0)
    assert.deepEqual(await place.listUploads(id), [])
    await waitFor('its file is gone', async () => (await place.listScratch()).length === 0)
    // The link still works.
    assert.equal((await put(id)).status, 200)
    assert.equal((await place.see(id)).archive?.sha256, sha256Of(ZIP))
  }

  const TYPES = [
    undefined,
    'application/zip',
    'application/octet-stream',
    'application/x-zip-compressed',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; charset=latin1',
    'nonsense',
  ]
  for (const type of TYPES)
    test(`takes ${type ?? 'no'} Content-Type`, async () => {
      const id = await addVersion()
      const headers = type === undefined ? {} : { 'content-type': type }
      const { status, bytes } = await put(id, { headers })
      assert.deepEqual([status, bytes.toString()], [200, '{}'])
    })

  test('records the bytes with the signal, and keeps them whole', async () => {
    const id = await addVersion()
    expectStatus(await put(id), 200)
    const { archiveState, archive, status: version } = await place.see(id)
    assert.deepEqual([archiveState, version], ['received', 'NodeVersionStatusPending'])
    assert.deepEqual([archive?.sha256, archive?.bytes], [sha256Of(ZIP), ZIP.length])
    assert.deepEqual(await place.listUploads(id), [archive?.storageKey])
    const { stream } = await place.storage.open(archive?.storageKey ?? '')
    assert.deepEqual(Buffer.concat((await stream.toArray()) as Buffer[]), ZIP)
    const signal = place.dispatched.find(({ workflowId }) => workflowId === `receive-archive/${id}`)
    assert.ok(signal?.kind === 'signal' && signal.signalName === 'archiveUploaded', 'a signal')
  })

  const ENDED: [change: string, undo: string, ...Rejection][] = [
    [
      "node set status = 'NodeStatusDeleted'",
      "node set status = 'NodeStatusActive'",
      409,
      'node_deleted',
    ],
    [
      "node set status = 'NodeStatusBanned'",
      "node set status = 'NodeStatusActive'",
      403,
      'node_banned',
    ],
    [
      "publisher set status = 'PublisherStatusBanned'",
      "publisher set status = 'PublisherStatusActive'",
      403,
      'publisher_banned',
    ],
    [
      'personal_access_token set revoked_at = now()',
      'personal_access_token set revoked_at = null',
      409,
      'upload_closed',
    ],
    [
      'sign_in_account set disabled_at = now()',
      'sign_in_account set disabled_at = null',
      409,
      'upload_closed',
    ],
    [
      "publisher_member set user_id = 'nina'",
      "publisher_member set user_id = 'olga'",
      409,
      'upload_closed',
    ],
  ]
  for (const [change, undo, ...rejection] of ENDED)
    test(`takes none after update ${change}, not even one that had begun`, async () => {
      const id = await addVersion()
      await place.registry.addUser('nina')
      await place.sql`
        insert into sign_in_account (id, email) values ('olga', 'olga@example.com')
        on conflict do nothing
      `
      await place.sql.unsafe(`update ${change}`)
      expectStatus(await put(id), ...rejection)
      const late = await place.registry.receive(id, 'late')
      assert.equal(late.result, 'link_ended')
      await place.sql.unsafe(`update ${undo}`)
      expectStatus(await put(id), 200)
    })

  test('takes it in chunks, and of just the size that was signed', async () => {
    const id = await addVersion()
    const large = makeZip(randomBytes(MAX_BYTES - makeZip('').length))
    assert.equal(large.length, MAX_BYTES)
    const headers = { 'transfer-encoding': 'chunked' }
    assert.equal((await put(id, { headers, body: large })).status, 200)
    assert.equal((await place.see(id)).archive?.sha256, sha256Of(large))
  })

  const digestOf = (bytes: Buffer): string => Buffer.from(sha256Of(bytes), 'hex').toString('base64')
  for (const header of ['digest', 'content-digest', 'repr-digest']) {
    const value = (bytes: Buffer) =>
      header === 'digest' ? `SHA-256=${digestOf(bytes)}` : `sha-256=:${digestOf(bytes)}:`
    test(`compares the bytes with ${header}`, async () => {
      const right = { headers: { [header]: value(ZIP) } }
      expectStatus(await put(await addVersion(), right), 200)
      const wrong = { headers: { [header]: value(OTHER) } }
      await assertRejected(await addVersion(), [400, 'checksum_mismatch'], wrong)
    })
  }

  test('says both digests of bytes that do not match', async () => {
    const headers = { digest: `sha-256=${sha256Of(OTHER)}` }
    const { body } = expectStatus(
      await put(await addVersion(), { headers }),
      400,
      'checksum_mismatch',
    )
    const said = `The bytes must have the SHA-256 ${sha256Of(OTHER)} of Digest, and ${ZIP.length} came with ${sha256Of(ZIP)}.`
    assert.equal(body.message, said)
  })

  test('compares the bytes with hex in digest', async () => {
    const headers = { digest: `sha-256=${sha256Of(ZIP).toUpperCase()}` }
    assert.equal((await put(await addVersion(), { headers })).status, 200)
    const wrong = { headers: { digest: `sha-256=${sha256Of(OTHER)}` } }
    await assertRejected(await addVersion(), [400, 'checksum_mismatch'], wrong)
  })

  test('leaves other digests alone', async () => {
    const headers = { 'content-digest': 'sha-512=:AAAA:, sha-2567=:AAAA:', digest: 'md5=AAAA' }
    assert.equal((await put(await addVersion(), { headers })).status, 200)
  })

  const BASE64_FORM = 'must have the form sha-256=:<32 bytes in Base64>:'
  const UNREADABLE: [string, string, string][] = [
    ['content-range', 'bytes 100-199/200', 'must be absent: an upload is sent whole'],
    ['content-digest', 'sha-256=:AAAA:', BASE64_FORM],
    ['content-digest', 'sha-256=:!!!:', BASE64_FORM],
    ['content-digest', `sha-256=${sha256Of(ZIP)}`, BASE64_FORM],
    ['repr-digest', 'sha-256', BASE64_FORM],
    ['digest', 'SHA-256=AAAA', 'must have the form sha-256=<32 bytes in Base64>'],
  ]
  for (const [header, value, expectation] of UNREADABLE)
    test(`rejects ${header}: ${value}`, async () => {
      const sent = { headers: { [header]: value } }
      await assertRejected(await addVersion(), [400, 'validation_failed'], sent)
      const { body } = await put(await addVersion(), sent)
      const message = `${header} ${expectation}, got "${value}"`
      assert.equal(body.message?.toLowerCase(), message.toLowerCase())
      assert.deepEqual(body.details, [body.message])
    })

  test('with two digests is compared with both', async () => {
    const value = [ZIP, OTHER].map((bytes) => `sha-256=:${digestOf(bytes)}:`).join(', ')
    const wrong = { headers: { 'content-digest': value } }
    await assertRejected(await addVersion(), [400, 'checksum_mismatch'], wrong)
  })

  const CHUNKED = { 'transfer-encoding': 'chunked' }
  const INVALID: [string, Sent][] = [
    ['without a byte', { body: Buffer.alloc(0), headers: { 'content-length': 0 } }],
    ['of no chunk', { body: Buffer.alloc(0), headers: CHUNKED }],
    ['of text', { body: Buffer.from('<html>not found</html>') }],
    ['of three bytes of a zip', { body: ZIP.subarray(0, 3) }],
    ['that begins with something else', { body: Buffer.concat([Buffer.from('#!'), ZIP]) }],
    ['of a tar', { body: Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), ZIP]) }],
  ]
  for (const [name, sent] of INVALID)
    test(`rejects one ${name}`, async () => {
      await assertRejected(await addVersion(), [400, 'archive_invalid'], sent)
    })

  test('rejects more bytes than were signed while they stream', async () => {
    const body = Buffer.concat([ZIP, Buffer.alloc(MAX_BYTES)])
    await assertRejected(await addVersion(), [413, 'body_too_large'], { headers: CHUNKED, body })
  })

  test('changes nothing when it is cut midway', async () => {
    const id = await addVersion()
    const asked = place.begin(place.sign(id), { headers: { 'content-length': ZIP.length } })
    asked.on('error', () => {})
    asked.write(ZIP.subarray(0, ZIP.length / 2))
    await waitFor('half of it is there', async () => (await place.listScratch()).length === 1)
    asked.destroy()
    await waitFor('its file is gone', async () => (await place.listScratch()).length === 0)
    assert.equal((await place.see(id)).archiveState, 'awaiting')
    assert.equal((await put(id)).status, 200)
  })

  test('needs a link for archives: that for the input of a task leads to no version', async () => {
    const id = await addVersion()
    const grant = { id, expires: place.inSeconds(3600), max: MAX_BYTES }
    expectStatus(await place.send(place.signer.signUpload(grant), { body: ZIP }), 410, 'file_gone')
    assert.equal((await place.see(id)).archiveState, 'awaiting')
  })

  test('may end five minutes after the deadline, and no later', async () => {
    const late = async (minutes: number) => {
      const id = await addVersion()
      await place.sql`
        update version set upload_expires_at = clock_timestamp() - make_interval(mins => ${minutes})
        where id = ${id}
      `
      return { id, ...(await put(id)) }
    }
    assert.equal((await late(4)).status, 200)
    const { id } = expectStatus(await late(6), 403, 'upload_expired')
    assert.deepEqual(await place.listUploads(id), [])
  })

  test('replaces the one before it until there is a verdict', async () => {
    const id = await addVersion()
    assert.equal((await put(id)).status, 200)
    assert.equal((await put(id, { body: OTHER })).status, 200)
    const { archive } = await place.see(id)
    assert.equal(archive?.sha256, sha256Of(OTHER))
    assert.deepEqual(await place.listUploads(id), [archive?.storageKey])
    // The same bytes once more take the place of themselves, and no signal is sent.
    assert.equal((await put(id, { body: OTHER })).status, 200)
    const again = (await place.see(id)).archive
    assert.equal(again?.sha256, sha256Of(OTHER))
    assert.deepEqual(await place.listUploads(id), [again?.storageKey])
    assert.equal(await place.countSignals(id), 2)
  })

  test('makes whole what the store has lost', async () => {
    const id = await addVersion()
    assert.equal((await put(id)).status, 200)
    await place.storage.removePrefix(`uploads/${id}`)
    assert.equal((await put(id)).status, 200)
    const { archive } = await place.see(id)
    assert.deepEqual(await place.listUploads(id), [archive?.storageKey])
  })

  test('is deferred when the folder for unfinished files takes none', async () => {
    const id = await addVersion()
    const folder = await place.storage.scratchDir('bodies')
    await rmdir(folder)
    await writeFile(folder, 'a file, and no folder')
    const { status, body } = await put(id)
    await rm(folder)
    await mkdir(folder)
    assert.deepEqual([status, body.error], [503, 'unavailable'])
    assert.equal((await put(id)).status, 200)
  })

  const VERDICTS: [string, (id: string) => Promise<unknown>][] = [
    ['acceptance', (id) => place.addActive({ nodeId: `pack-of-${id}` }, ZIP)],
    [
      'rejection',
      async (id) => {
        const version = await place.registry.addVersion({ nodeId: `pack-of-${id}` })
        await put(version)
        await place.sql.begin((sql) =>
          rejectArchive(sql, { versionId: version, sha256: sha256Of(ZIP), code: 'truncated' }),
        )
        return version
      },
    ],
  ]
  for (const [name, decide] of VERDICTS)
    test(`after its ${name} is only repeated`, async () => {
      const id = String(await decide(name))
      const before = await place.see(id)
      const same = await put(id)
      assert.deepEqual([same.status, same.bytes.toString()], [200, '{}'])
      const other = expectStatus(await put(id, { body: OTHER }), 409, 'archive_exists')
      const isRejected = before.archiveState === 'rejected'
      const advice = isRejected ? /publish the same version again/ : /publish a higher number/
      assert.match(other.body.message ?? '', advice)
      const after = await place.see(id)
      assert.deepEqual([after.archive, after.archiveState], [before.archive, before.archiveState])
    })

  test('the upload of a deleted version is rejected, once its link is validated', async () => {
    const id = await addVersion()
    await place.registry.transition(id, 'delete')
    expectStatus(await put(id), 409, 'upload_closed')
    const forged = await place.send(`${place.sign(id)}x`, { body: ZIP })
    expectStatus(forged, 403, 'signature_invalid')
    const expired = await place.send(place.sign(id, { expires: 1 }), { body: ZIP })
    expectStatus(expired, 403, 'upload_expired')
    assert.match(expired.body.message ?? '', /publish the version again/)
  })

  test('is rejected for now while the store takes no files', async () => {
    const id = await addVersion()
    place.issues.store = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
    const rejected = await put(id)
    place.issues.store = undefined
    assert.deepEqual([rejected.status, rejected.body.error], [503, 'unavailable'])
    assert.equal(rejected.headers['retry-after'], '2')
    assert.equal((await place.see(id)).archiveState, 'awaiting')
    assert.equal((await put(id)).status, 200)
  })

  test('asks a client that waits for it to go on', async () => {
    const link = place.sign(await addVersion())
    const headers = { expect: '100-continue', 'content-length': ZIP.length }
    const asked = place.begin(link, { headers })
    asked.flushHeaders()
    await once(asked, 'continue')
    asked.end(ZIP)
    assert.equal((await place.readResponse(asked)).status, 200)
  })
})
