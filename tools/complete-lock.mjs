/**
 * Adds to package-lock.json the optional packages of other platforms that the registry of this machine does not carry.
 * npm leaves those out when it writes the lock file, and `npm ci` then rejects it everywhere: run this after every
 * `npm install`. Platform and C library are read off the name; there is no integrity hash, because nothing was fetched.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const PLATFORM =
  /(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64)(?:-(\w+))?$/
const LIBC = { gnu: 'glibc', musl: 'musl' }

/** The lock entries that are missing, by path. */
const listMissing = (packages) => {
  const missing = {}
  for (const [path, entry] of Object.entries(packages))
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const at = `node_modules/${name}`
      if (packages[at] || packages[`${path}/${at}`]) continue
      missing[at] = makeEntry(name, version, entry)
    }
  return missing
}

const makeEntry = (name, version, parent) => {
  const [, os, cpu, abi] = PLATFORM.exec(name) ?? []
  if (os === undefined || !/^\d+\.\d+\.\d+\S*$/.test(version))
    throw new Error(
      `${name}@${version} is not in the lock file, and its name does not say its platform`,
    )
  return {
    version,
    cpu: [cpu],
    ...(parent.dev ? { dev: true } : {}),
    ...(os === 'linux' && LIBC[abi] ? { libc: [LIBC[abi]] } : {}),
    optional: true,
    os: [os],
  }
}

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8'))
const missing = listMissing(lock.packages)
const byName = ([a], [b]) => a.localeCompare(b, 'en')
lock.packages = Object.fromEntries(
  Object.entries({ ...lock.packages, ...missing }).toSorted(byName),
)
if (Object.keys(missing).length > 0) writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${Object.keys(missing).length} packages of other platforms added\n`)
