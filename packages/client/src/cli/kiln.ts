import { parseArgs } from 'node:util'

import { COMMANDS } from './commands.ts'
import { COMMON_OPTIONS, readEnvironment } from './context.ts'
import type { Command, Values } from './context.ts'
import { findNear } from '../lib/near.ts'
import { describeError, EXIT, UsageError, withAddress } from './error.ts'
import { makeScreen } from './screen.ts'

const USAGE = `usage: kiln <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { usage, summary }]) => `  kiln ${name} ${usage}\n      ${summary}`)
  .join('\n')}

Every command takes --json (the result as one line of JSON), --quiet, --url and --help.
KILN_URL is the address of the service, KILN_TOKEN or KILN_API_KEY the credential.

Exit codes: 0 done, 1 the task failed or the version is not active, 2 wrong usage, 3 rejected by the service,
4 the service is away or full, 5 an error on this machine, 6 the host nodes cannot be read, 7 some of them may be missing,
130 left by Ctrl-C.
`

/** Whoever asks for help of a service that is away has read the rest of it. */
const HELP_MS = 5000

const main = async ([name = '', ...args]: string[]): Promise<number> => {
  const command = COMMANDS[name]
  if (!command) {
    const asked = ['', 'help', '-h', '--help'].includes(name)
    process[asked ? 'stdout' : 'stderr'].write(asked ? USAGE : `no command ${name}\n\n${USAGE}`)
    return asked ? EXIT.done : EXIT.usage
  }
  const usage = `usage: kiln ${name} ${command.usage}`
  try {
    const options = { ...COMMON_OPTIONS, ...command.options }
    const { values, positionals } = parse(args, options)
    if (values.help !== true) return await runCommand(name, command, { values, positionals })
    const help = command.help.map((line) => `  ${line}\n`).join('')
    process.stdout.write(`${usage}\n\n${command.summary}\n${help}`)
    if (!command.furtherHelp || positionals.length === 0) return EXIT.done
    const { kiln } = readEnvironment(process.env, values)
    const signal = AbortSignal.timeout(HELP_MS)
    const lines = await command.furtherHelp({ kiln, positionals, signal })
    process.stdout.write(`\n${lines.join('\n')}\n`)
    return EXIT.done
  } catch (error) {
    const { exitCode, ...failure } = describeError(error)
    if (args.includes('--json')) process.stdout.write(`${JSON.stringify({ error: failure })}\n`)
    const lines = [`kiln: ${failure.message}`, ...failure.details.map((detail) => `  ${detail}`)]
    if (exitCode === EXIT.usage) lines.push(usage)
    process.stderr.write(`${lines.join('\n')}\n`)
    return exitCode
  }
}

const parse = (args: string[], options: Command['options']) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const [, option, name] = /^Unknown option '(--?([^']+))'/.exec((error as Error).message) ?? []
    if (name === undefined) throw error
    const near = findNear(name, Object.keys(options))
    const member = options['set'] ? `set ${name.replaceAll('-', '_')}=<value>` : undefined
    const meant = near ?? member
    const hint = meant === undefined ? '--help lists those there are' : `did you mean --${meant}?`
    throw new UsageError(`there is no option ${option}: ${hint}`)
  }
}

/** Ends with what the command says; after Ctrl-C with how to go on. */
const runCommand = async (
  name: string,
  command: Command,
  args: { values: Values; positionals: string[] },
): Promise<number> => {
  const { json = false, quiet = false } = args.values
  const { secrets, baseUrl, ...service } = readEnvironment(process.env, args.values)
  const screen = makeScreen(process, { json: json === true, quiet: quiet === true, secrets })
  const interrupt = new AbortController()
  const { signal } = interrupt
  let hint = 'left'
  const leave = (line: string): void => {
    hint = `left; it goes on. To go on watching: ${line}`
  }
  process.once('SIGINT', () => interrupt.abort(new Error('interrupted')))
  try {
    return await command.run({ ...service, ...args, name, screen, signal, leave })
  } catch (error) {
    if (!signal.aborted) throw withAddress(error, baseUrl)
    screen.close()
    process.stderr.write(`${hint}\n`)
    return EXIT.left
  } finally {
    screen.close()
  }
}

process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
  // Whoever reads the output may go away before its end.
  if (code === 'EPIPE') return
  process.stderr.write(`kiln: standard output cannot be written: ${message}\n`)
  process.exitCode = EXIT.local
})
// Those of all that is written later.
process.stdout.on('error', () => {})
const exitCode = await main(process.argv.slice(2))
process.exitCode ??= exitCode
