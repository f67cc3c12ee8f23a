import { execFile, spawnSync } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

import envPaths from 'env-paths'

import { describeExit, startChild } from '../../src/local/child.ts'
import { ROOT } from '../../src/local/root.ts'
import { buildFromGo } from '../../tools/build-from-go.ts'
import { findProgram } from '../support/run-program.ts'
import { waitFor } from '../support/wait.ts'

export type Say = (line: string) => void

export interface Engine {
  /** Runs the docker client; returns what it printed. Throws with what it complained of. */
  docker(args: readonly string[], options?: RunOptions): Promise<string>
  /** True when it is ours and has no registry: its images are to be made. */
  isOwn: boolean
  stop(): Promise<void>
}

interface RunOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
  input?: string
}

/** Tools of the engine and all its images stay here. */
export const CACHE = join(envPaths('kiln', { suffix: '' }).cache, 'engine')

/** Debian's engine is older than 25, which the health check of the image needs; its other parts are used. */
const DOCKERD = ['github.com/moby/moby/v2', 'v2.0.0-beta.24'] as const
const COMPOSE = ['github.com/docker/compose/v2', 'v2.40.3'] as const
const BIN = join(CACHE, `bin-${DOCKERD[1]}-${COMPOSE[1]}`)
const PROGRAMS = ['docker', 'containerd', 'runc', 'docker-init', 'iptables', 'debootstrap', 'go']
const REMEDY =
  'start Docker Engine 25 or later with Compose, or as root on Debian: apt-get install docker.io iptables debootstrap, and install Go'

/** The engine of this machine, or one that is started; a reason when there can be none. */
export const findEngine = async (say: Say): Promise<Engine | string> => {
  const found = makeDocker({})
  const hasCompose = await found(['compose', 'version']).catch(() => '')
  if (hasCompose && (await found(['version'])))
    return { docker: found, isOwn: false, stop: async () => {} }
  const missing = PROGRAMS.filter((name) => !findProgram(name))
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || missing.length > 0)
    return `no engine for containers (missing: ${missing.join(', ') || 'the rights of root'}): ${REMEDY}`
  return await startEngine(say)
}

const makeDocker =
  (env: NodeJS.ProcessEnv): Engine['docker'] =>
  async (args, { cwd = ROOT, env: more = {}, input } = {}) =>
    await new Promise((resolve, reject) => {
      const all = { ...process.env, ...env, ...more }
      const options = { cwd, env: all, maxBuffer: 100_000_000 }
      const child = execFile('docker', args, options, (error, stdout, stderr) =>
        error
          ? reject(new Error(`docker ${args.join(' ').slice(0, 200)}: ${tailOf(stderr + stdout)}`))
          : resolve(stdout),
      )
      // A client that has ended already says why by its exit code.
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    })

const tailOf = (text: string): string => text.trim().split('\n').slice(-40).join('\n')

/** Below folders of its own; what it changes of the machine's network is put back at its end. */
const startEngine = async (say: Say): Promise<Engine> => {
  await buildTools(say)
  const folder = await mkdtemp(join(tmpdir(), 'kiln-engine-'))
  const host = `unix://${join(folder, 'socket')}`
  const restore = await keepNetwork()
  const plugins = join(folder, 'client/cli-plugins')
  await mkdir(plugins, { recursive: true })
  await cp(join(BIN, 'docker-compose'), join(plugins, 'docker-compose'))
  const child = await startChild({
    name: 'dockerd',
    command: join(BIN, 'dockerd'),
    args: [
      `--host=${host}`,
      `--data-root=${join(CACHE, 'data')}`,
      `--exec-root=${join(folder, 'run')}`,
      `--pidfile=${join(folder, 'pid')}`,
      `--userland-proxy-path=${join(BIN, 'docker-proxy')}`,
      // Debian's runc knows none.
      '--feature=time-namespaces=false',
    ],
    env: { ...process.env, DOCKER_MIN_API_VERSION: '1.41' },
    cwd: folder,
    stopSignal: 'SIGTERM',
    deathSignal: 'SIGTERM',
    stopMs: 60_000,
    logPath: join(CACHE, 'dockerd.log'),
  })
  const docker = makeDocker({ DOCKER_HOST: host, DOCKER_CONFIG: join(folder, 'client') })
  const stop = async (): Promise<void> => {
    // The images stay, and of what they were built from the newest.
    await docker(['builder', 'prune', '--force', '--keep-storage', '4gb']).catch(() => {})
    await child.stop()
    await restore()
    await rm(folder, { recursive: true })
  }
  const ended = child.exited.then(async (exit) => {
    throw new Error(`dockerd ${describeExit(exit)}:\n${(await child.tail()).join('\n')}`)
  })
  ended.catch(() => {})
  const ready = waitFor('dockerd', () => docker(['version']).catch(() => false as const))
  await Promise.race([ready, ended]).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  // What a run left that was killed starts with its engine.
  const left = (await docker(['ps', '--all', '--quiet'])).split('\n').filter((id) => id !== '')
  if (left.length > 0) await docker(['rm', '--force', '--volumes', ...left])
  const info = '{{.ServerVersion}}, {{.Driver}}, cgroup v{{.CgroupVersion}} by {{.CgroupDriver}}'
  say(`engine ${(await docker(['info', '--format', info])).trim()}`)
  return { docker, isOwn: true, stop }
}

const buildTools = async (say: Say): Promise<void> => {
  const paths = ['cmd/dockerd', 'cmd/docker-proxy']
  await buildGo(
    say,
    BIN,
    paths.map((path) => `${DOCKERD[0]}/${path}@${DOCKERD[1]}`),
  )
  const [module, version] = COMPOSE
  const built = join(BIN, 'docker-compose')
  if (await isThere(built)) return
  await timed(say, `build ${module} ${version}`, async () => {
    // It replaces modules, which `go install` rejects: one that requires it is made.
    const cwd = await mkdtemp(join(tmpdir(), 'kiln-go-'))
    await writeFile(join(cwd, 'go.mod'), `module engine\nrequire ${module} ${version}\n`)
    const flags = `-ldflags=-s -w -X ${module}/internal.Version=${version}`
    await promisify(execFile)('go', ['build', flags, '-o', built, `${module}/cmd`], {
      cwd,
      env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off' },
      maxBuffer: 100_000_000,
    })
    await rm(cwd, { recursive: true })
  })
}

/** Builds programs from Go modules into a folder of their version, once. */
export const buildGo = async (say: Say, folder: string, packages: string[]): Promise<void> => {
  const missing: string[] = []
  for (const name of packages)
    if (!(await isThere(join(folder, basename(name).replace(/@.*/, ''))))) missing.push(name)
  if (missing.length === 0) return
  await timed(say, `build ${missing.join(', ')}`, async () => {
    if (buildFromGo(folder, missing) !== 0) throw new Error('go failed: see above')
  })
}

export const isThere = async (path: string): Promise<boolean> =>
  await access(path).then(
    () => true,
    () => false,
  )

/** Says how long something takes. */
export const timed = async <T>(say: Say, what: string, work: () => Promise<T>): Promise<T> => {
  const start = performance.now()
  const response = await work()
  say(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${what}`)
  return response
}

const FORWARDING = '/proc/sys/net/ipv4/ip_forward'

/** Rules, the bridge, forwarding and groups as they were before the engine. */
const keepNetwork = async (): Promise<() => Promise<void>> => {
  const run = async (command: string, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(command, args)).stdout
  const tables = ['iptables', 'ip6tables']
  const rules = await Promise.all(tables.map((table) => run(`${table}-save`)))
  const forwarding = await readFile(FORWARDING)
  return async () => {
    for (const [index, table] of tables.entries()) {
      const text = rules[index] || '*filter\nCOMMIT\n*nat\nCOMMIT\n*raw\nCOMMIT\n'
      spawnSync(`${table}-restore`, { input: text })
    }
    spawnSync('ip', ['link', 'delete', 'docker0'])
    await writeFile(FORWARDING, forwarding)
    spawnSync('find', '/sys/fs/cgroup -depth -path */docker* -type d -delete'.split(' '))
  }
}
