/**
 * Program of `npm run test:system -- contract`: linters over /openapi.json, clients that are generated from it, and
 * schemathesis with all its checks, against a service that is started for it. Arguments choose parts: `lint`, `clients`,
 * `schemathesis`; options are passed on to schemathesis (`--include-path /nodes`). A part whose tools are not to be had
 * is skipped aloud.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { secondsSince } from '../../src/local/console.ts'
import { listenForInterrupt } from '../../src/local/interrupt.ts'
import { startTestServers } from '../support/servers.ts'
import { startService } from '../support/service.ts'
import { Skipped, installPython, run, type RunOptions } from '../../tools/python.ts'
import { HERE, installNode } from './install.ts'
import { USER, seed } from './seed.ts'

const REQUIREMENTS = join(HERE, 'requirements.txt')

const GIVEN = process.argv.slice(2)
const FIRST_OPTION = GIVEN.findIndex((word) => word.startsWith('-'))
const CHOSEN = FIRST_OPTION < 0 ? GIVEN : GIVEN.slice(0, FIRST_OPTION)
const OPTIONS = FIRST_OPTION < 0 ? [] : GIVEN.slice(FIRST_OPTION)

interface Setting {
  /** Folder of this run; removed with it. */
  folder: string
  document: string
  env: Record<string, string>
}

type Part = (setting: Setting) => Promise<boolean>

const lint: Part = async ({ document, folder: cwd }) => {
  const bin = join(await installNode(), 'node_modules/.bin')
  return [
    await run('redocly', ['lint', document, '--config', join(HERE, 'redocly.yaml')], { cwd, bin }),
    await run(
      'spectral',
      ['lint', document, '-r', join(HERE, 'spectral.yaml'), '-F', 'hint', '-D'],
      { cwd, bin },
    ),
  ].every(Boolean)
}

/** Generates a client of TypeScript, checks the types of a program that uses it, and runs it. */
const typescript: Part = async ({ document, env }) => {
  const cwd = await installNode()
  for (const name of ['client.ts', 'tsconfig.json'])
    await copyFile(join(HERE, 'clients', name), join(cwd, name))
  const steps: [string, string[]][] = [
    ['openapi-typescript', [document, '-o', 'kiln.d.ts', '--default-non-nullable=false']],
    ['tsc', []],
    ['node', ['client.js']],
  ]
  return await runAll(steps, { cwd, bin: join(cwd, 'node_modules/.bin'), env })
}

/** Generates a client of Python and runs a program that uses it. */
const python: Part = async ({ document, folder: cwd, env }) => {
  const bin = await installPython('contract-python', REQUIREMENTS)
  const config = join(HERE, 'clients/python.yaml')
  const options = ['--output-path', 'generated', '--fail-on-warning']
  const steps: [string, string[]][] = [
    ['openapi-python-client', ['generate', '--path', document, '--config', config, ...options]],
    ['python', [join(HERE, 'clients/client.py')]],
  ]
  return await runAll(steps, { cwd, bin, env: { ...env, PYTHONPATH: join(cwd, 'generated') } })
}

const runAll = async (
  steps: readonly [string, string[]][],
  options: RunOptions,
): Promise<boolean> => {
  for (const [command, args] of steps) if (!(await run(command, args, options))) return false
  return true
}

const schemathesis: Part = async ({ env, folder: cwd }) => {
  const bin = await installPython('contract-python', REQUIREMENTS)
  const config = join(HERE, 'schemathesis.toml')
  const args = ['--config-file', config, 'run', `${env['KILN_URL']}/openapi.json`, ...OPTIONS]
  return await run('schemathesis', args, { cwd, bin, env: { ...env, PYTHONPATH: HERE } })
}

const PARTS: Record<string, [name: string, part: Part][]> = {
  lint: [['lint', lint]],
  clients: [
    ['client of TypeScript', typescript],
    ['client of Python', python],
  ],
  schemathesis: [['schemathesis', schemathesis]],
}

const main = async (chosen: readonly string[]): Promise<boolean> => {
  const unknown = chosen.find((name) => !(name in PARTS))
  if (unknown !== undefined)
    throw new Error(`there is no part ${unknown}, only ${Object.keys(PARTS).join(', ')}`)
  const { stop: interrupted } = listenForInterrupt(() => say('stopping'))
  const parts = (chosen.length === 0 ? Object.keys(PARTS) : chosen).flatMap(
    (name) => PARTS[name] ?? [],
  )
  const folder = await mkdtemp(join(tmpdir(), 'kiln-contract-'))
  const results: string[] = []
  let passed = true
  await withService(async (env) => {
    const document = join(folder, 'openapi.json')
    await writeFile(document, await (await fetch(`${env['KILN_URL']}/openapi.json`)).text())
    for (const [name, part] of parts) {
      if (interrupted.aborted) return
      const start = Date.now()
      say(`\n── ${name}`)
      const result = await attempt(part, { folder, document, env })
      passed &&= result !== 'FAILED'
      results.push(`${name}: ${result}, ${secondsSince(start)}`)
    }
  }).finally(() => rm(folder, { recursive: true, force: true }))
  say(`\n${results.join('\n')}`)
  return passed && !interrupted.aborted
}

const attempt = async (part: Part, setting: Setting): Promise<string> => {
  try {
    return (await part(setting)) ? 'passed' : 'FAILED'
  } catch (error) {
    if (error instanceof Skipped) return `SKIPPED, because ${error.message}`
    throw error
  }
}

const withService = async (use: (env: Record<string, string>) => Promise<void>): Promise<void> => {
  const servers = await startTestServers(say)
  try {
    Object.assign(process.env, servers.env)
    const service = await startService({ env: SETTINGS })
    try {
      await use(await seed(service))
    } finally {
      await service.stop()
    }
  } finally {
    await servers.stop()
  }
}

/** Settings that lift the limits of a user: one user makes all requests, and most would be rejected. */
const SETTINGS = {
  ADMIN_SUBJECTS: USER,
  OWNER_TASK_LIMIT: '1000000',
  OVERRIDE_STREAMS_MAX: '10000',
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

try {
  if (!(await main(CHOSEN))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
