import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import type { Storage } from '../../src/adapters/storage/storage.ts'
import { ZIP_HEAD_BYTES, beginsAsZip, hasEndRecord } from '../../src/adapters/zip-form.ts'
import { acceptArchive, receiveArchive } from '../../src/db/archive.ts'
import type { Sql } from '../../src/db/client.ts'
import { publishVersion } from '../../src/db/publish.ts'
import { moveVersion } from '../../src/db/version-move.ts'
import { parseVersionNumber } from '../../src/domain/version-number.ts'
import { signalArchiveUploaded, startPublishVersion } from '../../src/version-jobs.ts'
import type { Archive, PublishOnce, Target } from './target.ts'

interface Raw {
  sql: Sql
  storagePath: string
  target: Target
}

/**
 * The steps of a publication in a row and nothing between them: the transactions, the bytes written, hashed and synced,
 * read and judged, named for good. No HTTP, no workflow; nobody is told of the rows in the outbox, which are removed.
 */
export const makeRawPublish = async ({ sql, storagePath, target }: Raw): Promise<PublishOnce> => {
  const storage = makeLocalStorage({ root: storagePath })
  const scratchDir = await storage.scratchDir('bench')
  return async (archive, { nodeId, version }) => {
    const id = randomUUID()
    await publish(sql, { id, nodeId, version, target })
    const uploaded = `uploads/bench/${id}`
    const stored = await storage.putStream(uploaded, Readable.from(archive.chunks), {
      maxBytes: archive.bytes.length,
    })
    const { sha256 } = stored
    const bytes = archive.bytes.length
    await sql.begin((sql) =>
      receiveArchive(sql, {
        versionId: id,
        storageKey: uploaded,
        sha256,
        bytes,
        signal: signalArchiveUploaded(id),
      }),
    )
    await sql.begin((sql) => moveVersion(sql, { id, name: 'start_checks', actor: 'workflow' }))
    const storageKey = `archives/${id}/${sha256}.zip`
    await check(storage, { archive, uploaded, storageKey, path: join(scratchDir, id) })
    await sql.begin((sql) => acceptArchive(sql, { versionId: id, sha256, storageKey }))
    const isActive = await sql.begin((sql) =>
      moveVersion(sql, { id, name: 'pass', actor: 'workflow' }),
    )
    if (!isActive) throw new Error('the version is not active')
    await storage.remove(uploaded)
  }
}

const publish = async (
  sql: Sql,
  {
    id,
    nodeId,
    version,
    target: { publisherId, userId, tokenId },
  }: { id: string; nodeId: string; version: string; target: Target },
): Promise<void> => {
  const number = parseVersionNumber(version)
  if (!number) throw new Error(`no version: ${version}`)
  const facts = { versionId: id, nodeId, version, publisherId, owner: userId }
  await sql.begin(async (sql) => {
    const done = await publishVersion(
      sql,
      {
        id,
        publisherId,
        nodeId,
        fields: {},
        version: { version },
        number,
        uploadSeconds: 3_600,
        publishedBy: userId,
        tokenId,
        start: startPublishVersion(facts, { taskQueue: 'none' }),
      },
      { publicUrl: 'http://127.0.0.1' },
    )
    if (done.result !== 'published') throw new Error(done.result)
    // Nobody is to start a workflow for it.
    await sql`delete from outbox where workflow_id = ${`publish-version/${id}`}`
  })
}

interface Check {
  archive: Archive
  uploaded: string
  storageKey: string
  path: string
}

/** Reads the stored bytes, judges them and gives them their final name. */
const check = async (
  storage: Storage,
  { archive, uploaded, storageKey, path }: Check,
): Promise<void> => {
  try {
    await storage.fetchToFile(uploaded, path)
    const digest = createHash('sha256')
    await pipeline(createReadStream(path), digest)
    const file = await open(path, 'r')
    const { buffer } = await file.read({ buffer: Buffer.alloc(ZIP_HEAD_BYTES), position: 0 })
    await file.close()
    const isGood =
      digest.digest('hex') === archive.sha256 && beginsAsZip(buffer) && (await hasEndRecord(path))
    if (!isGood) throw new Error('the archive was damaged')
    await storage.putFile(storageKey, path)
  } finally {
    await rm(path, { force: true })
  }
}
