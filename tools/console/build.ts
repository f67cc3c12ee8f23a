/**
 * Makes the console that an api serves at /console/: hashed names, a copy for each encoding beside each text, and
 * `pages.json`, which names what it is made of. New files are laid beside the old ones and `pages.json` comes last, so that
 * an api may read the folder at any time.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { InlineConfig, Rolldown } from 'vite'

import type { Page } from '../../src/platform/http/docs/pages.ts'
import { ROOT } from '../../src/local/root.ts'
import { writePage } from '../pages/write-page.ts'
import { checkSizes, FIRST } from './sizes.ts'

/** Folders of the sources of the console. */
const SOURCES = ['packages/console/src', 'packages/client/src']
const OTHERS = ['packages/console/index.html', 'package-lock.json', 'tools/console/build.ts']

/** Digest of the bytes that a build is made of. */
const digestConsole = async (): Promise<string> => {
  const hash = createHash('sha256')
  const files = await Promise.all(SOURCES.map(listFiles))
  for (const path of [...files.flat().toSorted(), ...OTHERS])
    hash.update(path).update(await readFile(join(ROOT, path)))
  return hash.digest('hex')
}

const listFiles = async (folder: string): Promise<string[]> => {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('generated'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
}

/** Builds into a folder in place of what is there. Does nothing when that was made of the same. */
export const buildConsole = async (out: string): Promise<void> => {
  const digest = await digestConsole()
  const stamp = join(out, 'digest')
  if ((await readFile(stamp, 'utf8').catch(() => '')) === digest) return
  const output = await bundle()
  checkSizes(output)
  await mkdir(join(out, 'assets'), { recursive: true })
  const pages: Record<string, Page> = {}
  for (const { fileName, ...file } of output) {
    const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
    const immutable = fileName.startsWith('assets/')
    pages[fileName] = await writePage(out, fileName, { bytes, immutable })
  }
  const unfinished = join(out, `pages.json.${process.pid}`)
  await writeFile(unfinished, JSON.stringify(pages))
  await rename(unfinished, join(out, 'pages.json'))
  await dropOthers(join(out, 'assets'), pages)
  await writeFile(stamp, digest)
}

/** Puts everything that the first load needs into one file; Rolldown divides the rest among the pages. */
const nameFirst = (): ((id: string, graph: Graph) => string | null) => {
  let first: Set<string> | undefined
  return (id, graph) => {
    first ??= reach(graph, ENTRY, new Set())
    return first.has(id) || SHARED.test(id) ? FIRST : null
  }
}

/** Files that home and the registry share with other pages: each would be a request of its own. */
const SHARED = new RegExp(
  [
    String.raw`src/ui/(button|clip|code|first-fields|link|panels|tabs|values)\.`,
    String.raw`src/(api/(stream|upload)|try/(example|snippets)|tasks/before-after|words/(causes|systems)|operations/attention)\.`,
    String.raw`src/registry/(queries|standing|registry\.module)\.`,
    String.raw`\.(avif|webp|mp4)$`,
  ].join('|'),
)

const ENTRY = join(ROOT, 'packages/console/src/main.tsx')

interface Graph {
  getModuleInfo(id: string): { importedIds: string[] } | null
}

const reach = (graph: Graph, id: string, found: Set<string>): Set<string> => {
  if (found.has(id)) return found
  found.add(id)
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reach(graph, imported, found)
  return found
}

/** Loads what builds only now: mostly there is nothing to build. */
const bundle = async (): Promise<Rolldown.RolldownOutput['output']> => {
  // Of React, what is for users.
  process.env['NODE_ENV'] = 'production'
  const [{ build }, { default: react }, { default: locales }] = await Promise.all([
    import('vite'),
    import('@vitejs/plugin-react'),
    import('@react-aria/optimize-locales-plugin'),
  ])
  const icon = encodeURIComponent(
    await readFile(join(ROOT, 'packages/console/src/icon.svg'), 'utf8'),
  )
  const config: InlineConfig = {
    configFile: false,
    root: join(ROOT, 'packages/console'),
    base: '/console/',
    logLevel: 'warn',
    plugins: [
      react(),
      locales.vite({ locales: ['en-US', 'de-DE', 'zh-CN'] }),
      // The icon is shorter than what a request of it sends.
      {
        name: 'icon',
        transformIndexHtml: {
          order: 'pre',
          handler: (html) => html.replace('./src/icon.svg', `data:image/svg+xml,${icon}`),
        },
      },
    ],
    build: {
      write: false,
      target: 'chrome123',
      // Nothing inline: the policy of the pages forbids it.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The styles of all pages are small, and one file of them is one request.
      cssCodeSplit: false,
      chunkSizeWarningLimit: 1000,
      rolldownOptions: {
        // The entry is part of the first file, and no request of its own.
        preserveEntrySignatures: 'allow-extension',
        output: {
          codeSplitting: {
            groups: [
              { name: nameFirst(), debugName: FIRST },
              // Home has no list without an end; the pages that have one take that of the registry.
              { name: 'search', test: /src\/(registry\/search|ui\/list)\.tsx/ },
              // What several pages share, in few files: each is a request.
              { name: 'parts', test: /src\/ui\//, minShareCount: 2 },
              { name: 'registry', test: /src\/(registry|host-node)\//, minShareCount: 2 },
            ],
          },
        },
      },
    },
  }
  const { output } = (await build(config)) as Rolldown.RolldownOutput
  return output
}

const dropOthers = async (folder: string, pages: Record<string, Page>): Promise<void> => {
  for (const name of await readdir(folder))
    if (pages[`assets/${name.replace(/\.(br|gz)$/, '')}`] === undefined)
      await rm(join(folder, name), { force: true })
}

/** Builds at each change of the console, until it is interrupted. A started stack reads the folder at each page. */
export const watchConsole = async (out: string): Promise<void> => {
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  for (let built = ''; ; await sleep(300)) {
    const digest = await digestConsole()
    if (digest === built) continue
    built = digest
    const start = Date.now()
    await buildConsole(out).then(
      () => say(`the console is built, ${Date.now() - start} ms: reload the page`),
      (error: unknown) => say(String(error)),
    )
  }
}

// A started stack builds in a process of its own: what builds changes NODE_ENV.
if (process.argv[1] === import.meta.filename) await buildConsole(process.argv[2] ?? '')
