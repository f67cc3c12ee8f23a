import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Entry } from '../support/entry.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { ALL, PACK, makePackWatch } from './pack-watch.ts'
import type { PackWatch } from './pack-watch.ts'

/** Lines at which workers are killed; the second transaction of a version makes its host nodes readable. */
const LINES = {
  media: ['inspect.before-results', 'inspect.after-results'],
  core: ['move.before-commit:2', 'move.after-commit:2'],
} as const

describe('archives whose results are being stored', () => {
  let service: Service
  let packs: PackWatch

  before(async () => {
    service = await startService({ roles: ['api', 'core', 'media'] })
    packs = await makePackWatch(service)
  })
  after(async () => {
    await packs?.stop()
    await service?.stop()
  })

  for (const role of ['media', 'core'] as const)
    test(`pass when workers of the role ${role} die at ${LINES[role].join(', ')}`, async () => {
      await service.entry(role).kill()
      const armed: Entry[] = await Promise.all(
        LINES[role].map((failpoint) => service.start(role, { FAILPOINT: failpoint })),
      )
      const names = Array.from({ length: 4 }, (_, n) => `${role}-${n}`)
      await Promise.all(names.map((name) => packs.publish(name, PACK)))
      const ends = await Promise.all(armed.map(({ ended }) => ended))
      assert.deepEqual([...new Set(ends)], ['SIGKILL'])
      await service.start(role)
      await Promise.all(names.map(packs.untilActive))
      for (const name of names) assert.equal(await packs.look(name), ALL)
    })

  test('never showed a part of their host nodes', () => packs.assertAllOrNone())

  test('leave each version Active by one move, and no process but that which waits for the next', () =>
    packs.assertWhole())
})
