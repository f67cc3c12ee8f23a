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

/** Documents that are served beside the reference page, in this order. Links to other files of the repository become plain text. */
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
  ],
  Reference: [
    'docs/client.md',
    'docs/registry.md',
    'docs/extraction.md',
    'docs/reference/endpoints.md',
    'docs/reference/errors.md',
    'docs/reference/settings.md',
    'docs/operations.md',
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

export const renderDocuments = async (): Promise<Document[]> => {
  const listed = Object.entries(GROUPS).flatMap(([group, paths]) =>
    paths.map((path) => ({ group, path })),
  )
  const names = new Map(listed.map(({ path }) => [path, basename(path, '.md')]))
  if (new Set(names.values()).size !== names.size)
    throw new Error('two documents of GROUPS in tools/pages/documents.ts have one name')
  return await Promise.all(
    listed.map(async ({ group, path }) =>
      renderDocument({ group, path, names, text: await readFile(join(ROOT, path), 'utf8') }),
    ),
  )
}

interface Source {
  group: string
  path: string
  text: string
  /** Names of pages by the paths of their documents. */
  names: ReadonlyMap<string, string>
}

const renderDocument = ({ group, path, text, names }: Source): Document => {
  const tokens = markdown.parse(text.replaceAll(/^<!--.*?-->\n/gms, ''), {})
  const parts: Document['parts'] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]?.content ?? '')
      const id = slug(title)
      token.attrSet('id', id)
      if (token.tag === 'h2') parts.push({ id, title })
    }
    for (const child of token.children ?? [])
      if (child.type === 'link_open') pointLink(child, { path, names })
  }
  const [, heading] = tokens
  if (tokens[0]?.tag !== 'h1' || heading === undefined)
    throw new Error(`${path} does not begin with a title`)
  const html = markdown.renderer.render(tokens.slice(3), markdown.options, {})
  return { name: names.get(path) ?? '', title: plainText(heading.content), group, html, parts }
}

type Token = ReturnType<typeof markdown.parse>[number]

/** A link to a document leads to its page; one to a file that is not served stays words. */
const pointLink = (link: Token, { path, names }: Pick<Source, 'path' | 'names'>): void => {
  const href = String(link.attrGet('href') ?? '')
  if (/^(https?:|#|\/)/.test(href)) return
  const [file = '', hash] = href.split('#')
  const name = names.get(normalize(join(dirname(path), file)))
  if (name === undefined) link.attrs = [['class', 'elsewhere']]
  else link.attrSet('href', `/docs/${name}${hash === undefined ? '' : `#${hash}`}`)
}

const plainText = (text: string): string => text.replaceAll(/[`*_]|\]\([^)]*\)|\[/g, '')

/** As GitHub makes the anchors of headings, so that a link holds there, too. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
