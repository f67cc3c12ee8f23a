import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

import { withArchive } from '../../activities/stored-archive.ts'
import { makeLocalInspector } from '../../src/adapters/inspector/local.ts'
import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import { acceptArchive, recordArchive } from '../../src/db/registry/archive.ts'
import type { Sql } from '../../src/db/client.ts'
import { putExtraction, settleExtraction } from '../../src/db/registry/extraction.ts'
import { insertPublication } from '../../src/db/registry/publish.ts'
import { putScan } from '../../src/db/registry/scan.ts'
import { moveVersion } from '../../src/db/registry/version-move.ts'
import type { VersionMoveName } from '../../src/domain/registry/version-move.ts'
import { parseVersionNumber } from '../../src/domain/registry/version-number.ts'
import { makeGate } from '../../src/domain/shared/gate.ts'
import { signalArchiveUploaded, startPublishVersion } from '../../src/jobs/version.ts'
import { unitOfWork } from '../../src/db/unit-of-work.ts'
import type { PublishOnce, Target } from './target.ts'

/** What a worker of media reads at once. */
const READERS = 2
const PATIENCE_MS = 600_000

/**
 * The steps of a publication in a row and nothing between them: the transactions, the bytes written, hashed and synced,
 * read by the service's inspector, as many at once as its worker reads, and named for good. No HTTP, no workflow; nobody
 * is told of the rows in the outbox, which are removed.
 */
export const makeRawPublish = async (sql: Sql, storagePath: string, target: Target) => {
  const storage = makeLocalStorage({ root: storagePath })
  const scratchDir = await storage.scratchDir('bench')
  const inspector = makeLocalInspector({ dir: scratchDir })
  const gate = makeGate(READERS)

  /** Reads the stored bytes for everything, stores what was found and gives the archive its final name. */
  const read = async ({ id: versionId, nodeId }: NewVersion, archive: StoredArchive) => {
    const { sha256 } = archive
    const { signal } = new AbortController()
    await withArchive({ storage, scratchDir }, { archive }, signal, async (path) => {
      const found = await inspector.inspect({ path, nodeId, dependencies: [], signal })
      const { archive: judged, nodes, findings } = found
      if (judged.verdict !== 'sound') throw new Error(`the archive is ${judged.verdict}`)
      await sql.begin((sql) => putExtraction(sql, { versionId, sha256 }, nodes))
      await sql.begin((sql) => putScan(sql, { versionId, sha256 }, findings))
      const storageKey = `archives/${versionId}/${sha256}.zip`
      await storage.putFile(storageKey, path)
      const { entries } = judged
      await sql.begin((sql) => acceptArchive(sql, { versionId, sha256, storageKey, entries }))
    })
  }

  const publishOnce: PublishOnce = async (bytes, { nodeId, version }) => {
    const id = randomUUID()
    const made = { id, nodeId, version }
    await insertVersion(sql, target, made)
    const storageKey = `uploads/bench/${id}`
    const maxBytes = bytes.length
    const { sha256 } = await storage.putStream(storageKey, Readable.from(cut(bytes)), { maxBytes })
    const archive = { storageKey, sha256, bytes: bytes.length }
    const signal = signalArchiveUploaded(id)
    await unitOfWork({ sql }, (sql, tell) =>
      recordArchive(sql, { versionId: id, signal, ...archive }, tell),
    )
    await move(sql, id, 'start_checks')
    await gate.run(() => read(made, archive), PATIENCE_MS)
    await sql.begin((sql) => settleExtraction(sql, id))
    await move(sql, id, 'pass')
    await storage.remove(storageKey)
    await sql`delete from outbox where workflow_id = ${`receive-archive/${id}`}`
  }
  return { publishOnce, stop: () => inspector.close() }
}

type NewVersion = Record<'id' | 'nodeId' | 'version', string>

interface StoredArchive {
  storageKey: string
  sha256: string
  bytes: number
}

/** In pieces as a socket gives them. */
const cut = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, at) =>
    bytes.subarray(at * PIECE, (at + 1) * PIECE),
  )

const PIECE = 65_536

const move = async (sql: Sql, id: string, name: VersionMoveName): Promise<void> => {
  const isMoved = await sql.begin((sql) => moveVersion(sql, { id, name, actor: 'workflow' }))
  if (!isMoved) throw new Error(`the version does not ${name}`)
}

const insertVersion = async (
  sql: Sql,
  { publisherId, userId, tokenId }: Target,
  { id, nodeId, version }: NewVersion,
): Promise<void> => {
  const number = parseVersionNumber(version)
  if (!number) throw new Error(`no version: ${version}`)
  const facts = { versionId: id, nodeId, version, publisherId, owner: userId }
  const publication = {
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
  }
  await unitOfWork({ sql }, async (sql, tell) => {
    const done = await insertPublication(sql, publication, { publicUrl: 'http://127.0.0.1', tell })
    if (done.result !== 'published') throw new Error(done.result)
    // Nobody is to start a workflow for it.
    await sql`delete from outbox where workflow_id = ${`publish-version/${id}`}`
  })
}
