import MarkdownIt, { type Token } from 'markdown-it'
import { createElement as make, Fragment, type ReactNode } from 'react'

import { httpsLink } from '../api/links.ts'

/** Parser that leaves HTML a text. Elements are made of its tokens, so no text of a stranger is ever read as HTML. */
const parser = new MarkdownIt({ html: false, linkify: true })

/** Draws a stranger's Markdown: https links alone, and pictures as their words, because each would show its host who reads. */
export const drawMarkdown = (text: string): ReactNode => draw(parser.parse(text, {}))

/** Elements that tokens may become. Headings begin a step lower, below that of the page. */
const ELEMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'p ul ol li blockquote table thead tbody tr th td em strong s'
      .split(' ')
      .map((tag) => [tag, tag]),
  ),
  h1: 'h2',
  h2: 'h3',
  h3: 'h4',
  h4: 'h5',
  h5: 'h6',
  h6: 'h6',
}

interface Open {
  token: Token | undefined
  children: ReactNode[]
}

const draw = (tokens: readonly Token[]): ReactNode => {
  const root: Open = { token: undefined, children: [] }
  const open = [root]
  for (const [key, token] of tokens.entries()) {
    if (token.nesting === 1) {
      open.push({ token, children: [] })
      continue
    }
    const closed = token.nesting === -1 ? open.pop() : undefined
    const drawn = closed?.token ? drawPair(closed.token, closed.children, key) : drawOne(token, key)
    open.at(-1)?.children.push(drawn)
  }
  return make(Fragment, null, ...root.children)
}

const drawPair = (token: Token, children: ReactNode[], key: number): ReactNode => {
  if (token.type === 'link_open') {
    const url = httpsLink(String(token.attrGet('href') ?? ''))
    const rel = 'noopener noreferrer nofollow ugc'
    return url
      ? make('a', { key, href: url.href, target: '_blank', rel }, ...children)
      : make(Fragment, { key }, ...children)
  }
  const element = token.hidden ? Fragment : (ELEMENTS[token.tag] ?? 'div')
  return make(element, { key }, ...children)
}

const drawOne = (token: Token, key: number): ReactNode => {
  switch (token.type) {
    case 'inline':
      return make(Fragment, { key }, draw(token.children ?? []))
    case 'code_inline':
      return make('code', { key }, token.content)
    case 'fence':
    case 'code_block':
      return make('pre', { key, tabIndex: 0 }, make('code', null, token.content))
    case 'image':
      return make('em', { key }, token.content)
    case 'hr':
      return make('hr', { key })
    case 'hardbreak':
      return make('br', { key })
    case 'softbreak':
      return '\n'
    default:
      return token.content
  }
}
