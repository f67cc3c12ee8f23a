import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  ADMIN_NODE_MOVES,
  NODE_MOVES,
  PUBLISHER_MOVES,
  mayMoveNode,
} from '../../src/domain/registry/node-move.ts'
import { NODE_STATUSES } from '../../src/domain/registry/node.ts'
import {
  ADMIN_VERSION_MOVES,
  ARCHIVE_MOVES,
  EXTRACT_MOVES,
  VERSION_MOVES,
  checksFailedReason,
  flaggedReason,
  mayMoveVersion,
} from '../../src/domain/registry/version-move.ts'
import type { VersionMoveName } from '../../src/domain/registry/version-move.ts'
import { VERSION_STATUSES } from '../../src/domain/registry/version.ts'

/** `Pending Active` for the statuses that a move may start from. */
const names = (statuses: readonly string[]): string =>
  statuses.map((status) => status.replace(/^(NodeVersion|Node|Publisher)Status/, '')).join(' ')

const rows = (moves: Record<string, { from: readonly string[]; to: string; by: string }>) =>
  Object.fromEntries(
    Object.entries(moves).map(([name, { from, to, by }]) => [
      name,
      `${names(from)} → ${names([to])} by ${by}`.trim(),
    ]),
  )

describe('moves', () => {
  test('of a version are those of the contract', () => {
    assert.deepEqual(rows(VERSION_MOVES), {
      publish: '→ Pending by publish',
      start_checks: 'Pending → Pending by workflow',
      give_up_checks: 'Pending → Pending by workflow',
      pass: 'Pending → Active by workflow',
      flag: 'Pending → Flagged by workflow',
      expire: 'Pending → Deleted by workflow',
      retry: 'Pending Flagged → Pending by platform_admin',
      delete: 'Pending Active Flagged → Deleted by owner',
      admin_activate: 'Pending Flagged Banned → Active by platform_admin',
      admin_flag: 'Pending Active Banned → Flagged by platform_admin',
      admin_ban: 'Pending Active Flagged → Banned by platform_admin',
      admin_delete: 'Pending Active Flagged Banned → Deleted by platform_admin',
    })
  })

  test('of a version leave a reason', () => {
    const reasons = Object.fromEntries(
      Object.entries(VERSION_MOVES).map(([name, { reason }]) => [name, reason]),
    )
    assert.equal(reasons['publish'], 'waiting for the archive')
    assert.equal(reasons['start_checks'], 'archive received, checks are running')
    assert.equal(reasons['retry'], 'archive received, checks are running')
    assert.equal(reasons['pass'], 'Passed automated checks')
    assert.equal(reasons['expire'], 'archive was not uploaded in time')
    assert.equal(reasons['delete'], 'deleted by its publisher')
    assert.equal(
      checksFailedReason('storage is away'),
      'checks could not run (storage is away); an operator can retry',
    )
    for (const [name, reason] of Object.entries(reasons)) assert.notEqual(reason, '', name)
  })

  test('never leave Deleted', () => {
    for (const name of Object.keys(VERSION_MOVES) as VersionMoveName[])
      assert.equal(mayMoveVersion(name, 'NodeVersionStatusDeleted'), false, name)
  })

  test('of an admin lead to the status that is asked for', () => {
    for (const status of VERSION_STATUSES) {
      const name = ADMIN_VERSION_MOVES[status]
      if (name === undefined) assert.equal(status, 'NodeVersionStatusPending')
      else assert.equal(VERSION_MOVES[name].to, status)
    }
    for (const status of NODE_STATUSES)
      assert.equal(NODE_MOVES[ADMIN_NODE_MOVES[status]].to, status)
  })

  test('of nodes, publishers, extraction and archive are those of the contract', () => {
    assert.deepEqual(rows({ ...NODE_MOVES, ...PUBLISHER_MOVES }), {
      delete: 'Active → Deleted by owner',
      admin_activate: 'Banned Deleted → Active by platform_admin',
      admin_ban: 'Active → Banned by platform_admin',
      admin_delete: 'Active Banned → Deleted by platform_admin',
      ban: 'Active → Banned by platform_admin',
      unban: 'Banned → Active by platform_admin',
    })
    assert.deepEqual(rows(EXTRACT_MOVES), {
      extract: 'pending failed → success by workflow',
      fail: 'pending → failed by workflow',
      retry: 'failed → pending by platform_admin',
      register: 'pending failed → success by registration',
      register_failure: 'pending failed → failed by registration',
    })
    assert.deepEqual(rows(ARCHIVE_MOVES), {
      publish: '→ awaiting by publish',
      receive: 'awaiting received → received by upload',
      accept: 'received → accepted by workflow',
      reject: 'received → rejected by workflow',
      expire: 'awaiting → expired by workflow',
    })
    assert.equal(mayMoveNode('delete', 'NodeStatusBanned'), false)
    assert.equal(mayMoveNode('admin_delete', 'NodeStatusBanned'), true)
  })
})

describe('the reason of a flagged version', () => {
  const CASES: [Parameters<typeof flaggedReason>, string][] = [
    [
      [1, { message: 'it runs decoded code', file_path: 'a.py', line_number: 3 }],
      '1 finding flags this version; the worst: it runs decoded code (a.py, line 3)',
    ],
    [
      [2, { message: 'a miner', file_path: 'x.exe' }],
      '2 findings flag this version; the worst: a miner (x.exe)',
    ],
    [[2, { message: 'a miner' }], '2 findings flag this version; the worst: a miner'],
  ]
  for (const [given, reason] of CASES)
    test(reason, () => assert.equal(flaggedReason(...given), reason))

  test('has at most 2,000 characters', () =>
    assert.equal(Array.from(flaggedReason(1, { message: '😀'.repeat(3_000) })).length, 2_000))
})
