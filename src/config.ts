import { fromText } from './domain/shared/from-text.ts'
import { makeValidator } from './domain/shared/validate.ts'
import { Env, splitList } from './process/settings/env.ts'
import type { Config } from './process/settings/env.ts'
import { findSettingFaults, NO_PROXY } from './process/settings/faults.ts'
import type { ProcessName } from './process/settings/faults.ts'

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the settings of a process. Throws one ConfigError that lists every fault and says what to set. */
export const readConfig = (
  environment: NodeJS.ProcessEnv,
  process: ProcessName = 'api',
): Config => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { value, faults } = makeValidator(Env)(fromText(Env, given))
  const env = value as Env
  const broken = new Set(faults.map((fault) => fault.field.slice(1)))
  const further = findSettingFaults(env, process)
  const messages = [
    ...faults.map((fault) => hideValue(fault.field.slice(1), fault.message)),
    ...further.filter(({ name }) => !broken.has(name)).map(({ message }) => message),
  ]
  if (messages.length > 0)
    throw new ConfigError(
      `the settings are not usable:\n${messages.map((message) => `  - ${message}`).join('\n')}\nSet them in the environment (.env.example lists all) and start again.`,
    )
  return {
    ...env,
    ADMIN_SUBJECTS: splitList(env.ADMIN_SUBJECTS),
    DEVELOPMENT_USERS: splitList(env.DEVELOPMENT_USERS),
    CONSOLE_AUTH_ORIGINS: splitList(env.CONSOLE_AUTH_ORIGINS),
    CORS_ORIGINS: splitList(env.CORS_ORIGINS),
    TRUST_PROXY: splitList(env.TRUST_PROXY === NO_PROXY ? '' : env.TRUST_PROXY),
    SIGNING_KEYS: splitList(env.SIGNING_KEYS),
    SECRETS_KEYS: splitList(env.SECRETS_KEYS),
    OUTBOUND_PORTS: splitList(env.OUTBOUND_PORTS).map(Number),
    OUTBOUND_DENY: splitList(env.OUTBOUND_DENY),
  }
}

/** Folders in which programs are looked for. */
export const readSearchPath = (): string => process.env['PATH'] ?? ''

/** Reads the settings from the process, or says what is wrong with them and ends it. */
export const loadConfig = (name: ProcessName): Config => {
  try {
    return readConfig(process.env, name)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`kiln: ${error.message}\n`)
    process.exit(1)
  }
}

/** Settings that can hold a password or key are told of without their value. */
const hideValue = (name: string, message: string): string =>
  /KEY|SECRET|DATABASE_URL|EXTRACTION_TOKEN/.test(name) && !message.endsWith('but is absent')
    ? `${name} is not usable`
    : message.slice(1)
