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

/** Makes the log of a process: one JSON object a line on standard output. */
export const makeLog = (name: string, level: string): Log =>
  pino({
    name,
    level,
    redact: {
      paths: SECRET_NAMES.flatMap((field) => {
        const at = `["${field}"]`
        return [at, `*${at}`, `*.*${at}`]
      }),
      censor: '[redacted]',
    },
  })

/** Has the warnings of Node in the log, which it would print as text. */
export const logWarnings = (log: Log): void => {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log.warn({ warning: warning.name }, warning.message))
}
