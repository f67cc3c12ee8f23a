import { format } from 'node:util'

import { trace } from '@opentelemetry/api'
import { pino, type Logger } from 'pino'

export type Log = Logger

/** Values under these names, one or two levels deep, never reach a log. It is the second guard: bodies are not logged at all. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'x-api-key',
  'token',
  'key',
  'secret',
  'signature',
  'personal_access_token',
  'identity_token',
  'payload',
  'image',
  'webhook_url',
  'callback_url',
]

/**
 * Makes the log of a process: one JSON object a line on standard output. Each has the trace that is under way, and what
 * `context` knows of the work that writes it.
 */
export const makeLog = (name: string, level: string, context: () => object = () => ({})): Log =>
  pino({
    name,
    level,
    mixin: () => ({ ...traceUnderWay(), ...context() }),
    redact: {
      paths: SECRET_NAMES.flatMap((field) => {
        const at = `["${field}"]`
        return [at, `*${at}`, `*.*${at}`]
      }),
      censor: '[redacted]',
    },
  })

const traceUnderWay = (): object => {
  const span = trace.getActiveSpan()?.spanContext()
  return span ? { trace_id: span.traceId } : {}
}

const CONSOLE = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  warn: 'warn',
  error: 'error',
} as const

/**
 * Has in the log what would be text beside it: warnings of Node, what libraries write to the console (gRPC,
 * oidc-provider), and the error that ends the process.
 */
export const captureOutput = (log: Log): void => {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log.warn({ warning: warning.name }, warning.message))
  for (const name of Object.keys(CONSOLE) as (keyof typeof CONSOLE)[])
    console[name] = (...values: unknown[]) => log[CONSOLE[name]](format(...values))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the process cannot go on')
    process.exit(1)
  })
}

/** Writes a line of the log: a request that changed something, a task that ended. */
export type Journal = (facts: object, message: string) => void

/** Makes the journal of a process; undefined where LOG_CHANGES is off. */
export const makeJournal = (
  log: Log,
  { LOG_CHANGES: changes }: { LOG_CHANGES: 'on' | 'off' },
): Journal | undefined =>
  changes === 'off' ? undefined : (facts, message) => log.info(facts, message)
