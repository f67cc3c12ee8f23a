import { randomUUID } from 'node:crypto'

import {
  examineSettings,
  listSecretValues,
  loadConfig,
  readSearchPath,
  splitSettings,
} from './config.ts'
import { listRisks, readAddresses } from './platform/settings/settings.ts'
import { readCheckTiming } from './registry/settings.ts'
import type { Config } from './compose/settings/env.ts'
import { listRemovedSettings } from './compose/settings/removed.ts'
import { readTemporal } from './platform/settings/temporal.ts'
import { makeDatabase, type Sql } from './platform/db/client.ts'
import { makeSecrets } from './platform/adapters/secrets.ts'
import { OPERATOR } from './platform/domain/account.ts'
import { readAdmission } from './tasks/settings.ts'
import { makeJobs } from './platform/temporal/client.ts'
import { openTemporal } from './platform/temporal/connection.ts'
import { captureOutput, makeLog } from './platform/log.ts'
import { readCommand, USAGE, type Command } from './operate/arguments.ts'
import { backUp, checkRestored } from './operate/backup.ts'
import { makeChecks } from './operate/checks.ts'
import { makeCommands } from './operate/commands.ts'
import { examine } from './operate/doctor.ts'
import { makeFleetCommands } from './operate/fleet.ts'
import { putHostNodes } from './operate/host-nodes.ts'
import { moveFiles } from './operate/move-files.ts'
import { reportError } from './operate/server-error.ts'
import { readStackSettings } from './operate/stack-settings.ts'
import { forgetSecrets } from './operate/secrets.ts'
import { makeReinspectCommands } from './operate/reinspect.ts'
import { readUserName } from './operate/user-name.ts'
import { makeUserCommand } from './operate/user.ts'

const argv = process.argv.slice(2)

if (argv.length === 0 || argv.includes('--help')) {
  process.stdout.write(USAGE)
  process.exit()
}

/** Reads the command, which is checked before the settings are. */
const readAsked = (): Command => {
  try {
    return readCommand(argv)
  } catch (error) {
    process.stderr.write(`kiln: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}
const asked = readAsked()

// The servers of `npm start` are wherever a port was free.
if (process.env['DATABASE_URL'] === undefined)
  Object.assign(process.env, { ...readStackSettings(), ...process.env })

const openDatabase = (config: Config): Sql =>
  makeDatabase({
    ...readAddresses(config).pooled,
    pool: 2,
    name: 'kiln operate',
    statementTimeoutMs: 10_000,
    // Whoever gave a command can wait for a busy server, but the doctor reports soon what did not respond.
    waitMs: Math.round(config.DOCTOR_CHECK_MS / 4),
  })

const LEVELS = { ok: 'info', WARN: 'warn', ERROR: 'error' } as const

/** Runs the only command that is of use while the settings are not. Returns the exit code. */
const doctor = async (isJson: boolean): Promise<number> => {
  const log = makeLog('operate', isJson ? 'info' : 'fatal')
  captureOutput(log)
  const { config, ...given } = examineSettings(process.env)
  const connection = openTemporal(readTemporal())
  let sql: Sql | undefined
  const database = (): Sql => (sql ??= openDatabase(config))
  const namespace = config.TEMPORAL_NAMESPACE
  const checks = makeChecks({
    config,
    sql: database,
    connection,
    jobs: () =>
      makeJobs({ connection, namespace, sql: database(), log, publicUrl: config.PUBLIC_URL }),
    searchPath: readSearchPath(),
  })
  const { findings, lines, isWell } = await examine(checks, {
    ...given,
    warnings: [...listRisks(config), ...listRemovedSettings(process.env, config)],
    secrets: listSecretValues(process.env),
    limitMs: config.DOCTOR_CHECK_MS,
  })
  if (isJson)
    for (const { outcome, name, message } of findings)
      log[LEVELS[outcome]]({ check: name, outcome: outcome.toLowerCase() }, message)
  else process.stdout.write(`${lines.join('\n')}\n`)
  return isWell ? 0 : 1
}

// Checks that were late may still wait for a server.
if (asked.name === 'doctor') process.exit(await doctor(asked.given.isJson))

const config = loadConfig('operate')
const log = makeLog('operate', config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL)
captureOutput(log)
const sql = openDatabase(config)
const connection = openTemporal(readTemporal())
const jobs = makeJobs({
  connection,
  namespace: config.TEMPORAL_NAMESPACE,
  sql,
  log,
  publicUrl: config.PUBLIC_URL,
})
const audit = {
  actor: `${OPERATOR}${readUserName()}`,
  requestId: randomUUID(),
}
const deps = { sql, jobs, audit, taskQueue: config.TASK_QUEUE }
const commands = makeCommands({
  ...deps,
  ...readAdmission(config),
  checkTiming: readCheckTiming(config),
})
const write = (line: string): void => void process.stdout.write(`${line}\n`)
const fleet = makeFleetCommands({ config, sql, audit, write, searchPath: readSearchPath() })
const user = makeUserCommand({
  sql,
  audit,
  publicUrl: config.PUBLIC_URL,
  isBuiltin: config.AUTH === 'builtin',
})
const kept = {
  config,
  ...splitSettings(process.env),
  secrets: listSecretValues(process.env),
  sql: () => sql,
  connection,
  jobs: () => jobs,
  searchPath: readSearchPath(),
}
const reinspect = makeReinspectCommands({ ...deps, write })

const run = async (command: Exclude<Command, { name: 'doctor' }>): Promise<string> => {
  switch (command.name) {
    case 'explain':
    case 'restart':
    case 'fail':
      return await commands[command.name](command.given)
    case 'reextract':
    case 'rescan':
      return await reinspect[command.name](command.given)
    case 'backup':
      return await backUp(kept, command.given)
    case 'restore':
      return await checkRestored(kept, command.given)
    case 'move-files':
      return await moveFiles(config, command.given, write)
    case 'instance':
      return await fleet.instance(command.given)
    case 'secrets':
      return await forgetSecrets(
        { ...deps, secrets: makeSecrets({ keys: config.SECRETS_KEYS }) },
        command.given,
      )
    case 'user':
      return await user(command.given)
    case 'templates':
      return await fleet.templates(command.given)
    case 'host-nodes':
      return await putHostNodes(sql, command.given)
    case 'instances':
      return await fleet.instances()
    default:
      return await commands[command.name]()
  }
}

try {
  write(await run(asked))
} catch (error) {
  await reportError(error, config)
  process.exitCode = 1
} finally {
  await jobs.drain()
  await connection.close()
  await sql.end({ timeout: 1 })
}
