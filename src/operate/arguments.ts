import { parseArgs } from 'node:util'

import { readEmail } from '../identity/domain/email.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import type { BackupFolder } from './backup.ts'
import type { Reinspection } from './reinspect.ts'
import { FORGETTABLE, type Forgettable } from './secrets.ts'
import { USER_VERBS, type UserCommand } from './user.ts'

export const USAGE = `usage: kiln operate <command>
  stuck            tasks and versions that have not moved for 10 minutes, and the oldest rows of the outbox
  explain <task>   why a task is where it is, and what to do next
  restart <id>     end the workflow of a task or version that has not ended, and start it again
  fail <task>      end a task in failure with internal_error and return its credits
  purge            remove files and records past their age now
  doctor [--json]  look at settings, servers, versions, clocks, store, workers, keys and programs
  backup <folder> [--all]
                   check all that must be kept, and write settings, keys and templates to a new folder
  restore --check <folder> [--all]
                   look whether all of a backup is there and fits together; --all: each file, not a sample
  reextract --below <n> [--node <id>] [--limit <n>] [--dry-run]
                   re-read the host nodes of versions that only extractors below n have read
  rescan --below <n> [--node <id>] [--limit <n>] [--dry-run]
                   the same of the security scan
  move-files --to <local|s3>
                   move every file of STORAGE_ALSO to STORAGE, while the service runs
  templates [--render <folder>]
                   check the templates in COMFYUI_TEMPLATES, also against each instance; save a sample of each
  instances        how the instances are, of ComfyUI and of ENGINES_HTTP
  instance <name> <drain|resume>
                   give an instance no more tasks, or give it tasks again
  host-nodes <file>
                   take the names of the host's own nodes from what its GET /object_info gave
  secrets forget --what <sign-in|webhooks|headers>
                   remove what no key of SECRETS_KEYS opens, where the key is lost
  user add <email> [--admin]
                   add an account of AUTH=builtin, and print the link that sets its password
  user list        its accounts
  user promote <email>
                   make an account one of a platform admin
  user demote <email>
                   make it one of a user again
  user disable <email>
                   keep an account out, and end its sessions and keys
  user reset <email> [--end-keys]
                   take its password, passkeys and sessions, also its API keys and tokens, and print a new link
  user link <email> --subject <subject>
                   who signs in at AUTH_ISSUER with this subject is the user of the account
`

const readNothing = (argv: string[]): void => void take(argv, 0)

const readId = (argv: string[]): string => {
  const [id] = take(argv, 1)
  if (id === undefined) throw new OperatorError('an id is absent')
  return id
}

const take = (args: string[], max: number): string[] => {
  const { positionals } = parseArgs({ args, allowPositionals: true })
  if (positionals.length > max) throw new OperatorError(`${positionals[max]} is too much`)
  return positionals
}

const ALL = '1000000'

const readReinspection = (args: string[]): Reinspection => {
  const { values } = parseArgs({
    args,
    options: {
      below: { type: 'string', default: '' },
      node: { type: 'string' },
      limit: { type: 'string', default: ALL },
      'dry-run': { type: 'boolean', default: false },
    },
  })
  const count = (name: 'below' | 'limit'): number => {
    if (/^[1-9]\d{0,8}$/.test(values[name])) return Number(values[name])
    throw new OperatorError(
      `--${name} must be a whole number from 1, got ${values[name] || 'none'}`,
    )
  }
  const filter = { below: count('below'), nodeId: values.node, limit: count('limit') }
  return { filter, isDry: values['dry-run'] }
}

const readStore = (args: string[]): 'local' | 's3' => {
  const { to = 'none' } = parseArgs({ args, options: { to: { type: 'string' } } }).values
  if (to !== 'local' && to !== 's3') throw new OperatorError(`--to must be local or s3, got ${to}`)
  return to
}

const readFile = (argv: string[]): string => {
  const [path] = take(argv, 1)
  if (path === undefined) throw new OperatorError('a file is absent')
  return path
}

const readFolder = (args: string[]): string | undefined =>
  parseArgs({ args, options: { render: { type: 'string' } } }).values.render

const readDoctor = (args: string[]): { isJson: boolean } => {
  const json = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: json })
  take(positionals, 0)
  return { isJson: values.json }
}

const readBackup = (args: string[]): BackupFolder => {
  const all = { all: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: all })
  const folder = readFile(positionals)
  return { folder, isWhole: values.all }
}

const readRestore = (args: string[]): BackupFolder => {
  if (!args.includes('--check')) throw new OperatorError('--check is absent')
  return readBackup(args.filter((arg) => arg !== '--check'))
}

const readDrain = (argv: string[]): { name: string; isDrained: boolean } => {
  const [name = '', verb = 'none'] = take(argv, 2)
  if (verb === 'drain' || verb === 'resume') return { name, isDrained: verb === 'drain' }
  throw new OperatorError(`behind the name must be drain or resume, got ${verb}`)
}

const readUser = (args: string[]): UserCommand => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      admin: { type: 'boolean', default: false },
      subject: { type: 'string', default: '' },
      'end-keys': { type: 'boolean', default: false },
    },
  })
  const [asked = 'none', address, ...more] = positionals
  const verb = USER_VERBS.find((known) => known === asked)
  if (!verb) throw new OperatorError(`behind user must be ${USER_VERBS.join(', ')}, got ${asked}`)
  if (more.length > 0) throw new OperatorError(`${more[0]} is too much`)
  const email = verb === 'list' ? '' : readEmail(address)
  if (email === undefined)
    throw new OperatorError(`behind ${verb} must be an email address, got ${address ?? 'none'}`)
  const { admin: isAdmin, subject, 'end-keys': endsKeys } = values
  if ((verb === 'link') !== (subject !== ''))
    throw new OperatorError('--subject belongs to link, which needs it')
  if (endsKeys && verb !== 'reset') throw new OperatorError('--end-keys belongs to reset')
  return { verb, email, isAdmin, subject, endsKeys }
}

const readForget = (argv: string[]): Forgettable => {
  const [verb = 'none', ...args] = argv
  if (verb !== 'forget') throw new OperatorError(`behind secrets must be forget, got ${verb}`)
  const { what = 'none' } = parseArgs({ args, options: { what: { type: 'string' } } }).values
  const known = FORGETTABLE.find((name) => name === what)
  if (known) return known
  throw new OperatorError(`--what must be ${FORGETTABLE.join(', ')}, got ${what}`)
}

const VERSIONS = '--below <version> [--node <id>] [--limit <n>] [--dry-run]'

/** Reader of each command's arguments, and their form. */
const COMMANDS = {
  stuck: [readNothing, ''],
  explain: [readId, '<task>'],
  restart: [readId, '<id>'],
  fail: [readId, '<task>'],
  purge: [readNothing, ''],
  doctor: [readDoctor, '[--json]'],
  backup: [readBackup, '<folder> [--all]'],
  restore: [readRestore, '--check <folder> [--all]'],
  reextract: [readReinspection, VERSIONS],
  rescan: [readReinspection, VERSIONS],
  'move-files': [readStore, '--to <local|s3>'],
  templates: [readFolder, '[--render <folder>]'],
  instances: [readNothing, ''],
  instance: [readDrain, '<name> <drain|resume>'],
  'host-nodes': [readFile, '<file>'],
  secrets: [readForget, `forget --what <${FORGETTABLE.join('|')}>`],
  user: [readUser, `<${USER_VERBS.join('|')}> …`],
} as const

type Name = keyof typeof COMMANDS

/** A command and what its arguments say. */
export type Command = {
  [Key in Name]: { name: Key; given: ReturnType<(typeof COMMANDS)[Key][0]> }
}[Name]

/** Reads a command line. Throws an OperatorError that names the error above the usage. */
export const readCommand = ([name = '', ...argv]: string[]): Command => {
  if (!isName(name)) throw new OperatorError(`there is no command ${name}\n${USAGE}`)
  const [read, form] = COMMANDS[name]
  try {
    return { name, given: read(argv) } as Command
  } catch (error) {
    // What parseArgs adds to it is of no use here.
    const [failure] = String(error instanceof Error ? error.message : error).split('. To specify')
    throw new OperatorError(`${failure}\nusage: kiln operate ${name} ${form}`.trimEnd())
  }
}

const isName = (name: string): name is Name => Object.hasOwn(COMMANDS, name)
