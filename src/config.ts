import { Type } from 'typebox'

import { fromText } from './platform/domain/from-text.ts'
import { makeValidator } from './platform/domain/validate.ts'
import { makeLog, type Log } from './platform/log.ts'
import { fillBuiltin, withoutSlash } from './compose/settings/builtin.ts'
import { Constants, OVERRIDE, Overrides } from './compose/settings/constants.ts'
import { Env, TEXT_LISTS, type Config } from './compose/settings/env.ts'
import { splitList } from './platform/settings/schema.ts'
import { listRemovedSettings } from './compose/settings/removed.ts'
import { findSettingIssues, NO_PROXY } from './compose/settings/issues.ts'
import type { SettingIssue } from './platform/settings/issue.ts'
import type { ProcessName } from './compose/settings/issues.ts'
import { listRisks } from './platform/settings/settings.ts'
import { readProfile } from './platform/settings/temporal.ts'

export class ConfigError extends Error {
  override name = 'ConfigError'
}

const Variables = Type.Object({ ...Env.properties, ...Overrides.properties })

/** Reads the settings of a process and lists their issues. The value of a setting with an issue is not to be used. */
export const validateConfig = (
  environment: NodeJS.ProcessEnv,
  process: ProcessName,
): { config: Config; issues: SettingIssue[] } => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const profile = readProfile(given)
  const { value, issues } = makeValidator(Variables)(
    fromText(Variables, fillBuiltin({ ...profile.values, ...given })),
  )
  const env = value as Env
  const broken = issues.map(({ field, message }): SettingIssue => {
    const name = field.slice(1)
    return { name, message: hideValue(name, message) }
  })
  const further = [...profile.issues, ...findSettingIssues(env, process, given)].filter(
    ({ name }) => !broken.some((issue) => issue.name === name),
  )
  return {
    config: splitLists({ ...env, ...readConstants(value as Record<string, unknown>) }),
    issues: [...broken, ...further],
  }
}

/** Reads the settings of a process. Throws one ConfigError that lists every issue and says what to set. */
export const readConfig = (
  environment: NodeJS.ProcessEnv,
  process: ProcessName = 'api',
): Config => {
  const { config, issues } = validateConfig(environment, process)
  reject(issues)
  return config
}

/** Rejects settings that are given and wrong, before the embedded stack sets the others. */
export const checkGiven = (environment: NodeJS.ProcessEnv): void =>
  reject(
    (['api', 'worker'] as const)
      .flatMap((process) => validateConfig(environment, process).issues)
      .filter(({ name, by = name, message }, index, all) => {
        const first = all.findIndex((issue) => issue.message === message)
        return (environment[name] || environment[by]) && first === index
      }),
  )

/** The settings of an environment, without what other programs read of it. */
export const keepSettings = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => isSetting(name)))

/** The SDK of Temporal reads further variables of its own. */
const isSetting = (name: string): boolean =>
  name in Variables.properties || name.startsWith('TEMPORAL_')

const reject = (issues: SettingIssue[]): void => {
  if (issues.length === 0) return
  throw new ConfigError(
    `the settings are not usable:\n${issues.map(({ message }) => `  - ${message}`).join('\n')}\nSet them in the environment (.env.example lists all) and start again.`,
  )
}

const readConstants = (given: Record<string, unknown>): Constants =>
  Object.fromEntries(
    Object.keys(Constants.properties).map((name) => [name, given[OVERRIDE + name]]),
  ) as unknown as Constants

const splitLists = (given: Env & Constants): Config => ({
  ...given,
  ...(Object.fromEntries(
    [...TEXT_LISTS, 'DEVELOPMENT_USERS' as const].map((name) => [name, splitList(given[name])]),
  ) as Pick<Config, (typeof TEXT_LISTS)[number] | 'DEVELOPMENT_USERS'>),
  PUBLIC_URL: withoutSlash(given.PUBLIC_URL),
  TRUST_PROXY: splitList(given.TRUST_PROXY === NO_PROXY ? '' : given.TRUST_PROXY),
  OUTBOUND_PORTS: splitList(given.OUTBOUND_PORTS).map(Number),
})

/** Folders in which programs are looked for. */
export const readSearchPath = (): string => process.env['PATH'] ?? ''

/** Reads the settings from the process, or says what is wrong with them, as the process says everything, and ends it. */
export const loadConfig = (name: ProcessName): Config => {
  try {
    return readConfig(process.env, name)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    if (name === 'operate') process.stderr.write(`kiln: ${error.message}\n`)
    else makeLog(name, 'fatal').fatal(error.message)
    process.exit(1)
  }
}

/** Warns of settings that leave a risk, and of variables that were settings once, so that nobody takes them for heeded. */
export const warnOfSettings = (config: Config, log: Log, environment = process.env): void => {
  const removed = listRemovedSettings(environment, config)
  for (const warning of listRisks(config)) log.warn(warning)
  if (removed.length > 0) log.warn(`variables without effect are set: ${removed.join('; ')}`)
}

const SECRET = /KEY|SECRET|TOKEN|DATABASE_URL|DATABASE_DIRECT_URL|OUTBOUND_PROXY$/

/** True of a setting whose value is a key, or can hold a password. */
const isSecret = (name: string): boolean =>
  isSetting(name) && SECRET.test(name) && !name.endsWith('_PATH')

const isKey = ([name, value = '']: [string, string | undefined]): boolean =>
  isSecret(name) || (URL.canParse(value) && new URL(value).password !== '')

/** The settings of an environment: those that are keys or hold a password, and the others. */
export const splitSettings = (environment: NodeJS.ProcessEnv) => {
  const all = Object.entries(keepSettings(environment)).filter(([, value]) => value)
  return {
    settings: Object.fromEntries(all.filter((one) => !isKey(one))),
    keys: Object.fromEntries(all.filter(isKey)),
  }
}

/** Lists the keys and passwords in the settings of a process, which nothing may show. */
export const listSecretValues = (environment: NodeJS.ProcessEnv): string[] =>
  Object.keys(environment)
    .filter(isSecret)
    .flatMap((name) => {
      const value = environment[name] ?? ''
      return [value, ...splitList(value), URL.canParse(value) ? new URL(value).password : '']
    })
    .filter((value) => value !== '')

/** Hides the value of a setting that can hold a password or key. */
const hideValue = (name: string, message: string): string =>
  SECRET.test(name) && !message.endsWith('but is absent')
    ? `${name} is not usable`
    : message.slice(1)
