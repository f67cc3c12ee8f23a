import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import { makeLocalStorage } from '../../../src/platform/storage/local.ts'
import type { Storage } from '../../../src/platform/storage/storage.ts'
import { acceptArchive, findArchivePlace } from '../../../src/registry/db/archive.ts'
import type { ArchivePlace } from '../../../src/registry/db/archive.ts'
import type { OutboxRow } from '../../../src/platform/db/outbox.ts'
import { makeBudget } from '../../../src/platform/json-body/budget.ts'
import { uploadArchive } from '../../../src/registry/http/archive.ts'
import { makeArchiveDownloadRoute } from '../../../src/registry/http/archive-download-route.ts'
import { makeUploadRoutes, type UploadDeps } from '../../../src/tasks/http/upload-routes.ts'
import { makeRegistryPlace, signalOf } from '../db/registry-place.ts'
import type { Publishing, RegistryPlace } from '../db/registry-place.ts'
import { readContract } from '../../support/contract.ts'
import { sha256Of } from '../../support/digest.ts'
import { begin, readResponse, type Sent, type SentResponse } from '../../support/request.ts'
import { startRoutes } from '../../support/routes.ts'
import { createDatabase, type TestDatabase } from '../../support/stack.ts'

export interface SentArchive extends Sent {
  body?: Buffer
}

export const MAX_BYTES = 100_000

/** A registry and the routes of archives, for one test file. */
export const openArchivePlace = async () => {
  const root = await mkdtemp(join(tmpdir(), 'kiln-archive-'))
  const database: TestDatabase = await createDatabase()
  const { sql } = database
  const registry: RegistryPlace = makeRegistryPlace(database)
  await registry.addPublisher('pub')
  const real = makeLocalStorage({ root })
  const scratchDir = await real.scratchDir('bodies')
  const issues: { store?: Error | undefined } = {}
  const storage: Storage = {
    ...real,
    putFile: async (key, path) => {
      if (issues.store) throw issues.store
      await real.putFile(key, path)
    },
  }
  const signer = makeSigner({
    keys: [randomBytes(32).toString('base64')],
    publicUrl: 'http://kiln.example',
    linkSeconds: 86_400,
  })
  const dispatched: OutboxRow[] = []
  const deps = {
    sql,
    storage,
    signer,
    scratchDir,
    budget: makeBudget(),
    jobs: { dispatchNow: (row: OutboxRow) => dispatched.push(row) },
    quotas: { owner: { tasks: 9, bytes: 1e6, retentionDays: 30 } },
    now: () => new Date(),
  } as unknown as UploadDeps
  const server = await startRoutes(
    [
      ...makeUploadRoutes(deps, uploadArchive),
      makeArchiveDownloadRoute({ ...deps, registryReads: 'public' }),
    ],
    {
      sql,
    },
  )
  const checkResponse = await readContract()

  /** Begins a request to the path of a link. */
  const beginAt = (link: string, sent?: Sent): ClientRequest => {
    const { pathname, search } = new URL(link, 'http://kiln.example')
    return begin(server.url + pathname + search, { method: 'PUT', ...sent })
  }

  const readChecked = async (asked: ClientRequest): Promise<SentResponse> => {
    const response = await readResponse(asked)
    const { status, headers, body } = response
    const isJson = headers['content-type']?.startsWith('application/json') ?? false
    const path = new URL(asked.path, 'http://kiln.example').pathname
    checkResponse({ method: asked.method, path, status, body: isJson ? body : undefined })
    return response
  }

  const sendTo = async (link: string, { body, ...sent }: SentArchive = {}) => {
    const asked = beginAt(link, sent)
    asked.on('error', () => {}).end(body)
    return await readChecked(asked)
  }

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

  /** The link of an upload that lives an hour, unless something else is said. */
  const sign = (id: string, { expires = inSeconds(3600), max = MAX_BYTES } = {}): string =>
    signer.signArchive({ id, expires, max })

  /** A version that has passed its checks with these bytes. */
  const addActive = async (publishing: Publishing, bytes: Buffer): Promise<string> => {
    const id = await registry.addVersion(publishing)
    await sendTo(sign(id), { body: bytes })
    const storageKey = `archives/${id}/${sha256Of(bytes)}.zip`
    await real.putStream(storageKey, Readable.from([bytes]), { maxBytes: MAX_BYTES })
    await sql.begin((sql) =>
      acceptArchive(sql, { versionId: id, sha256: sha256Of(bytes), storageKey }),
    )
    await registry.transition(id, 'pass')
    return id
  }

  return {
    database,
    sql,
    registry,
    storage: real,
    signer,
    dispatched,
    issues,
    begin: beginAt,
    readResponse: readChecked,
    send: sendTo,
    sign,
    inSeconds,
    addActive,
    see: async (id: string): Promise<ArchivePlace> => {
      const place = await findArchivePlace(sql, id)
      if (!place) throw new Error(`no version ${id}`)
      return place
    },
    /** Signals that wait for Temporal. */
    countSignals: async (id: string): Promise<number> => {
      const { workflowId } = signalOf(id)
      return (await sql`select from outbox where workflow_id = ${workflowId}`).length
    },
    listUploads: (id: string) => real.list(`uploads/${id}`),
    listScratch: () => readdir(scratchDir),
    close: async () => {
      await server.close()
      await database.drop()
      await rm(root, { recursive: true, force: true })
    },
  }
}

export type ArchiveTestPlace = Awaited<ReturnType<typeof openArchivePlace>>
