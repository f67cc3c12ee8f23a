import type { ParseArgsConfig } from 'node:util'

import { makeKiln } from '../index.ts'
import type { Kiln } from '../index.ts'
import { requireAddress, requireHeader } from '../lib/argument.ts'
import { UsageError } from './error.ts'
import type { Screen } from './screen.ts'

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

/** Input of a command. */
export interface Context {
  /** Name of the command. */
  name: string
  kiln: Kiln
  screen: Screen
  signal: AbortSignal
  values: Values
  positionals: string[]
  /** Sets the command that resumes after Ctrl-C, once there is something to resume. */
  leave(hint: string): void
}

export interface Command {
  /** Arguments after `kiln` and the name of the command. */
  usage: string
  summary: string
  /** Its options, one a line. */
  help: readonly string[]
  options: NonNullable<ParseArgsConfig['options']>
  /** Asks the service for further lines of help. */
  furtherHelp?(
    context: Pick<Context, 'kiln' | 'positionals' | 'signal'>,
  ): Promise<readonly string[]>
  /** Returns the exit code. */
  run(context: Context): Promise<number>
}

export const COMMON_OPTIONS = {
  url: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Command['options']

export const text = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** Reads an option that is given as name=value, any number of times. */
export const readPairs = (values: Values, option: string): (readonly [string, string])[] =>
  [values[option] ?? []].flat().map((entry) => {
    const [, name, value] = /^([\w.-]+)=(.*)$/s.exec(String(entry)) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError(`--${option} takes name=value${showForm(option, String(entry))}`)
    return [name, value] as const
  })

/** Shows how to write what came as `--set strength 0.8`. What was given may be a secret of a header. */
const showForm = (option: string, given: string): string =>
  option !== 'header' && /^[a-z][\w.-]*$/i.test(given)
    ? ` in one word: --${option} ${given}=<value>`
    : ''

/** The arguments, of which there must be as many as names. */
export const take = ({ positionals }: Context, ...names: string[]): string[] => {
  if (positionals.length === names.length) return positionals
  const wanted = names.map((name) => `<${name}>`).join(' ')
  throw new UsageError(`expected ${wanted}, got ${positionals.length} arguments`)
}

const LOCAL = 'http://127.0.0.1:8080'

export const readEnvironment = (env: NodeJS.ProcessEnv, values: Values) => {
  const { KILN_URL, KILN_TOKEN, KILN_API_KEY, KILN_PUBLISH_TOKEN } = env
  const url = text(values, 'url')
  const [name, given] = url === undefined ? ['KILN_URL', KILN_URL || LOCAL] : ['--url', url]
  const baseUrl = requireAddress(name, given)
  for (const [secret, value] of Object.entries({ KILN_TOKEN, KILN_API_KEY, KILN_PUBLISH_TOKEN }))
    if (value) requireHeader(secret, value)
  const token = KILN_TOKEN || undefined
  const apiKey = token === undefined ? KILN_API_KEY || undefined : undefined
  return {
    baseUrl,
    // Someone waits: after some four seconds they get the error.
    kiln: makeKiln({ baseUrl, token, apiKey, retry: { attempts: 4 } }),
    secrets: [KILN_TOKEN, KILN_API_KEY, KILN_PUBLISH_TOKEN, text(values, 'token')].flatMap(
      (secret) => secret || [],
    ),
  }
}
