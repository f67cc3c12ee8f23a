import escape from 'escape-html'

import type { Document } from './documents.ts'

export interface Frame {
  /** Addresses of the assets by their names in tools/pages/browser. */
  addresses: Record<string, string>
  /** Version of the package. */
  version: string
  documents: readonly Document[]
}

/** The text of every page by its name: `index` is the reference page, `missing` is shown where there is none. */
export const renderFrame = (frame: Frame): Record<string, string> => ({
  index: renderReference(frame),
  missing: renderMissing(frame),
  ...Object.fromEntries(
    frame.documents.map((document) => [document.name, renderGuide(frame, document)]),
  ),
})

const renderReference = (frame: Frame): string =>
  renderPage(frame, {
    name: 'index',
    title: 'API reference',
    description: 'All routes of this service, with their bodies and responses, to read and to try.',
    styles: ['swagger-ui.css', 'style.css', 'reference.css'],
    scripts: ['swagger-ui.js', 'reference.js'],
    // Beside the scripts, one of which asks for it.
    head: '<link rel="preload" href="/openapi.json" as="fetch" crossorigin>',
    content: `<h1>API reference</h1>
<section id="acting" class="acting" aria-labelledby="acting-title" hidden>
<h2 id="acting-title">Try it</h2>
<p>This is a development service. Take a token with one click, then open a route, press <b>Try it out</b> and <b>Execute</b>.</p>
<p id="acting-users" class="row"></p>
<p id="acting-state" role="status"></p>
</section>
<p>Every error has one shape; <a href="/docs/errors">Errors</a> lists all codes. The page shows <a href="/openapi.json">/openapi.json</a>, from which clients can be generated.</p>
<div id="reference" data-spec="/openapi.json"><p>Reading the API …</p></div>
<noscript><p>The reference page needs JavaScript. <a href="/docs/endpoints">All routes</a> are also listed without.</p></noscript>`,
  })

const renderMissing = (frame: Frame): string =>
  renderPage(frame, {
    name: 'missing',
    title: 'Page not found',
    description: 'There is no page at this address.',
    styles: ['style.css'],
    scripts: [],
    content: `<article><h1>Page not found</h1>
<p>There is no page at this address. The menu lists all of them; <a href="/docs/first-task">Your first task</a> is a good start.</p></article>`,
  })

const renderGuide = (frame: Frame, document: Document): string => {
  const { name, title, description, html, parts } = document
  return renderPage(frame, {
    name,
    title,
    description,
    styles: ['style.css'],
    scripts: ['guide.js'],
    content: `<article><h1>${escape(title)}</h1>
${parts.length > 2 ? renderParts(parts) : ''}
${html}${renderNext(frame.documents, document)}</article>`,
  })
}

/** Links to the pages before and after a page of the menu. */
const renderNext = (documents: readonly Document[], document: Document): string => {
  const at = documents.indexOf(document)
  const link = (rel: 'prev' | 'next', words: string, other: Document | undefined): string =>
    other
      ? `<a rel="${rel}" href="/docs/${other.name}"><small>${words}</small>${escape(other.title)}</a>`
      : ''
  return `<nav class="around" aria-label="Pages before and after">${link('prev', 'Previous', documents[at - 1])}${link('next', 'Next', documents[at + 1])}</nav>`
}

const renderParts = (parts: Document['parts']): string =>
  `<nav class="parts" aria-labelledby="parts"><p id="parts">On this page</p><ul>${parts
    .map(({ id, title }) => `<li><a href="#${id}">${escape(title)}</a></li>`)
    .join('')}</ul></nav>`

interface PageParts {
  name: string
  title: string
  description: string
  styles: string[]
  scripts: string[]
  head?: string
  content: string
}

const renderPage = (frame: Frame, parts: PageParts): string => {
  const { name, title, description, styles, scripts, head = '', content } = parts
  const address = (asset: string): string => {
    const found = frame.addresses[asset]
    if (found === undefined) throw new Error(`there is no asset ${asset}`)
    return found
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Kiln</title>
<meta name="description" content="${escape(description)}">
<meta property="og:title" content="${escape(title)}">
<meta property="og:description" content="${escape(description)}">
<meta property="og:image" content="${address('preview.jpg')}">
<meta property="og:site_name" content="Kiln">
<meta name="twitter:card" content="summary_large_image">
<link rel="icon" href="${address('icon.svg')}">
${styles.map((style) => `<link rel="stylesheet" href="${address(style)}">`).join('\n')}
<script src="${address('theme.js')}"></script>
${[...scripts, 'search.js'].map((script) => `<script src="${address(script)}" defer></script>`).join('\n')}
${head}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${renderHeader(frame, address)}
<nav id="pages" aria-label="Documentation">${renderMenu(frame, name)}</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`
}

/** The header of the console, as far as it needs no session. */
const renderHeader = ({ version }: Frame, address: (asset: string) => string): string =>
  `<header>
<a class="brand" href="/console/" aria-label="Kiln, home"><img src="${address('icon.svg')}" alt="" width="24" height="24">Kiln</a>
<nav class="site" aria-label="Pages"><a href="/console/try">Try</a><a href="/console/tasks">Tasks</a><a href="/console/registry">Registry</a><a href="/console/workflows">Workflows</a><a href="/console/publishers">Publishers</a><a href="/docs/overview" aria-current="true">Docs</a></nav>
<form role="search" data-index="${address('search.json')}"><input type="search" aria-label="Search the docs" placeholder="Search the docs" autocomplete="off" spellcheck="false"><div id="found" hidden><p role="status"></p><ul aria-label="Results"></ul></div></form>
<span class="version" title="Version">${escape(version)}</span>
<select id="theme" aria-label="Theme" hidden><option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select>
<button id="menu" type="button" aria-expanded="false" aria-controls="pages">Menu</button>
</header>`

const renderMenu = ({ documents }: Frame, current: string): string => {
  const groups = [...new Set(documents.map(({ group }) => group))]
  const entry = (name: string, href: string, title: string): string =>
    `<li><a href="${href}"${name === current ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`
  return groups
    .map((group) => {
      const own = documents.filter((document) => document.group === group)
      const entries = own.map(({ name, title }) => entry(name, `/docs/${name}`, title))
      if (group === 'Reference') {
        // reference.js lists the routes there.
        const routes = current === 'index' ? '<li id="routes" hidden></li>' : ''
        entries.unshift(entry('index', '/docs', 'API reference') + routes)
      }
      return `<h2>${escape(group)}</h2><ul>${entries.join('')}</ul>`
    })
    .join('')
}
