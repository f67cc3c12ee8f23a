import { spawnSync } from 'node:child_process'

/** Builds programs from Go modules into a folder; no C compiler is needed. Answers the exit code. */
export const buildFromGo = (folder: string, packages: readonly string[]): number => {
  const { status, error } = spawnSync('go', ['install', '-v', '-ldflags=-s -w', ...packages], {
    stdio: 'inherit',
    // None of the caller's flags can break the build.
    env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
  })
  if (error) process.stderr.write(`go cannot be started: ${error.message}\n`)
  return status ?? 1
}
