/**
 * Makes the documentation that an api serves at /docs: the reference page, on which Swagger UI shows /openapi.json, and a
 * page of each document. Names of assets change with their bytes; each text has a copy for each encoding beside it, so
 * that no api compresses anything.
 */
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join } from 'node:path'

import { ROOT } from '../../src/local/root.ts'
import type { Page } from '../../src/platform/http/docs/pages.ts'
import { digest } from '../../src/platform/http/serve/copies.ts'
import { renderDocuments, type Document } from './documents.ts'
import type { Frame } from './frame.ts'
import { renderFrame } from './frame.ts'
import { writePage } from './write-page.ts'

/** Folder of what runs in the browser. */
const BROWSER = join(ROOT, 'tools/pages/browser')

/** The console, whose mark, typeface and colours the pages share. */
const CONSOLE = join(ROOT, 'packages/console/src')

/** Files of the page by the name that others use for them. */
const listSources = async (): Promise<Record<string, string>> => {
  const { resolve } = createRequire(import.meta.url)
  const swagger = dirname(resolve('swagger-ui-dist/package.json'))
  const own = await readdir(BROWSER)
  return {
    // Before the style that names its address.
    'inter.woff2': resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
    'icon.svg': join(CONSOLE, 'icon.svg'),
    'preview.jpg': join(CONSOLE, 'home/preview.jpg'),
    'swagger-ui.js': join(swagger, 'swagger-ui-bundle.js'),
    'swagger-ui.css': join(swagger, 'swagger-ui.css'),
    'swagger-ui-licence.txt': join(swagger, 'LICENSE'),
    'swagger-ui-notice.txt': join(swagger, 'NOTICE'),
    ...Object.fromEntries(own.map((name) => [name, join(BROWSER, name)])),
  }
}

/** Writes the pages into a folder in place of what is there. */
export const buildPages = async (out: string): Promise<void> => {
  const unfinished = `${out}.${process.pid}`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(join(unfinished, 'assets'), { recursive: true })
  const pages: Record<string, Page> = {}
  const addresses: Record<string, string> = {}
  const addAsset = async (name: string, bytes: Buffer): Promise<void> => {
    const stem = basename(name, extname(name))
    const asset = `assets/${stem}-${digest(bytes).slice(0, 12)}${extname(name)}`
    addresses[name] = `/docs/${asset}`
    pages[asset] = await writePage(unfinished, asset, { bytes, immutable: true })
  }
  const tokens = await readFile(join(CONSOLE, 'tokens.css'), 'utf8')
  for (const [name, path] of Object.entries(await listSources())) {
    const bytes = withLook(tokens, addresses, {
      name,
      bytes: withoutMap(name, await readFile(path)),
    })
    await addAsset(name, bytes)
  }
  const { documents, files } = await renderDocuments()
  await addAsset('search.json', Buffer.from(JSON.stringify(makeIndex(documents))))
  for (const [name, path] of [['sample.jpg', 'samples/thumbnail.jpg'] as const, ...files])
    pages[name] = await writePage(unfinished, name, {
      bytes: await readFile(join(ROOT, path)),
      immutable: false,
    })
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Versioned
  const frame = { addresses, version, documents } satisfies Frame
  for (const [name, html] of Object.entries(renderFrame(frame)))
    pages[name] = await writePage(unfinished, `${name}.html`, {
      bytes: Buffer.from(html),
      immutable: false,
    })
  await writeFile(join(unfinished, 'pages.json'), JSON.stringify(pages))
  await rm(out, { recursive: true, force: true })
  await rename(unfinished, out)
}

/** The pages, and what they have by their places in that list, as tools/pages/browser/search.js reads it. */
const makeIndex = (documents: readonly Document[]) => ({
  pages: documents.map(({ name, title, description, words }) => [name, title, description, words]),
  entries: documents.flatMap(({ entries }, page) =>
    entries.map(({ id, title, text, words }) => [page, id, title, text, ...(words ? [words] : [])]),
  ),
})

type Versioned = { version: string }
type Asset = { name: string; bytes: Buffer }

/** Puts the typeface and the colours of the console, which are the head of its tokens.css, before our style. */
const withLook = (
  tokens: string,
  addresses: Frame['addresses'],
  { name, bytes }: Asset,
): Buffer => {
  if (name !== 'style.css') return bytes
  const [head] = /^@font-face.*?^:root \{.*?^\}\n/ms.exec(tokens) ?? []
  if (head === undefined) throw new Error('tokens.css does not begin with a typeface and colours')
  return Buffer.from(head.replace(/'[^']*\.woff2'/, `'${addresses['inter.woff2']}'`) + bytes)
}

/** A browser asks for the map when its tools are open; it is not served. */
const withoutMap = (name: string, bytes: Buffer): Buffer =>
  /\.(js|css)$/.test(name)
    ? Buffer.from(bytes.toString().replace(/\/[/*]# sourceMappingURL=.*$/m, ''))
    : bytes
