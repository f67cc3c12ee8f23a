import { Connection } from '@temporalio/client'

import { judgeConfig, listSecretValues, loadConfig, readSearchPath } from './config.ts'
import { readAddresses, readTimings } from './process/settings/derived.ts'
import type { Config } from './process/settings/env.ts'
import { makeDatabase } from './db/client.ts'
import type { Sql } from './db/client.ts'
import { makeJobs } from './jobs/client.ts'
import { makeLog } from './log.ts'
import { makeChecks } from './operate/checks.ts'
import { makeCommands } from './operate/commands.ts'
import { examine } from './operate/doctor.ts'
import { moveFiles } from './operate/move-files.ts'
import { OperatorError } from './process/operator-error.ts'
import { makeReinspectCommands } from './operate/reinspect.ts'

const USAGE = `usage: npm run operate -- <command>
  stuck            tasks and versions that have not moved for 10 minutes, and the oldest rows of the outbox
  restart <id>     end the workflow of a task or version that has not ended, and start it again
  fail <task>      end a task in failure with internal_error and return its credits
  purge            remove files and records past their age now
  doctor           look at settings, servers, versions, clocks, store, workers, keys and programs
  reextract --below <n> [--node <id>] [--limit <n>] [--dry-run]
                   read the host nodes of versions anew that only extractors below n have read
  rescan --below <n> [--node <id>] [--limit <n>] [--dry-run]
                   the same of the security scan
  move-files --to <local|s3>
                   move every file of STORAGE_ALSO to STORAGE, while the service runs
`

if (process.argv.length < 3 || process.argv[2] === '--help') {
  process.stdout.write(USAGE)
  process.exit()
}

const openDatabase = (config: Config): Sql =>
  makeDatabase({
    ...readAddresses(config).pooled,
    pool: 2,
    name: 'kiln operate',
    statementTimeoutMs: 10_000,
    // Who gave a command can wait for a busy server, but the doctor tells after 5 s what did not answer.
    waitMs: 4000,
  })

/** The only command that is of use while the settings are not. */
const doctor = async (): Promise<void> => {
  const { config, faults } = judgeConfig(process.env, 'api')
  const connection = Connection.lazy({ address: config.TEMPORAL_ADDRESS })
  let sql: Sql | undefined
  const database = (): Sql => (sql ??= openDatabase(config))
  const log = makeLog('operate', 'silent')
  const namespace = config.TEMPORAL_NAMESPACE
  const checks = makeChecks({
    config,
    sql: database,
    connection,
    jobs: () => makeJobs({ connection, namespace, sql: database(), log }),
    searchPath: readSearchPath(),
  })
  const { lines, isWell } = await examine(checks, faults)
  // Messages that others wrote may hold what must not be told.
  const told = listSecretValues(process.env).reduce(
    (text, secret) => text.replaceAll(secret, '***'),
    lines.join('\n'),
  )
  process.stdout.write(`${told}\n`)
  // Checks that were late may still wait for a server.
  process.exit(isWell ? 0 : 1)
}

if (process.argv[2] === 'doctor') await doctor()

const config = loadConfig('operate')
const log = makeLog('operate', config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL)
const sql = openDatabase(config)
const connection = Connection.lazy({ address: config.TEMPORAL_ADDRESS })
const jobs = makeJobs({ connection, namespace: config.TEMPORAL_NAMESPACE, sql, log })
const deps = { sql, jobs, taskQueue: config.TASK_QUEUE }
const commands = makeCommands({ ...deps, ...readTimings(config) })
const write = (line: string): void => void process.stdout.write(`${line}\n`)
const reinspect = makeReinspectCommands({ ...deps, write })

const run = async ([name = '', ...rest]: string[]): Promise<string> => {
  if (Object.hasOwn(reinspect, name)) return await reinspect[name as keyof typeof reinspect](rest)
  if (name === 'move-files') return await moveFiles(config, rest, write)
  const [id = ''] = rest
  const command = Object.hasOwn(commands, name)
    ? commands[name as keyof typeof commands]
    : undefined
  if (!command || (command.length > 0 && id === '')) throw new OperatorError(USAGE)
  return await command(id)
}

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`)
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
} finally {
  await jobs.settle()
  await connection.close()
  await sql.end({ timeout: 1 })
}
