/**
 * Compiles our TypeScript into `.built/`, file by file at the same paths, and copies what lies beside it; only what has
 * changed since the last time. The entries that run as processes are bundled with their packages: without that a worker
 * spends a second reading some 1,500 files before it does anything. Plain JavaScript, because it runs first.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { codeOf } from './load.mjs'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const BUILT = join(ROOT, '.built')
const MANIFEST = 'manifest.json'
/** The image is built without tests and benchmarks. */
const FOLDERS = [
  'src',
  'workflows',
  'activities',
  'test',
  'bench',
  'tools',
  'packages/inspector',
  'packages/engines',
  'packages/client',
  'packages/python/test',
  'packages/engine-python/test',
  'packages/console/src',
  'packages/console/test',
  'docs',
].filter((folder) => existsSync(join(ROOT, folder)))
const CHUNKS = 'src/chunks'
const THREAD_PATH = join(BUILT, 'src/workflow-thread.mjs')

/** They start most often, so that V8 keeps what it has made of each: see load.mjs. */
const SERVICES = ['src/api.ts', 'src/worker.ts']

/** The SDK's thread in which workflows run: a worker waits for it. */
const THREAD = 'node_modules/@temporalio/worker/lib/workflow/workflow-worker-thread.js'

/** Other sources that run as a process or a thread of their own. */
export const PROGRAMS = [
  'src/await-workers.ts',
  'src/migrate.ts',
  'src/operate.ts',
  'packages/inspector/src/kiln-inspect.ts',
  'src/local.ts',
  'packages/inspector/src/child.ts',
  'src/registry/picture/child.ts',
  'packages/engines/src/render-thread.ts',
  'src/registry/http/graph-thread.ts',
]

/** A person waits for these, and they need nothing else of us: in a fresh checkout they alone are compiled. */
const ALONE = [
  'src/migrate.ts',
  'src/operate.ts',
  'packages/inspector/src/kiln-inspect.ts',
  'packages/client/src/cli/kiln.ts',
]
const manifestOf = (source) => `${basename(source, '.ts')}.json`
const MANIFESTS = [MANIFEST, ...ALONE.map(manifestOf)]

/** Native code, and what only the bundling of workflows, tracing, AUTH=builtin or `kiln mcp` loads. */
const LEFT_OUT = [
  'sharp',
  'webpack',
  '@swc/core',
  'swc-loader',
  'source-map-loader',
  // It imports modules while it runs.
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace-base',
  // It takes its models by the names of their classes, which go when its syntax is made small.
  'oidc-provider',
  '@simplewebauthn/server',
  '@zxcvbn-ts/core',
  '@zxcvbn-ts/language-common',
  '@modelcontextprotocol/server',
]

/** Path of what a source file, named below the checkout, becomes. */
export const builtPath = (source) => join(BUILT, source.replace(/\.ts$/, '.js'))

/** Compiles what an entry needs; returns its path. */
export const compileEntry = async (source) => {
  const name = basename(source, '.ts')
  const state = readState(MANIFEST)
  if (!ALONE.includes(source) || isFresh(state)) {
    await compile(state)
    return builtPath(source)
  }
  const path = join(BUILT, 'alone', `${name}.js`)
  const own = readState(manifestOf(source))
  if (!isFresh(own)) {
    own.gone.forEach(removeBuilt)
    copyAll(own.changed.filter((file) => SERVED.test(file) && !isCode(file)))
    const esbuild = (await import('esbuild')).default
    const [{ contents }] = await make(esbuild, {
      ...BUNDLES,
      splitting: false,
      entryPoints: [source],
    })
    place(path, (to) => writeFileSync(to, contents))
    own.keep()
  }
  return path
}

/** Lists what has changed since the manifest of this name was kept. A missing file may have been copied for another one. */
const readState = (manifest) => {
  const path = join(BUILT, manifest)
  const key = makeKey()
  const before = readText(path)
  const { key: knownKey, files: known } = readFiles(before)
  const found = listSources()
  const now = JSON.stringify({ key, files: found })
  const isGone = (path) => found[path] === undefined
  const others = MANIFESTS.flatMap((name) =>
    Object.keys(readFiles(readText(join(BUILT, name))).files),
  )
  const left = others.filter((path) => isGone(path) && existsSync(builtPath(path)))
  return {
    changed: Object.keys(found).filter((path) => knownKey !== key || known[path] !== found[path]),
    gone: [...new Set([...Object.keys(known).filter(isGone), ...left])],
    keep: () => {
      // Who has compiled other sources meanwhile may have been the last to write: nobody knows what is there.
      if ([before, now].includes(readText(path))) place(path, (to) => writeFileSync(to, now))
      else rmSync(path, { force: true })
    },
  }
}

const readText = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

const readFiles = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return { files: {} }
  }
}

/** Files from which on a person waits long enough to wonder. */
const SAID_FROM = 100

const isFresh = ({ changed, gone }) => changed.length === 0 && gone.length === 0

export const compile = async (state = readState(MANIFEST)) => {
  const { changed, gone, keep } = state
  if (isFresh(state)) return
  // The first time it takes a while. Standard output belongs to the command that comes next.
  if (changed.length > SAID_FROM) process.stderr.write('kiln: compiling the sources\n')
  gone.forEach(removeBuilt)
  const [code, other] = split(changed, isCode)
  copyAll(other)
  const esbuild = (await import('esbuild')).default
  const runs = [...gone, ...changed].some((path) => RUN.test(path))
  await Promise.all([
    build(esbuild, mirror(code.filter((path) => ![...SERVICES, ...PROGRAMS].includes(path)))),
    runs ? bundle(esbuild) : undefined,
  ])
  if ([...gone, ...changed].some((path) => PAGES.test(path)) && existsSync(join(ROOT, 'docs'))) {
    const { buildPages } = await import(pathToFileURL(builtPath('tools/pages/build.ts')).href)
    await buildPages(join(BUILT, 'pages'))
  }
  keep()
}

/** Sources of programs, and folders of the files that they read beside them. */
const RUN = /^(src|activities|packages\/(inspector|engines)\/src)\/.*\.(ts|json)$/
const SERVED = /^(src|packages\/(inspector|engines)\/src)\//

/** Sources of the pages at /docs, which look like the console. */
const PAGES =
  /^(docs|tools\/pages)\/|^packages\/python\/README\.md$|^packages\/console\/src\/(tokens\.css|icon\.svg|home\/preview\.jpg)$/

const copyAll = (paths) => {
  for (const path of paths) place(builtPath(path), (to) => copyFileSync(join(ROOT, path), to))
}

const isCode = (path) => path.endsWith('.ts')

const split = (all, test) => [all.filter((one) => test(one)), all.filter((one) => !test(one))]

/** The packages, and where the checkout lies, are compiled in. */
const makeKey = () =>
  [
    ROOT,
    readFileSync(fileURLToPath(import.meta.url)),
    process.version,
    readFileSync(join(ROOT, 'package-lock.json')),
    ...readdirSync(join(ROOT, 'patches')).map((name) => readFileSync(join(ROOT, 'patches', name))),
  ]
    .reduce((hash, part) => hash.update(part), createHash('sha256'))
    .digest('hex')

const listSources = () => {
  const found = {}
  for (const folder of FOLDERS)
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      // Editors put files beside ours and take them away at once.
      const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {}
      if (size !== undefined) found[relative(ROOT, path)] = `${mtimeMs} ${size}`
    }
  return found
}

const removeBuilt = (path) => {
  rmSync(builtPath(path), { force: true })
  rmSync(`${builtPath(path)}.map`, { force: true })
}

/** Other processes may read what was there, or write the same. */
const place = (path, write) => {
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.pid}`
  write(unfinished)
  renameSync(unfinished, path)
}

const build = async (esbuild, options) => {
  const files = await make(esbuild, options)
  for (const { path, contents } of files) place(path, (to) => writeFileSync(to, contents))
  return files.map(({ path }) => path)
}

const make = async (esbuild, options) => {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: ROOT,
    outdir: BUILT,
    outbase: ROOT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    write: false,
    logLevel: 'warning',
    ...options,
  })
  return outputFiles
}

/** Each file by itself: what it imports stays an import. */
const mirror = (files) => ({
  entryPoints: files,
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  plugins: [
    {
      name: 'imports',
      setup: ({ onResolve }) =>
        onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
          kind === 'entry-point'
            ? undefined
            : { path: path.replace(/\.ts$/, '.js'), external: true },
        ),
    },
  ],
})

const bundle = async (esbuild) => {
  const written = await Promise.all([
    build(esbuild, BUNDLES),
    ...SERVICES.map((source) => bundleService(esbuild, source)),
    bundleThread(esbuild),
  ])
  dropOldChunks(new Set(written.flat()))
}

const bundleService = async (esbuild, source) => {
  const { path, loader } = await keepScript(esbuild, source)
  const start = `${loader}await load(${JSON.stringify(path)}).main()\n`
  place(builtPath(source), (to) => writeFileSync(to, start))
  return [path, codeOf(path)]
}

const bundleThread = async (esbuild) => {
  const { path, loader } = await keepScript(esbuild, THREAD)
  place(THREAD_PATH, (to) => writeFileSync(to, `${loader}load(${JSON.stringify(path)})\n`))
  return [path, codeOf(path)]
}

/** Writes a script whose name holds its digest, so that what V8 keeps of it is never taken for that of another. */
const keepScript = async (esbuild, source) => {
  const [{ contents }] = await make(esbuild, { ...BUNDLED, ...SERVICE, entryPoints: [source] })
  const digest = createHash('sha256').update(contents).digest('hex').slice(0, 16)
  const path = join(BUILT, CHUNKS, `${parse(source).name}-${digest}.cjs`)
  place(path, (to) => writeFileSync(to, contents))
  await promisify(execFile)(process.execPath, [join(ROOT, 'tools/keep-code.mjs'), path])
  const loader = pathToFileURL(join(ROOT, 'tools/load.mjs')).href
  return { path, loader: `import { load } from '${loader}'\n` }
}

const BUNDLED = {
  external: LEFT_OUT,
  // A process spends a quarter of its start on parsing.
  minifyWhitespace: true,
  minifySyntax: true,
  // Asking for it loads all of Node's own fetch, which no process of ours uses.
  define: { 'globalThis.Headers': 'undefined' },
  plugins: [
    {
      name: 'places',
      setup: ({ onLoad }) =>
        onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
          const text = await readFile(path, 'utf8')
          if (!/import\.meta\.|\b__dirname\b|\b__filename\b|\brequire\.resolve\(/.test(text)) return
          return { contents: pinPlaces(path, text), loader: isCode(path) ? 'ts' : 'js' }
        }),
    },
  ],
}

const BUNDLES = {
  ...BUNDLED,
  entryPoints: PROGRAMS,
  splitting: true,
  chunkNames: `${CHUNKS}/[hash]`,
  banner: {
    js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(${JSON.stringify(pathToFileURL(`${ROOT}/`).href)})`,
  },
}

/** V8 keeps the code of scripts only, and no script waits at its top level: what follows the imports becomes a function. */
const SERVICE = {
  format: 'cjs',
  banner: { js: '(function (exports, require, module) {' },
  footer: { js: '})' },
  plugins: [
    {
      name: 'service',
      setup: ({ onLoad }) =>
        onLoad({ filter: new RegExp(`/(${SERVICES.join('|')})$`) }, ({ path }) => {
          const text = readFileSync(path, 'utf8')
          const imports = [...text.matchAll(/^import\s[^;]*?'[^']+'\n/gm)]
          const end = imports.at(-1).index + imports.at(-1)[0].length
          const body = `export const main = async () => {\n${text.slice(end)}}\n`
          return { contents: pinPlaces(path, text.slice(0, end) + body), loader: 'ts' }
        }),
    },
    ...BUNDLED.plugins,
  ],
}

/** A module finds files from where it lies, wherever its code has gone. */
const pinPlaces = (path, text) => {
  // The folder of the packages may be a link, and this path is where it leads.
  const isOwn = !path.split(sep).includes('node_modules')
  const place = isOwn ? builtPath(relative(ROOT, path)) : path
  const [url, folder, file] = [pathToFileURL(place).href, dirname(place), place].map((value) =>
    JSON.stringify(value),
  )
  return text
    .replaceAll("require.resolve('./workflow-worker-thread')", JSON.stringify(THREAD_PATH))
    .replaceAll('import.meta.url', url)
    .replaceAll('import.meta.dirname', folder)
    .replaceAll('import.meta.filename', file)
    .replaceAll(/\b__dirname\b/g, folder)
    .replaceAll(/\b__filename\b/g, file)
    .replaceAll(/\brequire\.resolve\(/g, `require('node:module').createRequire(${file}).resolve(`)
    .replaceAll(
      'import.meta.resolve(',
      `((name) => process.getBuiltinModule('node:url').pathToFileURL(process.getBuiltinModule('node:module').createRequire(${file}).resolve(name)).href)(`,
    )
}

const DAY_MS = 86_400_000

/** A process that was started from the last ones may still import of them. */
const dropOldChunks = (written) => {
  const now = Date.now()
  for (const name of readdirSync(join(BUILT, CHUNKS))) {
    const path = join(BUILT, CHUNKS, name)
    if (!written.has(path) && statSync(path).mtimeMs < now - DAY_MS) rmSync(path, { force: true })
  }
}
