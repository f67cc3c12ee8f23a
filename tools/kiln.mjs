/**
 * The command `kiln` of a checkout (`npm run kiln -- <command>`) and of the image, into whose `dist` the build copies this
 * file: the commands of the client, and those that need the code of the service. Plain JavaScript, because it runs first.
 */
import { existsSync, readFileSync } from 'node:fs'

const [, , name = '', ...args] = process.argv

const IS_CHECKOUT = existsSync(new URL('run.mjs', import.meta.url))

/** Sources in a checkout, and what the build makes of those that an image has, too. */
const CLIENT = {
  source: 'packages/client/src/cli/kiln.ts',
  built: './client/kiln.js',
  args: [name, ...args],
}
const COMMANDS = {
  operate: { source: 'src/operate.ts', built: './src/operate.js', args },
  extract: {
    source: 'packages/inspector/src/kiln-inspect.ts',
    built: './packages/inspector/src/kiln-inspect.js',
    args,
  },
  receiver: { source: 'tools/receiver.ts', args },
  'conform-upstream': { source: 'tools/conform-upstream.ts', args },
  token: { source: 'src/local.ts', args: [name, ...args] },
}

const HELP = `usage: kiln <command>

In a checkout and in the image of the service:
  kiln operate <command>
      runs one command of an operator; without one it lists them
  kiln extract <zip or folder>…
      shows what would be registered of a pack, and what the security scan finds
In a checkout, beside \`npm start\`:
  kiln token --user <name>
      prints a bearer token; \`operator\` is the platform admin, unless ADMIN_SUBJECTS names others
  kiln receiver
      starts a receiver of webhooks that prints each event
  kiln conform-upstream <url>
      says what an upstream does right and wrong

`

const find = () => {
  // `kiln token <publisher>` is the client's.
  const isClient = name === 'token' && !args.some((arg) => /^--user\b/.test(arg))
  return isClient || !Object.hasOwn(COMMANDS, name) ? CLIENT : COMMANDS[name]
}

if (['', 'help', '-h', '--help'].includes(name)) process.stdout.write(HELP)
else if (name === 'token' && args.some((arg) => ['-h', '--help'].includes(arg)))
  process.stdout.write(HELP.slice(HELP.indexOf('In a checkout, beside')))
/** Address of the stack that `npm start` runs on this checkout; undefined without one. src/local/claim.ts has the form. */
const findStack = () => {
  try {
    const path = new URL('../.data/stack.json', import.meta.url)
    const { supervisor, addresses } = JSON.parse(readFileSync(path, 'utf8'))
    // Throws where nobody has that pid: the stack was killed.
    process.kill(supervisor.pid, 0)
    return addresses.api
  } catch {
    return undefined
  }
}

const { source, built, args: rest } = find()
if (IS_CHECKOUT && !process.env.KILN_URL) process.env.KILN_URL = findStack() ?? ''
// npm runs scripts at the top of the repository, wherever it is called; paths are those of the caller.
const { INIT_CWD } = process.env
if (INIT_CWD && IS_CHECKOUT && source.startsWith('packages/')) process.chdir(INIT_CWD)
process.argv = [process.argv[0], process.argv[1], ...rest]
if (IS_CHECKOUT) {
  process.argv.splice(2, 0, source)
  await import('./run.mjs')
} else if (built === undefined) {
  process.stderr.write(`kiln: \`kiln ${name}\` is a command of a checkout, beside \`npm start\`\n`)
  process.exitCode = 2
} else await import(built)
