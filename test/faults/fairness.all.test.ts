import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { Client, Connection } from '@temporalio/client'

import { startTemporal } from '../../src/local/temporal.ts'
import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import { probeFairness } from '../../src/operate/fairness.ts'
import { waitFor } from '../support/wait.ts'

describe('whether owners take turns', () => {
  for (const [isOn, partitions] of [
    [true, 1],
    [false, 1],
    [true, 4],
    [false, 4],
  ] as const)
    test(`is seen where they ${isOn ? 'do' : 'do not'}, in ${partitions} partitions, and nothing is left`, async (t) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'kiln-fairness-'))
      t.after(async () => await rm(dataDir, { recursive: true }))
      const cli = await findTemporalCli({ env: process.env, say: () => {} })
      const dynamicConfig = {
        'matching.enableFairness': isOn,
        'matching.numTaskqueueReadPartitions': partitions,
        'matching.numTaskqueueWritePartitions': partitions,
      }
      const server = await startTemporal({ cli, dataDir, dynamicConfig })
      t.after(async () => await server.kill())
      const connection = await Connection.connect({ address: server.address })
      t.after(async () => await connection.close())
      const client = new Client({ connection })
      for (let run = 0; run < 3; run += 1) assert.equal(await probeFairness(client), isOn)
      await waitFor('no workflow', async () => (await client.workflow.count()).count === 0)
    })
})
