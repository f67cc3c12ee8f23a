/**
 * Builds the real Temporal server and its tool for PostgreSQL from Go modules into the user's cache, for tests and
 * benchmarks of Kiln on them: `node tools/run.mjs tools/temporal-server.ts`. Two minutes on two cores; no C compiler.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import envPaths from 'env-paths'

import { TEMPORAL_SERVER_VERSION } from '../src/local/temporal-version.ts'

const MODULE = 'go.temporal.io/server/cmd'
const folder = join(
  envPaths('kiln', { suffix: '' }).cache,
  `temporal-server-${TEMPORAL_SERVER_VERSION}`,
)
const packages = ['server', 'tools/sql'].map(
  (name) => `${MODULE}/${name}@v${TEMPORAL_SERVER_VERSION}`,
)
const { status, error } = spawnSync('go', ['install', '-v', '-ldflags=-s -w', ...packages], {
  stdio: 'inherit',
  // None of the caller's flags can break the build.
  env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
})
if (error) process.stderr.write(`go cannot be started: ${error.message}\n`)
process.exitCode = status ?? 1
