import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Transaction } from '../../../src/platform/db/client.ts'
import { putHostNodes, type HostNodeResult } from '../../../src/registry/db/host-node.ts'
import { deleteNode, updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { insertNode, updateNode } from '../../../src/registry/db/node.ts'
import { transitionPublisher } from '../../../src/registry/db/publisher-ban.ts'
import { updatePublisher } from '../../../src/registry/db/publisher.ts'
import { deleteRating, putRating } from '../../../src/registry/db/rating.ts'
import { putScan } from '../../../src/registry/db/scan.ts'
import { retryVersion, updateVersionByAdmin } from '../../../src/registry/db/version-admin.ts'
import { deleteVersion, updateVersion } from '../../../src/registry/db/version.ts'
import { makeCountCache } from '../../../src/registry/db/search/listed-count.ts'
import { findNextTimestamp, listNodes } from '../../../src/registry/db/search/node-list.ts'
import type { Node, NodeAdminFields, RemovedNode } from '../../../src/registry/domain/node.ts'
import type { VersionAdminUpdate } from '../../../src/registry/domain/version.ts'
import { makeRandom, pick } from '../../faults/random.ts'
import type { TestDatabase } from '../../support/stack.ts'
import { enqueueNothing } from '../../support/task-rows.ts'
import {
  AUDIT,
  OPTIONS,
  makeStart,
  parseEntries,
  stored,
  useRegistryPlace,
  type RegistryPlace,
} from './registry-place.ts'

type Entry = Node | RemovedNode

/** A process of the api, which has a memory of its own. */
const makeApi = ({ sql }: Pick<TestDatabase, 'sql'>) => {
  const options = { ...OPTIONS, cache: makeCountCache() }
  return async (
    query: Partial<Parameters<typeof listNodes>[1]> & { page: number; limit: number },
  ) => {
    const next = await findNextTimestamp(sql)
    const { nodes, total } = await listNodes(sql, query, options)
    return { next, entries: parseEntries<Entry>(nodes), pages: Math.ceil(total / query.limit) }
  }
}

/** Keeps a copy of all nodes, as docs/registry.md says. */
const makeMirror = (database: Pick<TestDatabase, 'sql'>) => {
  const apis = [makeApi(database), makeApi(database)]
  const copy = new Map<string, Entry>()
  let since: string | undefined
  let asked = 0

  /** @param between runs after each page but the last: what it changes may be seen by this walk or by the next */
  const sync = async (between: () => Promise<unknown> = () => Promise.resolve()) => {
    const timestamp = since
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const query = { page, limit: 10, include_removed: true, ...(timestamp && { timestamp }) }
      const read = apis[(asked += 1) % apis.length] as (typeof apis)[0]
      const found = await read(query)
      if (page === 1) since = found.next.toISOString()
      for (const entry of found.entries)
        if ('publisher' in entry) copy.set(entry.id, entry)
        else copy.delete(entry.id)
      pages = found.pages
      if (page < pages) await between()
    }
  }

  const readAll = async () => {
    const read = makeApi(database)
    const nodes: Entry[] = []
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const found = await read({ page, limit: 100 })
      nodes.push(...found.entries)
      pages = found.pages
    }
    return new Map(nodes.map((node) => [node.id, node]))
  }

  /** Compares the copy with the registry; nothing may be changed meanwhile. */
  const compare = async (message: string) => {
    const all = await readAll()
    const sorted = (nodes: ReadonlyMap<string, Entry>) =>
      [...nodes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(sorted(copy), sorted(all), message)
    return all.size
  }

  return { sync, compare }
}

type Change = (sql: Transaction) => Promise<unknown>

/** Makes changes of every kind that a registry knows, by a seed. */
const makeChanges = (
  { sql }: Pick<TestDatabase, 'sql'>,
  { place, seed }: { place: RegistryPlace; seed: number },
) => {
  const random = makeRandom(seed)
  const choose = <T>(...from: T[]): T => pick(random, from)
  const publishers: string[] = []
  const nodes: { id: string; publisherId: string }[] = []
  const versions: { id: string; nodeId: string; publisherId: string }[] = []
  let number = 0
  const text = () => `text ${(number += 1)}`
  const audit = AUDIT

  const addNode = (): Change => {
    const [id, publisherId] = [`node-${nodes.length}`, pick(random, publishers)]
    nodes.push({ id, publisherId })
    return (sql) => insertNode(sql, { publisherId, node: { id, name: text() } }, OPTIONS)
  }
  const editNode = (): Change => {
    const fields = choose<object>({ description: text() }, { tags: [text()] }, { icon: '' })
    const node = pick(random, nodes)
    return (sql) => updateNode(sql, { ...node, fields }, OPTIONS)
  }
  const removeNode = (): Change => {
    const node = pick(random, nodes)
    return (sql) => deleteNode(sql, node)
  }
  const moderateNode = (): Change => {
    const { id } = pick(random, nodes)
    const fields = choose<NodeAdminFields>(
      { status: 'NodeStatusBanned', status_detail: text() },
      { status: 'NodeStatusActive' },
      { status: 'NodeStatusActive' },
      { status: 'NodeStatusDeleted' },
      { search_ranking: 1 + Math.floor(random() * 10) },
      { github_stars: Math.floor(random() * 100), tags_admin: [text()] },
      { preempted_host_node_names: [text()] },
    )
    return (sql) => updateNodeByAdmin(sql, { id, fields, audit }, OPTIONS)
  }
  const editVersion = (): Change => {
    const version = pick(random, versions)
    const fields = choose<object>(
      { deprecated: true },
      { deprecated: false },
      { changelog: text() },
    )
    return (sql) => updateVersion(sql, { ...version, fields }, OPTIONS)
  }
  const removeVersion = (): Change => {
    const version = pick(random, versions)
    return (sql) => deleteVersion(sql, { ...version, userId: 'olga' })
  }
  const moderateVersion = (): Change => {
    const { id } = pick(random, versions)
    const fields = choose<VersionAdminUpdate>(
      { status: 'NodeVersionStatusBanned', status_reason: text() },
      { status: 'NodeVersionStatusFlagged', status_reason: text() },
      { status: 'NodeVersionStatusActive' },
      { tags_admin: [text()] },
    )
    return async (sql) => {
      const [row] = await sql`
        select from version where id = ${id} and status <> 'NodeVersionStatusDeleted'
      `
      if (row) await updateVersionByAdmin(sql, { id, fields, audit }, OPTIONS)
    }
  }
  const readHostNodes = (): Change => {
    const { id: versionId } = pick(random, versions)
    const result = choose<HostNodeResult>(
      { success: false, reason: text() },
      { success: false, reason: text() },
      { success: true, nodes: new Map(), partial: true },
      { success: true, nodes: new Map() },
    )
    return (sql) => putHostNodes(sql, { versionId, source: 'derived', result })
  }
  const retry = (): Change => {
    const { id } = pick(random, versions)
    const start = { ...makeStart(id), kind: 'restart' as const }
    const retry = { id, checks: start, extraction: start, audit }
    return (sql) => retryVersion(sql, retry, { ...OPTIONS, enqueue: enqueueNothing })
  }
  const scan = (): Change => {
    const { id: versionId } = pick(random, versions)
    const bytes = { versionId, sha256: stored(versionId).sha256 }
    const counts = { high: 0, medium: 1, info: 0 }
    const found = { complete: true, findings: [], counts, tags: [`security:${text()}`] }
    return (sql) => putScan(sql, bytes, { scanner: 'code', scannerVersion: 1, ...found })
  }
  const editPublisher = (): Change => {
    const id = pick(random, publishers)
    const fields = choose<object>({ name: text() }, { logo: text() }, { website: '' })
    return (sql) => updatePublisher(sql, { id, fields }, OPTIONS)
  }
  const moderatePublisher = (): Change => {
    const id = pick(random, publishers)
    const name = choose('ban', 'unban', 'unban')
    return (sql) => transitionPublisher(sql, { id, name, reason: text(), audit })
  }

  const review = (): Change => {
    const { id: nodeId } = pick(random, nodes)
    const userId = choose('rita', 'rolf', 'ruth')
    const stars = 1 + Math.floor(random() * 5)
    return choose<Change>(
      (sql) => putRating(sql, { nodeId, userId, fields: { stars }, minAgeHours: 0 }),
      (sql) => putRating(sql, { nodeId, userId, fields: { stars }, minAgeHours: 0 }),
      (sql) => deleteRating(sql, { nodeId, userId }),
    )
  }

  const once = [
    review,
    addNode,
    editNode,
    removeNode,
    editVersion,
    removeVersion,
    moderateVersion,
    scan,
  ]
  const often = [moderateNode, readHostNodes, retry, moderatePublisher, editPublisher]
  const bag = [...once, addNode, editNode, editVersion, moderateVersion, ...often, ...often]

  /** Publishes a version, whose archive may come and pass. */
  const publish = async () => {
    const { id: nodeId, publisherId } = pick(random, nodes)
    const version = `${Math.floor(random() * 3)}.${(number += 1)}.0${choose('', '', '-rc')}`
    const done = await place.publish({ publisherId, nodeId, version, fields: { author: text() } })
    if (done.result !== 'published') return
    const { id } = done.version
    versions.push({ id, nodeId, publisherId })
    if (random() < 0.1) return
    await place.receive(id, id)
    await place.accept(id, id)
    await place.transition(id, choose('pass', 'pass', 'pass', 'flag'))
  }

  const prepare = async () => {
    for (const id of ['a', 'b', 'c', 'd']) publishers.push(await place.addPublisher(`maker-${id}`))
    for (const id of ['rita', 'rolf', 'ruth']) await place.addUser(id)
    for (let n = 0; n < 20; n += 1) await sql.begin(addNode())
    for (let n = 0; n < 20; n += 1) await publish()
  }

  const change = async () => {
    if (random() < 0.15) await publish()
    else await sql.begin(pick(random, bag)())
  }

  /** Makes a change whose transaction is committed after `meanwhile`. */
  const changeLate = (meanwhile: () => Promise<unknown>) =>
    sql.begin(async (sql) => {
      await pick(random, bag)()(sql)
      await meanwhile()
    })

  return { random, prepare, change, changeLate }
}

/** Keeps a copy through random changes: some made between the pages of its walks or beside them, some committed after one. */
const keepThrough = async (
  database: Pick<TestDatabase, 'sql'>,
  { place, seed, changes }: { place: RegistryPlace; seed: number; changes: number },
) => {
  const mirror = makeMirror(database)
  const { random, prepare, ...make } = makeChanges(database, { place, seed })
  await prepare()
  let count = 0
  const change = () => {
    count += 1
    return make.change()
  }
  while (count < changes) {
    for (let n = Math.floor(random() * 20); n > 0; n -= 1) await change()
    const kind = random()
    if (kind < 0.3) {
      count += 1
      await make.changeLate(() => mirror.sync())
    } else if (kind < 0.6) {
      const during = async () => {
        for (let n = 0; n < 5; n += 1) await change()
      }
      await Promise.all([mirror.sync(), during()])
    } else await mirror.sync(kind < 0.9 ? change : undefined)
    if (random() < 0.2 || count >= changes) {
      await mirror.sync()
      await mirror.compare(`after ${count} changes`)
    }
  }
}

/** Tests the copy with a seed of its own, or with the one in MIRROR_SEED. */
export const testMirror = (changes: number): void => {
  const { database, place } = useRegistryPlace()
  test(`a copy that is kept through ${changes} random changes equals the registry`, async () => {
    const seed = Number(process.env['MIRROR_SEED'] ?? Math.floor(Math.random() * 1e9))
    try {
      await keepThrough(database, { place, seed, changes })
    } catch (error) {
      throw new Error(`MIRROR_SEED=${seed} repeats it`, { cause: error })
    }
  })
}
