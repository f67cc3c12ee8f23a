import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import type { Router } from 'express'

/** Serves the style and the two scripts of the pages. */
export const addAssets = async (router: Router): Promise<void> => {
  const entry = createRequire(import.meta.url).resolve('@simplewebauthn/browser')
  const library = await readFile(join(dirname(entry), '../dist/bundle/index.umd.min.js'), 'utf8')
  const assets = [
    ['style.css', 'text/css', STYLE],
    ['webauthn.js', 'text/javascript', library],
    ['passkey.js', 'text/javascript', SCRIPT],
  ] as const
  for (const [name, type, text] of assets)
    router.get(`/assets/${name}`, (_request, response) => {
      response.set('cache-control', 'public, max-age=3600').type(type).send(text)
    })
}

/** Runs a button with `data-passkey`, which says what it does: `use` or `add`. */
const SCRIPT = `'use strict'
const button = document.querySelector('[data-passkey]')
const issue = document.querySelector('[data-issue]')
const library = window.SimpleWebAuthnBrowser
const send = async (path, body) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const read = await response.json()
  if (!response.ok) throw new Error(read.message)
  return read
}
const run = async () => {
  const start = button.dataset.passkey === 'add' ? library.startRegistration : library.startAuthentication
  const path = location.pathname + '/passkey'
  const optionsJSON = await send(path + '/options', {})
  const { location: next } = await send(path, await start({ optionsJSON }))
  location.assign(next)
}
if (button && library.browserSupportsWebAuthn()) {
  button.hidden = false
  button.addEventListener('click', () => {
    issue.hidden = true
    run().catch((error) => {
      issue.textContent = error.message
      issue.hidden = false
    })
  })
}
`

/** The console's colours and sizes. */
const STYLE = `:root{color-scheme:light dark;--bg:light-dark(#fff,#14161a);--raised:light-dark(#faf8f6,#1e1f24);--edge:#7d8694;--text:light-dark(#16191f,#eceef2);--soft:light-dark(#545d6b,#a3abb8);--accent:light-dark(#a8420b,#ff9a5c);--on-accent:light-dark(#fff,#1c0f06);--bad:light-dark(#b3261e,#ff8f87);--info:light-dark(#1f5fae,#8ab8f5)}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:16px/24px Inter,system-ui,sans-serif}
main{max-width:26rem;margin:12vh auto 24px;padding:0 16px}
main.wide{max-width:52rem}
h1{font-size:28px;line-height:34px;margin:0 0 24px}
h2{font-size:20px;line-height:28px;margin:32px 0 8px}
form,label,input{display:block;width:100%}
label{margin:16px 0 4px}
input{padding:8px 12px;border:1px solid var(--edge);border-radius:4px;background:var(--bg);color:inherit;font:inherit}
input[type=checkbox]{display:inline;width:auto;margin-right:8px}
button{width:100%;min-height:44px;margin-top:24px;padding:8px 16px;border:1px solid var(--accent);border-radius:4px;background:var(--accent);color:var(--on-accent);font:inherit;cursor:pointer}
button.plain,td button{background:none;color:inherit;border-color:var(--edge)}
td button{min-height:32px;margin:0;width:auto;padding:2px 12px}
:focus-visible{outline:2px solid var(--info);outline-offset:2px}
[hidden]{display:none}
.issue{color:var(--bad)}
.help{color:var(--soft);font-size:14px;line-height:20px}
a{color:var(--accent)}
table{width:100%;border-collapse:collapse}
td,th{padding:8px 8px 8px 0;text-align:left;border-bottom:1px solid var(--raised);overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
`
