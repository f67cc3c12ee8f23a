/**
 * Builds an S3 server, versitygw, from Go modules into the user's cache, for tests and benchmarks of Kiln on a bucket:
 * `node tools/run.mjs tools/s3-server.ts`. Two minutes on two cores, and a minute for the modules; no C compiler.
 */
import { dirname } from 'node:path'

import { S3_SERVER, S3_SERVER_VERSION } from '../test/support/s3-server.ts'
import { buildFromGo } from './build-from-go.ts'

process.exitCode = buildFromGo(dirname(S3_SERVER), [
  `github.com/versity/versitygw/cmd/versitygw@v${S3_SERVER_VERSION}`,
])
