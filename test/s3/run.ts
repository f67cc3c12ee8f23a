/**
 * Runs `npm run test:system -- s3`: Kiln with its files in a bucket. Arguments choose parts: `store` (the store itself, behind a
 * bad network, too), `faults` (a service whose bucket is away), `demo` (one job of every kind), `http` (every test of the interface), or test files for the last.
 */
import { secondsSince } from '../../src/local/console.ts'
import { runProgram } from '../support/run-program.ts'
import { startS3Server } from '../support/s3-server.ts'
import type { S3Server } from '../support/s3-server.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const run = async (args: string[], env: NodeJS.ProcessEnv = {}): Promise<void> => {
  if (!(await runProgram(args, env))) throw new Error(`${args.join(' ')} failed`)
}

const http = async ({ folder, settings }: S3Server, files: string[]): Promise<void> =>
  await run(['test/support/run.ts', ...files], {
    TEST_S3_FOLDER: folder,
    TEST_S3: JSON.stringify(settings),
  })

const PARTS: Record<string, (server: S3Server) => Promise<void>> = {
  store: async () =>
    await run(['test/support/run.ts', '--long', 'test/platform/adapters/storage.test.ts']),
  faults: async () => await run(['test/support/run.ts', '--long', 'test/faults/s3.test.ts']),
  demo: async ({ settings }) => await run(['src/local.ts', 'demo'], settings),
  http: async (server) => await http(server, ['test/*/http']),
}

const server = await startS3Server()
try {
  const given = process.argv.slice(2)
  const files = given.filter((name) => !Object.hasOwn(PARTS, name))
  for (const [name, part] of Object.entries(PARTS)) {
    if (given.length > 0 && !given.includes(name)) continue
    const start = Date.now()
    await part(server)
    say(`${name}: ok, ${secondsSince(start)}`)
  }
  if (files.length > 0) await http(server, files)
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  await server.stop()
}
