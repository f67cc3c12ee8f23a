import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../src/local/root.ts'

/** The Go module that Temporal is built in, with all it needs. */
export const TEMPORAL_MODULE = join(ROOT, 'tools/temporal')

/** Builds programs from Go modules into a folder; no C compiler is needed. Returns the exit code. */
export const buildFromGo = (folder: string, packages: readonly string[], cwd = ROOT): number => {
  const { env } = JSON.parse(readFileSync(join(TEMPORAL_MODULE, 'build.json'), 'utf8')) as {
    env: NodeJS.ProcessEnv
  }
  const { status, error } = spawnSync('go', ['install', '-v', '-ldflags=-s -w', ...packages], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env, GOBIN: folder },
  })
  if (error) process.stderr.write(`go cannot be started: ${error.message}\n`)
  return status ?? 1
}
