/**
 * Runs `npm run test:system -- node 24 26`: the tests of HTTP, workflows and engines, then the demonstration, each on the
 * newest release of the given majors of Node. The binaries are packages of npm and stay in the user's cache.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

import envPaths from 'env-paths'

import { ROOT } from '../../src/local/root.ts'

const TESTS = ['test/*/http', 'test/workflows', 'test/*/adapters']

interface Result {
  version: string
  tests: boolean
  demo: boolean
}

const main = (majors: readonly string[]): Result[] => {
  if (majors.length === 0 || !majors.every((major) => /^\d+$/.test(major)))
    throw new Error('usage: npm run test:system -- node <major> …, for instance 24 26')
  return majors.map((major) => {
    const node = installNode(major)
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
    say(`\n${version}: ${node}`)
    const tests = runScript(node, 'test', ['--', ...TESTS])
    return { version, tests, demo: runScript(node, 'demo') }
  })
}

/** Installs the newest release of a major and returns the path of its binary. */
const installNode = (major: string): string => {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(envPaths('kiln', { suffix: '' }).cache, `node-${major}`)
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${major}`]
  if (!run('npm', args, process.env))
    throw new Error(`Node ${major} could not be installed from the package ${name}: see above`)
  const binary = process.platform === 'win32' ? 'node.exe' : 'node'
  return join(folder, 'node_modules', name, 'bin', binary)
}

/** Runs a script of package.json with this Node first on the path, so that all its children run on it, too. */
const runScript = (node: string, script: string, args: readonly string[] = []): boolean =>
  run('npm', ['run', script, ...args], {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env['PATH']}`,
  })

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv): boolean =>
  spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env }).status === 0

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

try {
  const results = main(process.argv.slice(2))
  for (const { version, tests, demo } of results)
    say(`${version}: tests ${tests ? 'passed' : 'FAILED'}, demo ${demo ? 'passed' : 'FAILED'}`)
  if (!results.every(({ tests, demo }) => tests && demo)) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
