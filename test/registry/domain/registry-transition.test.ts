import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { RULES } from '../../../packages/inspector/src/scan/rule-table.ts'
import {
  ADMIN_NODE_TRANSITIONS,
  NODE_TRANSITIONS,
  PUBLISHER_TRANSITIONS,
} from '../../../src/registry/domain/node-transition.ts'
import { NodeStatus } from '../../../src/registry/domain/node.ts'
import {
  ADMIN_VERSION_TRANSITIONS,
  VERSION_TRANSITIONS,
  checksFailedReason,
  flaggedReason,
} from '../../../src/registry/domain/version-transition.ts'
import { VersionStatus } from '../../../src/registry/domain/version.ts'

/** `Pending Active` for the statuses that a move may start from. */
const names = (statuses: readonly string[]): string =>
  statuses.map((status) => status.replace(/^(NodeVersion|Node|Publisher)Status/, '')).join(' ')

const rows = (transitions: Record<string, { from: readonly string[]; to: string }>) => {
  const row = ({ from, to }: (typeof transitions)[string]) => `${names(from)} → ${names([to])}`
  return Object.fromEntries(
    Object.entries(transitions).map(([name, transition]) => [name, row(transition).trim()]),
  )
}

describe('moves', () => {
  test('of a version are those of the contract', () => {
    assert.deepEqual(rows(VERSION_TRANSITIONS), {
      publish: '→ Pending',
      start_checks: 'Pending → Pending',
      give_up_checks: 'Pending → Pending',
      pass: 'Pending → Active',
      flag: 'Pending → Flagged',
      expire: 'Pending → Deleted',
      retry: 'Pending Flagged → Pending',
      replace: 'Pending Flagged → Deleted',
      delete: 'Pending Active Flagged → Deleted',
      admin_activate: 'Pending Flagged Banned → Active',
      admin_flag: 'Pending Active Banned → Flagged',
      admin_ban: 'Pending Active Flagged Deleted → Banned',
      admin_delete: 'Pending Active Flagged Banned → Deleted',
    })
  })

  test('of a version leave a reason', () => {
    const reasons = Object.fromEntries(
      Object.entries(VERSION_TRANSITIONS).map(([name, { reason }]) => [name, reason]),
    )
    const EXPECTED = {
      publish: 'waiting for the archive',
      start_checks: 'archive received, checks are running',
      retry: 'archive received, checks are running',
      pass: 'Passed automated checks',
      expire: 'archive was not uploaded in time',
      delete: 'deleted by its publisher',
    }
    assert.deepEqual({ ...reasons, ...EXPECTED }, reasons)
    const failed = 'checks could not run (storage is away); an operator can retry'
    assert.equal(checksFailedReason('storage is away'), failed)
    for (const [name, reason] of Object.entries(reasons)) assert.notEqual(reason, '', name)
  })

  test('of an admin lead to the status that is asked for', () => {
    for (const status of VersionStatus.enum) {
      const name = ADMIN_VERSION_TRANSITIONS[status]
      if (name === undefined) assert.equal(status, 'NodeVersionStatusPending')
      else assert.equal(VERSION_TRANSITIONS[name].to, status)
    }
    for (const status of NodeStatus.enum)
      assert.equal(NODE_TRANSITIONS[ADMIN_NODE_TRANSITIONS[status]].to, status)
  })

  test('of nodes and publishers are those of the contract', () => {
    assert.deepEqual(rows({ ...NODE_TRANSITIONS, ...PUBLISHER_TRANSITIONS }), {
      delete: 'Active → Deleted',
      admin_activate: 'Banned Deleted → Active',
      admin_ban: 'Active → Banned',
      admin_delete: 'Active Banned → Deleted',
      ban: 'Active → Banned',
      unban: 'Banned → Active',
    })
  })
})

describe('the reason of a flagged version', () => {
  const TWO = '2 findings flag this version; the worst:'
  const secret = { message: 'It runs code (a.py of pack). Take it out.', file_path: 'a.py' }
  const CASES: [Parameters<typeof flaggedReason>, string][] = [
    [[1, secret], '1 finding flags this version; the worst: It runs code'],
    [[2, { message: 'A miner. Take it out.' }], `${TWO} A miner`],
    [[2, { message: 'a miner' }], `${TWO} a miner`],
  ]
  for (const [given, reason] of CASES)
    test(reason, () => assert.equal(flaggedReason(...given), reason))

  test('names the title of every rule, whose detail and place are for members', () => {
    for (const { title, advice } of Object.values(RULES)) {
      const reason = flaggedReason(1, { message: `${title} (pack/x.py). ${advice}.` })
      assert.equal(reason, `1 finding flags this version; the worst: ${title}`)
    }
  })

  test('has at most 2,000 characters', () =>
    assert.equal(Array.from(flaggedReason(1, { message: '😀'.repeat(3_000) })).length, 2_000))
})
