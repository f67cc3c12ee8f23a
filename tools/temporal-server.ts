/**
 * Builds the real Temporal server and its tool for PostgreSQL from Go modules into the user's cache, for tests and
 * benchmarks of Kiln on them: `node tools/run.mjs tools/temporal-server.ts`. Three minutes on two cores, or seconds
 * where Go has built `temporal` before; no C compiler.
 */
import { join } from 'node:path'

import envPaths from 'env-paths'

import { TEMPORAL_SERVER_VERSION } from '../src/local/temporal-version.ts'
import { TEMPORAL_MODULE, buildFromGo } from './build-from-go.ts'

const MODULE = 'go.temporal.io/server/cmd'
const folder = join(
  envPaths('kiln', { suffix: '' }).cache,
  `temporal-server-${TEMPORAL_SERVER_VERSION}`,
)
process.exitCode = buildFromGo(
  folder,
  ['server', 'tools/sql'].map((name) => `${MODULE}/${name}`),
  TEMPORAL_MODULE,
)
