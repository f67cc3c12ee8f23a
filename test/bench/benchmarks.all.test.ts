import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT } from '../../src/local/root.ts'

/** The least of each: what they measure is not asserted. */
const SMALL = {
  ROUNDS: '1',
  TASKS: '20',
  EVENTS: '20',
  NODES: '200',
  LEAST_MS: '20',
  SIZES: '100kB',
  CALM_MS: '0',
  IDLE_MS: '100',
  QUIET_MS: '100',
}

const RESULTS = {
  tasks: ['tasks.throughput', 'tasks.notified', 'tasks.latency'],
  delivery: ['delivery.rate', 'delivery.latency', 'delivery.latency-ratio', 'delivery.beside-dead'],
  http: ['status', 'list', 'search', 'node', 'creation'].flatMap((shape) =>
    [1, 16, 64].map((callers) => `http.${shape}.${callers}`),
  ),
  publish: ['publish.100kB.1.p50', 'publish.100kB.8.p50'],
  idle: ['idle.processor'],
  pause: ['pause.open_workflows', 'pause.rate', 'pause.first_claim', 'pause.turns', 'pause.order'],
}

for (const [name, results] of Object.entries(RESULTS))
  test(`benchmark ${name} runs to its end and shows its results`, async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['tools/run.mjs', 'bench/run.ts', name],
      { cwd: ROOT, env: { ...process.env, ...SMALL } },
    )
    for (const result of results)
      assert.match(
        stdout,
        new RegExp(`^${result.replaceAll('.', '\\.')} [\\d.]+ .* (ok|short)$`, 'm'),
      )
  })
