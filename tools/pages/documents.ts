import { readFileSync } from 'node:fs'
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
  /** Its first paragraph. */
  description: string
  /** Words of what stands before its first heading. */
  words: string
  /** Without the title. */
  html: string
  /** Its second headings. */
  parts: { id: string; title: string }[]
  /** Places that a search finds. */
  entries: Entry[]
}

/** A place of a page: a heading, or one of the errors, settings or routes that a page of the reference lists. */
export interface Entry {
  id: string
  title: string
  /** First words about it. */
  text: string
  /** Words of what stands below a heading. */
  words?: string
}

/** A page of each, and the files that they show or lead to, by the names of these below /docs/. */
export interface Documents {
  documents: Document[]
  files: ReadonlyMap<string, string>
}

/** Documents that are served beside the reference page, in this order. */
const GROUPS: Record<string, string[]> = {
  Guides: [
    'docs/overview.md',
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
  Operations: [
    'docs/guides/production.md',
    'docs/operations.md',
    'docs/operations/deploy.md',
    'docs/operations/run.md',
    'docs/operations/scale.md',
    'docs/operations/recover.md',
    'docs/operations/troubleshoot.md',
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
  const [first, heading] = tokens
  if (first?.tag !== 'h1' || heading === undefined)
    throw new Error(`${path} does not begin with a title`)
  // Those who want to know why read on from a heading: their words would double the index.
  const hasWords = group !== 'How it works'
  const entries = [...nameHeadings(tokens, hasWords), ...(isList(path) ? nameItems(tokens) : [])]
  for (const token of tokens) pointLinks(token.children ?? [], source)
  const opening = tokens.findIndex(({ type }) => type === 'paragraph_open')
  return {
    name: names.get(path) ?? '',
    title: plainText(heading.content),
    group,
    description: shorten(tokens[opening + 1]?.content ?? ''),
    words: hasWords ? listWords(tokens, 0) : '',
    html: markdown.renderer.render(tokens.slice(3), markdown.options, {}),
    parts: entries.filter(({ tag }) => tag === 'h2'),
    entries: entries.filter(({ tag }) => tag !== 'h1'),
  }
}

type Token = ReturnType<typeof markdown.parse>[number]
type Named = Entry & { tag: string }

/** Gives headings their anchors; a second one of the same words has a number, as at GitHub. */
const nameHeadings = (tokens: Token[], hasWords: boolean): Named[] => {
  const counts = new Map<string, number>()
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return []
    const title = plainText(tokens[index + 1]?.content ?? '')
    const stem = slug(title)
    const count = counts.get(stem) ?? 0
    counts.set(stem, count + 1)
    const id = count === 0 ? stem : `${stem}-${count}`
    token.attrSet('id', id)
    return [
      { tag: token.tag, id, title, text: '', words: hasWords ? listWords(tokens, index) : '' },
    ]
  })
}

/** Words below the heading at a place, up to the next one, as stems, each once. */
const listWords = (tokens: Token[], at: number): string => {
  const rest = tokens.slice(at + 3)
  const end = rest.findIndex(({ type }) => type === 'heading_open')
  const texts = rest
    .slice(0, end === -1 ? undefined : end)
    .map(({ type, content }) => (type === 'inline' ? plainText(content).toLowerCase() : ''))
  const words = texts.join(' ').match(/[a-z0-9_]{3,}/g) ?? []
  const rare = words.filter((word) => !COMMON.has(word))
  return [...new Set(rare.map(stem))].toSorted().join(' ')
}

/** The beginning that a word shares with its other forms, as search.js has it. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(ies|ied|ing|ed|es|e|s|y)$/, '') : word

const COMMON = new Set(
  'all and any are but can each for from has have its may not one only other out than that the their then there these they this those was what when where which who with you your'.split(
    ' ',
  ),
)

/** Pages that are lists of what has a name: errors, settings, routes, fields. */
const isList = (path: string): boolean =>
  /^docs\/reference\/(endpoints|errors|fields|settings)\./.test(path)

/** Gives items that begin with a name an anchor. */
const nameItems = (tokens: Token[]): Named[] => {
  const ids = new Set(tokens.map((token) => token.attrGet('id')))
  return tokens.flatMap((token, index) => {
    const { children, content = '' } = tokens[index + 2] ?? {}
    const name = children?.[0]
    if (token.type !== 'list_item_open' || name?.type !== 'code_inline') return []
    const stem = name.content.toLowerCase().replaceAll(/\W+/g, '-').replace(/-$/, '')
    let id = stem
    for (let again = 2; ids.has(id); again += 1) id = `${stem}-${again}`
    ids.add(id)
    token.attrSet('id', id)
    const text = content.slice(name.content.length + 2).replace(/^[^:]*: /, '')
    return [{ tag: 'li', id, title: name.content, text: shorten(text) }]
  })
}

const TEXT_MAX = 160

/** Words of a text without marks, as many as a preview shows. */
const shorten = (text: string): string => {
  const words = plainText(text).replaceAll('\n', ' ')
  if (words.length <= TEXT_MAX) return words
  return `${words.slice(0, words.lastIndexOf(' ', TEXT_MAX))} …`
}

/** Points pictures and links to what is served. One to another file of the repository becomes words. */
const pointLinks = (tokens: Token[], source: Omit<Source, 'text'>): void => {
  let isWords = false
  for (const token of tokens) {
    if (token.type === 'image') pointPicture(token, source)
    if (token.type === 'link_close' && isWords) token.tag = 'span'
    if (token.type !== 'link_open') continue
    const address = pointTo(token.attrGet('href'), source)
    isWords = address === undefined
    if (address !== undefined) token.attrSet('href', address)
    else Object.assign(token, { tag: 'span', attrs: [['class', 'elsewhere']] })
  }
}

const pointPicture = (token: Token, source: Omit<Source, 'text'>): void => {
  const named = String(token.attrGet('src'))
  if (!DRAWING.test(named)) return token.attrSet('src', pointTo(named, source) ?? '')
  const drawing = readFileSync(join(ROOT, dirname(source.path), named), 'utf8')
  Object.assign(token, { type: 'html_inline', content: drawing })
}

/** Files that are served as they are, beside the pages. */
const SERVED = /\.(webp|yml|json)$/

/** Drawings become part of the page, whose colours they take. */
const DRAWING = /\.svg$/

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

const plainText = (text: string): string =>
  text.replaceAll(/[`*]|(?<!\w)_|_(?!\w)|\]\([^)]*\)|\[/g, '')

/** As GitHub makes the anchors of headings, so that a link holds there, too. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
