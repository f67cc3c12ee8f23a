import { readFile } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'

import MarkdownIt from 'markdown-it'

import { ROOT } from '../../src/local/root.ts'

/** A document as a page. */
export interface Document {
  /** The last part of its address. */
  name: string
  title: string
  group: string
  /** Without the title. */
  html: string
  /** Its second headings. */
  parts: { id: string; title: string }[]
}

/** A page of each, and the files that they show or lead to, by the names of these below /docs/. */
export interface Documents {
  documents: Document[]
  files: ReadonlyMap<string, string>
}

/** Documents that are served beside the reference page, in this order. */
const GROUPS: Record<string, string[]> = {
  Guides: [
    'docs/guides/production.md',
    'docs/guides/first-task.md',
    'docs/guides/many-tasks.md',
    'docs/guides/batches.md',
    'docs/guides/limits-and-errors.md',
    'docs/guides/webhooks.md',
    'docs/guides/browser.md',
    'docs/guides/publishing.md',
    'docs/guides/engines-http.md',
    'docs/comfyui.md',
  ],
  Reference: [
    'docs/client.md',
    'packages/python/README.md',
    'docs/registry.md',
    'docs/extraction.md',
    'docs/reference/endpoints.md',
    'docs/reference/errors.md',
    'docs/reference/fields.md',
    'docs/reference/upstream.md',
    'docs/reference/settings.md',
    'docs/operations.md',
  ],
  'How it works': [
    'docs/tour.md',
    'docs/architecture.md',
    'docs/reliability.md',
    'docs/security.md',
    'docs/search.md',
    'docs/performance.md',
    'docs/reference/figures.md',
    'docs/decisions.md',
  ],
}

/** Raw HTML is shown as text, and a link with another scheme than these is none. */
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false })

// Tables and code may be wider than a phone: they scroll by themselves, by keyboard, too.
Object.assign(markdown.renderer.rules, {
  table_open: () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n',
  table_close: () => '</table></div>\n',
  fence: (tokens: Token[], index: number) => {
    const language = languageOf(tokens[index]) ?? 'text'
    const code = markdown.utils.escapeHtml(tokens[index]?.content ?? '')
    const block = `<pre tabindex="0" data-language="${language}"><code>${code}</code></pre>\n`
    // Blocks in a row that do the same, of which guide.js shows one.
    const [before, after] = [index - 1, index + 1].map((at) => isChoice(tokens[at]))
    if (!isChoice(tokens[index]) || before === after) return block
    return after ? `<div class="languages">\n${block}` : `${block}</div>\n`
  },
})

const languageOf = (token: Token | undefined): string | undefined =>
  token?.type === 'fence' ? /^\w+/.exec(token.info)?.[0] : undefined

/** True for the curl, TypeScript or Python of one step. */
const isChoice = (token: Token | undefined): boolean =>
  ['sh', 'ts', 'python'].includes(languageOf(token) ?? '')

export const renderDocuments = async (): Promise<Documents> => {
  const listed = Object.entries(GROUPS).flatMap(([group, paths]) =>
    paths.map((path) => ({ group, path })),
  )
  const names = new Map(listed.map(({ path }) => [path, nameOf(path)]))
  if (new Set(names.values()).size !== names.size)
    throw new Error('two documents of GROUPS in tools/pages/documents.ts have one name')
  const files = new Map<string, string>()
  const documents = await Promise.all(
    listed.map(async ({ group, path }) =>
      renderDocument({ group, path, names, files, text: await readFile(join(ROOT, path), 'utf8') }),
    ),
  )
  return { documents, files }
}

/** A README has the name of its package. */
const nameOf = (path: string): string =>
  basename(path.endsWith('/README.md') ? dirname(path) : path, '.md')

interface Source {
  group: string
  path: string
  text: string
  /** Names of pages by the paths of their documents. */
  names: ReadonlyMap<string, string>
  /** Gets the files that it shows or leads to. */
  files: Map<string, string>
}

const renderDocument = ({ text, ...source }: Source): Document => {
  const { group, path, names } = source
  const tokens = markdown.parse(text.replaceAll(/^<!--.*?-->\n/gms, ''), {})
  const parts: Document['parts'] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]?.content ?? '')
      const id = slug(title)
      token.attrSet('id', id)
      if (token.tag === 'h2') parts.push({ id, title })
    }
    pointLinks(token.children ?? [], source)
  }
  const [, heading] = tokens
  if (tokens[0]?.tag !== 'h1' || heading === undefined)
    throw new Error(`${path} does not begin with a title`)
  const html = markdown.renderer.render(tokens.slice(3), markdown.options, {})
  return { name: names.get(path) ?? '', title: plainText(heading.content), group, html, parts }
}

type Token = ReturnType<typeof markdown.parse>[number]

/** Points pictures and links to what is served. One to another file of the repository becomes words. */
const pointLinks = (tokens: Token[], source: Omit<Source, 'text'>): void => {
  let isWords = false
  for (const token of tokens) {
    if (token.type === 'image') token.attrSet('src', pointTo(token.attrGet('src'), source) ?? '')
    if (token.type === 'link_close' && isWords) token.tag = 'span'
    if (token.type !== 'link_open') continue
    const address = pointTo(token.attrGet('href'), source)
    isWords = address === undefined
    if (address !== undefined) token.attrSet('href', address)
    else Object.assign(token, { tag: 'span', attrs: [['class', 'elsewhere']] })
  }
}

/** Files that are served as they are, beside the pages. */
const SERVED = /\.(webp|yml|json)$/

/** Returns the address of what a document names; undefined: it is not served. */
const pointTo = (
  named: unknown,
  { path, names, files }: Omit<Source, 'text'>,
): string | undefined => {
  const address = typeof named === 'string' ? named : ''
  if (/^(https?:|#|\/)/.test(address)) return address
  const [file = '', hash] = address.split('#')
  const target = normalize(join(dirname(path), file))
  const name = names.get(target)
  if (name !== undefined) return `/docs/${name}${hash === undefined ? '' : `#${hash}`}`
  if (!SERVED.test(target)) return undefined
  const asset = `assets/${target.replaceAll('/', '-')}`
  files.set(asset, target)
  return `/docs/${asset}`
}

const plainText = (text: string): string => text.replaceAll(/[`*_]|\]\([^)]*\)|\[/g, '')

/** As GitHub makes the anchors of headings, so that a link holds there, too. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
