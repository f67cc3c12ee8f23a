import { createHash, randomUUID } from 'node:crypto'

import { acceptArchive, recordArchive, rejectArchive } from '../../../src/registry/db/archive.ts'
import { upsertUser } from '../../../src/identity/db/app-user.ts'
import type { Entries } from '../../../src/registry/db/search/entries.ts'
import { makeCountCache } from '../../../src/registry/db/search/listed-count.ts'
import { insertNode } from '../../../src/registry/db/node.ts'
import { insertPersonalAccessToken } from '../../../src/registry/db/personal-access-token.ts'
import { insertPublication, type PublicationResult } from '../../../src/registry/db/publish.ts'
import { insertPublisher } from '../../../src/registry/db/publisher.ts'
import { transitionVersion } from '../../../src/registry/db/version-transition.ts'
import type { NodeFields } from '../../../src/registry/domain/node.ts'
import type { VersionTransitionName } from '../../../src/registry/domain/version-transition.ts'
import { parseVersionNumber } from '../../../src/registry/domain/version-number.ts'
import type { NewVersion } from '../../../src/registry/domain/version.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { useDatabase, type TestDatabase } from '../../support/stack.ts'

export const OPTIONS = { publicUrl: 'http://kiln.test', cache: makeCountCache() }
export const AUDIT = { actor: 'root', requestId: 'request-1' }

/** Parses the entries of a list whose first statement has returned all of them. */
export const parseEntries = <Entry>({ texts, rest }: Entries): Entry[] => {
  if (rest.length > 0) throw new Error(`${rest.length} entries are left for later`)
  return texts.map((text) => JSON.parse(text) as Entry)
}

const TOKEN = {
  name: 'test',
  description: undefined,
  last4: 'abcd',
  scope: 'publish',
  nodeId: undefined,
  expires_at: undefined,
} as const

type Place = Pick<TestDatabase, 'sql'>

export interface Publishing {
  publisherId?: string
  nodeId: string
  version?: string
  fields?: NodeFields
  /** Fields of the version, beside its number. */
  given?: Partial<NewVersion>
  uploadSeconds?: number
}

/** Ways into a registry as its routes and workflows take them. */
export const makeRegistryPlace = ({ sql }: Place) => {
  /** Owner and token of each publisher. */
  const publishers = new Map<string, { owner: string; tokenId: string }>()

  const addUser = (id: string) =>
    upsertUser(sql, { id, name: `${id} by name`, email: `${id}@x.org` })

  /** A publisher of that owner, who gets a token. */
  const addPublisher = async (id: string, owner = 'olga'): Promise<string> => {
    await addUser(owner)
    const made = await sql.begin((sql) =>
      insertPublisher(sql, { publisher: { id }, userId: owner, limit: 1_000 }, OPTIONS),
    )
    if (made.result !== 'created') throw new Error(made.result)
    publishers.set(id, { owner, tokenId: await addToken(id, owner) })
    return id
  }

  const addToken = async (publisherId: string, userId: string): Promise<string> => {
    const sha256 = createHash('sha256').update(randomUUID()).digest('hex')
    const made = await sql.begin((sql) =>
      insertPersonalAccessToken(sql, { publisherId, userId, sha256, ...TOKEN }),
    )
    if (made.result !== 'created') throw new Error(made.result)
    return made.id
  }

  const addNode = async (id: string, fields: NodeFields = {}, publisherId = 'pub') => {
    const made = await sql.begin((sql) =>
      insertNode(sql, { publisherId, node: { id, ...fields } }, OPTIONS),
    )
    if (made.result !== 'created') throw new Error(made.result)
    return made.node
  }

  const publish = async ({
    publisherId = 'pub',
    nodeId,
    version = '1.0.0',
    fields = {},
    given = {},
    uploadSeconds = 3_600,
  }: Publishing): Promise<PublicationResult> => {
    const number = parseVersionNumber(version)
    if (!number) throw new Error(`no version: ${version}`)
    const id = randomUUID()
    return await unitOfWork({ sql }, (sql, enqueue) =>
      insertPublication(
        sql,
        {
          id,
          publisherId,
          nodeId,
          fields,
          version: { version, ...given },
          number,
          uploadSeconds,
          publishedBy: publishers.get(publisherId)?.owner ?? '',
          tokenId: publishers.get(publisherId)?.tokenId ?? '',
          start: makeStart(id),
        },
        { ...OPTIONS, enqueue },
      ),
    )
  }

  /** The id of a version that was published. */
  const addVersion = async (publishing: Publishing): Promise<string> => {
    const published = await publish(publishing)
    if (published.result !== 'published') throw new Error(published.result)
    return published.version.id
  }

  const receive = (versionId: string, text: string) =>
    unitOfWork({ sql }, (sql, enqueue) =>
      recordArchive(sql, { versionId, signal: signalOf(versionId), ...stored(text) }, enqueue),
    )

  const accept = (versionId: string, text: string) =>
    sql.begin((sql) => {
      const { sha256 } = stored(text)
      return acceptArchive(sql, { versionId, sha256, storageKey: `archives/${versionId}` })
    })

  const reject = (versionId: string, text: string) =>
    sql.begin((sql) =>
      rejectArchive(sql, { versionId, sha256: stored(text).sha256, code: 'path_traversal' }),
    )

  const transition = (id: string, name: VersionTransitionName, reason?: string) =>
    sql.begin((sql) => transitionVersion(sql, { id, name, reason, actor: 'workflow' }))

  /** The id of a version whose archive is accepted. */
  const addAccepted = async (publishing: Publishing): Promise<string> => {
    const id = await addVersion(publishing)
    await receive(id, id)
    if (!(await accept(id, id))) throw new Error('not accepted')
    return id
  }

  /** The id of a version that has passed everything. */
  const addActive = async (publishing: Publishing): Promise<string> => {
    const id = await addAccepted(publishing)
    if (!(await transition(id, 'pass'))) throw new Error('not passed')
    return id
  }

  return {
    addUser,
    addPublisher,
    addToken,
    addNode,
    publish,
    addVersion,
    addAccepted,
    addActive,
    receive,
    accept,
    reject,
    transition,
  }
}

/** A registry in a database of its own, with the publisher `pub`; both are there before the tests of a file. */
export const useRegistryPlace = (
  prepare: (place: RegistryPlace) => Promise<unknown> = () => Promise.resolve(),
): { database: TestDatabase; place: RegistryPlace } => {
  const database = useDatabase(async () => {
    await place.addPublisher('pub')
    await prepare(place)
  })
  const place = makeRegistryPlace(database)
  return { database, place }
}

/** The counters and what they count: equal after every kind of change. */
export const readCounts = async ({ sql }: Place) => {
  const [row] = await sql<{ counted: number[]; real: number[] }[]>`
    select
      array(select sum(n)::integer from listed_count group by kind order by kind) as counted,
      array[
        (select count(*)::integer from node n join publisher p on p.id = n.publisher_id
          where n.status = 'NodeStatusActive' and p.status = 'PublisherStatusActive'),
        (select count(*)::integer from version v join node n on n.id = v.node_id
          join publisher p on p.id = n.publisher_id
          where n.status = 'NodeStatusActive' and p.status = 'PublisherStatusActive'
            and v.status <> 'NodeVersionStatusDeleted')
      ] as real
  `
  if (!row) throw new Error('a select without a row')
  return row
}

export type RegistryPlace = ReturnType<typeof makeRegistryPlace>

export const stored = (text: string) => {
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { storageKey: `uploads/${sha256}`, sha256, bytes: Buffer.byteLength(text) }
}

export const signalOf = (versionId: string) => ({
  kind: 'signal' as const,
  workflowId: `receive-archive/${versionId}`,
  signalName: 'archiveUploaded',
})

export const makeStart = (versionId: string, workflow = 'publish-version') => ({
  kind: 'start' as const,
  workflowType: 'publishVersion',
  workflowId: `${workflow}/${versionId}`,
  taskQueue: 'kiln',
  args: [{ versionId }],
  options: { summary: 'publish', searchAttributes: {}, priorityKey: 3, fairnessKey: 'pub' },
})
