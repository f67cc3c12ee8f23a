/**
 * Compiles Temporal while the packages are installed: where it cannot be downloaded it takes longest of a first start, and
 * needs Go alone. Go keeps what is ready by the end for src/local/temporal-build.ts. Plain JavaScript of an old kind.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'temporal')

/** Goes on until `signal`, and ends once what is being compiled is kept. */
export const warmTemporal = async (say, signal) => {
  if (!isWanted(process.env) || (await isDownloadable(signal)) || signal.aborted) return
  const { tool, env, cpuSeconds } = JSON.parse(readFileSync(join(FOLDER, 'build.json'), 'utf8'))
  const child = spawn('go', ['build', '-v', '-o', '/dev/null', tool], {
    cwd: FOLDER,
    env: { ...process.env, ...env },
    // Go ends once it cannot write, so it does not outlive this process.
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.resume()
  const minutes = Math.ceil(cpuSeconds / availableParallelism() / 60)
  child.once('spawn', () =>
    say(
      `Temporal cannot be downloaded and is built with Go meanwhile: about ${minutes} min where nothing else runs`,
    ),
  )
  signal.addEventListener('abort', () => child.kill('SIGINT'))
  await once(child, 'close').catch(() => {})
}

/** False where the command needs no Temporal, has one, or another command makes one. */
const isWanted = (env) => {
  if (!/^(start|demo|test|bench)/.test(env.npm_lifecycle_event)) return false
  const given = ['TEMPORAL_ADDRESS', 'TEST_TEMPORAL_ADDRESS', 'TEMPORAL_CLI_PATH']
  if (given.some((name) => env[name])) return false
  const caches = process.platform === 'darwin' ? 'Library/Caches' : '.cache'
  const [, version] = /temporalio\/cli v(\S+)/.exec(readFileSync(join(FOLDER, 'go.mod'), 'utf8'))
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), caches), 'kiln', `temporal-${version}`)
  const places = [cache, ...(env.PATH || '').split(delimiter)]
  return !places.some((place) =>
    ['temporal', 'claim.json'].some((name) => existsSync(join(place, name))),
  )
}

/** Behind a proxy a download may be reachable: it is tried later, and Temporal is built only if it fails. */
const isDownloadable = async (stop) => {
  if (['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].some((name) => process.env[name]))
    return true
  const signal = AbortSignal.any([stop, AbortSignal.timeout(3000)])
  return await fetch('https://temporal.download/', { method: 'HEAD', signal }).then(
    () => true,
    () => false,
  )
}
