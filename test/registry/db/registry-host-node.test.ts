import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { listHostNodes } from '../../../src/registry/db/host-node-list.ts'
import {
  findHostNode,
  findNodeOfHostNode,
  putHostNodes,
} from '../../../src/registry/db/host-node.ts'
import { findExtraction } from '../../../src/registry/db/extraction.ts'
import type { HostNodeSource } from '../../../src/registry/db/host-node.ts'
import { updateVersionByAdmin } from '../../../src/registry/db/version-admin.ts'
import { toHostNodeRow } from '../../../src/registry/domain/host-node-validation.ts'
import type { HostNode, RegisteredHostNode } from '../../../src/registry/domain/host-node.ts'
import { ROOT } from '../../../src/local/root.ts'
import { AUDIT, OPTIONS, parseEntries, useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const put = (
  versionId: string,
  nodes: Record<string, RegisteredHostNode> | string,
  from: Source = 'reported',
) =>
  database.sql.begin((sql) => {
    const given = { versionId, ...toSource(from) }
    if (typeof nodes === 'string')
      return putHostNodes(sql, { ...given, result: { success: false, reason: nodes } })
    const rows = Object.entries(nodes).map(([name, one]) => [name, toHostNodeRow(one)] as const)
    return putHostNodes(sql, { ...given, result: { success: true, nodes: new Map(rows) } })
  })

/** A hint is what a stranger has reported. */
type Source = HostNodeSource | 'hint'
const toSource = (from: Source) =>
  from === 'hint' ? { source: 'reported' as const, isHint: true } : { source: from }
const list = async (versionId: string): Promise<string[]> =>
  parseEntries<HostNode>(
    (await listHostNodes(database.sql, { versionId, page: 1, limit: 1_000 })).hostNodes,
  ).map((one) => one.host_node_name)

describe('the host nodes of a version', () => {
  type Given = [Source, 'success' | 'failure']
  const CASES: [first: Given | undefined, next: Given, result: string][] = [
    [undefined, ['reported', 'failure'], 'done'],
    [['reported', 'failure'], ['reported', 'success'], 'done'],
    [['reported', 'success'], ['reported', 'success'], 'done'],
    [['reported', 'success'], ['reported', 'failure'], 'already_registered'],
    [['reported', 'success'], ['trusted', 'success'], 'done'],
    [['trusted', 'success'], ['trusted', 'success'], 'done'],
    [['trusted', 'success'], ['reported', 'success'], 'already_registered'],
    [['derived', 'success'], ['reported', 'success'], 'already_registered'],
    [['derived', 'success'], ['trusted', 'success'], 'already_registered'],
    [['reported', 'success'], ['trusted', 'failure'], 'already_registered'],
    [['reported', 'success'], ['derived', 'success'], 'done'],
    [['reported', 'success'], ['derived', 'failure'], 'already_registered'],
    [['trusted', 'success'], ['derived', 'success'], 'already_registered'],
    [['derived', 'success'], ['reported', 'failure'], 'already_registered'],
    [['derived', 'failure'], ['hint', 'success'], 'registration_closed'],
    [['derived', 'failure'], ['hint', 'failure'], 'registration_closed'],
    [['derived', 'failure'], ['reported', 'success'], 'done'],
    [['derived', 'failure'], ['trusted', 'success'], 'done'],
    [['hint', 'success'], ['hint', 'success'], 'done'],
    [['hint', 'success'], ['reported', 'success'], 'done'],
    [['hint', 'success'], ['derived', 'failure'], 'done'],
    [['reported', 'success'], ['hint', 'success'], 'already_registered'],
  ]

  test('are neither failed for a stranger, nor taken for an archive that was rejected', async () => {
    const id = await place.addVersion({ nodeId: 'stranger' })
    assert.equal(await put(id, 'it is bad', 'hint'), 'done')
    assert.equal((await findExtraction(database.sql, id))?.status, 'pending')
    await place.receive(id, id)
    await place.reject(id, id)
    assert.equal(await put(id, { A: {} }), 'archive_rejected')
  })

  for (const [index, [first, next, result]] of CASES.entries())
    test(`after ${first?.join(' ') ?? 'nothing'}: ${next.join(' ')} is ${result}`, async () => {
      const id = await place.addVersion({ nodeId: `case-${index}` })
      const give = ([source, outcome]: Given, name: string) =>
        put(id, outcome === 'success' ? { [name]: {} } : `why ${name}`, source)
      if (first) assert.equal(await give(first, 'first'), 'done')
      const before = await findExtraction(database.sql, id)
      assert.equal(await give(next, 'next'), result)
      const after = await findExtraction(database.sql, id)
      const { source } = toSource(next[0])
      if (result !== 'done') assert.deepEqual(after, before)
      else if (next[1] === 'success') {
        const status = next[0] === 'hint' ? 'reported' : 'success'
        assert.deepEqual(after, { status, source, partial: false })
        assert.deepEqual(await list(id), ['next'])
      } else
        assert.deepEqual(after, { status: 'failed', reason: 'why next', source, partial: false })
    })

  test('are those of one of two reports that come at once', async () => {
    const id = await place.addVersion({ nodeId: 'two' })
    const results = await Promise.all([put(id, { A: {} }), put(id, { B: {} })])
    assert.deepEqual(results, ['done', 'done'])
    assert.equal((await list(id)).length, 1)
  })

  test('of a report that replaces another are claimed from then on, when it adds names', async () => {
    const id = await place.addActive({ nodeId: 'late-names' })
    const readClaim = async () => {
      const [row] = await database.sql<{ at: Date }[]>`
        select claimed_at as at from version where id = ${id}
      `
      return row?.at.getTime() ?? 0
    }
    await put(id, { A: {}, B: {} })
    const first = await readClaim()
    await put(id, { A: {} })
    assert.equal(await readClaim(), first)
    await put(id, { A: {}, C: {} })
    assert.ok((await readClaim()) > first)
  })

  test('keep their policies by name when they are replaced', async () => {
    const id = await place.addVersion({ nodeId: 'policies' })
    await put(id, { A: {}, B: {} })
    const BANNED = 'HostNodePolicyBanned'
    const ban = (host_node_policies: Record<string, typeof BANNED>) =>
      database.sql.begin((sql) =>
        updateVersionByAdmin(sql, { id, fields: { host_node_policies }, audit: AUDIT }, OPTIONS),
      )
    assert.equal((await ban({ B: BANNED })).result, 'updated')
    const unknown = { result: 'host_node_not_found', name: 'C' }
    assert.deepEqual(await ban({ C: BANNED, A: BANNED }), unknown)
    await put(id, { B: {}, C: {} }, 'derived')
    const policyOf = async (name: string) =>
      (await findHostNode(database.sql, { versionId: id, name }))?.policy
    const policies = [await policyOf('A'), await policyOf('B'), await policyOf('C')]
    assert.deepEqual(policies, [undefined, BANNED, 'HostNodePolicyActive'])
  })
})

test('reports and reasons of an earlier release are hints, and without places', async () => {
  const hinted = await place.addActive({ nodeId: 'hinted' })
  const read = await place.addActive({ nodeId: 'was-read' })
  await put(hinted, { Hinted: {} })
  await put(read, { Read: {} }, 'derived')
  const flagged = await place.addAccepted({ nodeId: 'was-flagged' })
  const title = '2 findings flag this version; the worst: Code from the network is run'
  await place.transition(flagged, 'flag', `${title} (get in a.py). Ship it. (__init__.py, line 5)`)
  const file = join(ROOT, 'src/platform/db/migrations/0030_report_and_replace.sql')
  const steps = (await readFile(file, 'utf8')).split(/^-- step$/m)
  for (const step of steps.slice(-2)) await database.sql.unsafe(step)
  const rows = await database.sql`
    select host_node_extract_status as status, status_reason as reason from version
    where id in ${database.sql([hinted, read, flagged])} order by created_at
  `
  const statuses = rows.map(({ status }) => status as string)
  assert.deepEqual(statuses, ['reported', 'success', 'pending'])
  assert.equal(rows[2]?.['reason'], title)
  assert.equal(await findNodeOfHostNode(database.sql, 'Hinted', OPTIONS), undefined)
  assert.equal((await findNodeOfHostNode(database.sql, 'Read', OPTIONS))?.id, 'was-read')
})

describe('the node of a host node', () => {
  const find = async (name: string) => (await findNodeOfHostNode(database.sql, name, OPTIONS))?.id
  test('follows the latest version and its host nodes', async () => {
    const first = await place.addActive({ nodeId: 'moving', version: '1.0.0' })
    await put(first, { Old: {} })
    assert.equal(await find('Old'), 'moving')
    const second = await place.addVersion({ nodeId: 'moving', version: '2.0.0' })
    await put(second, { New: {} })
    assert.equal(await find('New'), undefined, 'not before it is the latest')
    await place.receive(second, second)
    await place.accept(second, second)
    await place.transition(second, 'pass')
    assert.deepEqual([await find('Old'), await find('New')], [undefined, 'moving'])
    await place.transition(second, 'admin_ban', 'bad')
    assert.deepEqual([await find('Old'), await find('New')], ['moving', undefined])
  })

  test('is the one that has claimed the name for longest, not the one that was made first', async () => {
    const unread = await place.addActive({ nodeId: 'a-unread' })
    const pending = await place.addVersion({ nodeId: 'a-pending' })
    const owner = await place.addActive({ nodeId: 'owner' })
    await put(owner, { Mine: {} })
    await put(unread, { Mine: {} })
    await place.receive(pending, pending)
    await place.accept(pending, pending)
    await put(pending, { Mine: {} })
    await place.transition(pending, 'pass')
    assert.equal(await find('Mine'), 'owner')
    // A flag that is lifted makes nothing younger.
    await place.transition(owner, 'admin_flag')
    assert.equal(await find('Mine'), 'a-unread')
    await place.transition(owner, 'admin_activate')
    assert.equal(await find('Mine'), 'owner')
  })

  test('follows also where there are as many as may be, with names as long as may be', async () => {
    const id = await place.addAccepted({ nodeId: 'largest' })
    const names = Array.from({ length: 5_000 }, () => randomBytes(384).toString('base64url'))
    await put(id, Object.fromEntries(names.map((name) => [name, {}])))
    assert.ok(await place.transition(id, 'pass'), 'within the time of a statement')
    assert.equal(await find(names[0] ?? ''), 'largest')
  })
})
