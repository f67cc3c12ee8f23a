import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { makeFolder, withKept } from '../support/keep.ts'
import { withDeathSignal } from '../../src/local/child.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import { runDemo } from '../../src/local/demo.ts'
import { findPort } from '../../src/local/port.ts'
import { findServerUser, identityOf } from '../../src/local/postgres-user.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { runProgram } from '../support/run-program.ts'
import { startService } from '../support/service.ts'
import { createDatabase } from '../support/stack.ts'
import type { Say } from './run.ts'

/** Fewer than the processes of one service may open, so that sessions are lent in turns. */
const POOL = 5
/** Settings that Kiln asks for at the start of a session and pgbouncer does not pass on. */
const SETTINGS = [
  `statement_timeout = '10s'`,
  `lock_timeout = '1100ms'`,
  `idle_in_transaction_session_timeout = '10s'`,
  'jit = off',
  'max_parallel_workers_per_gather = 0',
]
const TESTS = (process.env['TESTS'] ?? 'test/*/http').split(' ')

/** As docs/operations/scale.md says. */
const configure = (server: URL, port: number, users: string): string => `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${POOL}
max_client_conn = 1000
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,jit,max_parallel_workers_per_gather
`

/** The demo and the tests of the interface, with DATABASE_URL by way of pgbouncer in transaction mode. */
export const testPgbouncer = async (say: Say): Promise<boolean> => {
  if (spawnSync('pgbouncer', ['--version']).status !== 0) {
    say('skipped: there is no pgbouncer; Debian has it as a package')
    return true
  }
  return await withKept(async (keep) => {
    const pooler = keep(await startPgbouncer(process.env['TEST_DATABASE_URL'] ?? ''))
    const database = await createDatabase()
    for (const setting of SETTINGS)
      await database.sql.unsafe(`alter role current_user set ${setting}`)
    const service = keep(
      await startService({
        database,
        env: { DATABASE_URL: pooler.url(database.url), DATABASE_DIRECT_URL: database.url },
      }),
    )
    const outDir = keep(await makeFolder())
    const demo = await runDemo({
      baseUrl: service.baseUrl,
      token: await service.token('demo'),
      outDir: outDir.path,
      out: process.stdout,
      signal: new AbortController().signal,
    })
    const sessions = await database.sql<{ name: string; count: number }[]>`
      select application_name as name, count(*)::integer as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() group by 1 order by 1
    `
    say(sessions.map(({ name, count }) => `${name}: ${count} sessions`).join(', '))
    const wrong = await countWrongResponses(pooler.url(database.url), say)
    const env = { TEST_POOLER: new URL(pooler.url(database.url)).host }
    return demo && wrong === 0 && (await runProgram(['test/support/run.ts', ...TESTS], env))
  })
}

/** Runs statements with and without values and transactions, all at once: each must get its own result. */
const countWrongResponses = async (url: string, say: Say): Promise<number> => {
  const options = { pool: 10, name: 'kiln machines', statementTimeoutMs: 5000, waitMs: PATIENCE_MS }
  const sql = makeDatabase({ url, ...options, prepare: false })
  const faults: string[] = []
  const ask = async (n: number): Promise<unknown> => {
    if (n % 3 === 0) return (await sql`select 1`).length
    if (n % 3 === 1) return (await sql<{ n: number }[]>`select ${n}::integer as n`)[0]?.n
    return await sql.begin(async (sql) => (await sql`select ${n}::integer as n`)[0]?.['n'])
  }
  const responses = await Promise.all(
    Array.from({ length: 3000 }, (_, n) =>
      ask(n).catch((error: unknown) => {
        faults.push(String(error))
        return undefined
      }),
    ),
  )
  await sql.end({ timeout: 1 })
  const wrong = responses.filter((response, n) => response !== (n % 3 === 0 ? 1 : n)).length
  say(`of ${responses.length} statements at once ${wrong} got a wrong result`)
  for (const fault of new Set(faults)) say(`  ${fault}`)
  return wrong
}

const startPgbouncer = async (server: string) => {
  const folder = await makeFolder()
  const port = await findPort()
  const path = join(folder.path, 'pgbouncer.ini')
  const users = join(folder.path, 'userlist.txt')
  const address = new URL(server)
  await writeFile(users, `"${address.username}" "${address.password}"\n`)
  await writeFile(path, configure(address, port, users))
  const command = withDeathSignal('SIGKILL', ['pgbouncer', '--quiet', path])
  const child = spawn(command[0], command.slice(1), {
    ...identityOf(findServerUser([])),
    cwd: '/',
    stdio: 'inherit',
  })
  const url = (of: string): string => Object.assign(new URL(of), { port: String(port) }).href
  return {
    url,
    async stop() {
      child.kill('SIGINT')
      await once(child, 'close')
      await folder.stop()
    },
  }
}
