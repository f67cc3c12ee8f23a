import escape from 'escape-html'

import type { ListedAccount } from '../../db/account.ts'
import type { ListedPasskey } from '../../db/passkey.ts'
import type { ListedSession } from '../../db/session.ts'
import { counted } from '../../../platform/domain/counted.ts'

/** Path of the page of one sign-in; its id follows. */
export const SIGN_IN_PATH = '/auth/sign-in/'

/** No script or style but our own files, no other origin, no frame around it, and forms that stay here. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** Makes a page; `body` is markup, `title` text. */
export const renderPage = (title: string, body: string, isWide = false): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Kiln</title>
<link rel="stylesheet" href="/auth/assets/style.css">
<script src="/auth/assets/webauthn.js" defer></script>
<script src="/auth/assets/passkey.js" defer></script>
</head>
<body><main${isWide ? ' class="wide"' : ''}>
<h1>${escape(title)}</h1>
${body}
</main></body>
</html>
`

/** A line that says what is wrong; nothing without one. */
const note = (issue: string | undefined): string =>
  issue === undefined ? '' : `<p class="issue" role="alert">${escape(issue)}</p>`

const TO_CONSOLE = '<p><a href="/console/">To the console</a></p>'

export const messagePage = (title: string, text: string): string =>
  renderPage(title, `<p>${escape(text)}</p>${TO_CONSOLE}`)

export const signInPage = ({ email = '', issue }: { email?: string; issue?: string }): string =>
  renderPage(
    'Sign in',
    `${note(issue)}
<form method="post">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="320" required value="${escape(email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
<button>Sign in</button>
</form>
${passkeyButton('use', 'Use a passkey')}`,
  )

const passkeyButton = (does: 'use' | 'add', label: string): string =>
  `<button hidden class="plain" data-passkey="${does}">${label}</button>
<p class="issue" role="alert" data-issue hidden></p>`

const NEW_PASSWORD = `<label for="new">New password</label>
<input id="new" name="new" type="password" autocomplete="new-password" minlength="12" maxlength="256" required>
<p class="help">At least 12 characters. Four words that do not belong together are good.</p>
<button>Set password</button>`

export const linkPage = ({ email, issue }: { email: string; issue?: string }): string =>
  renderPage(
    'Set a password',
    `${note(issue)}
<p>For <b>${escape(email)}</b>.</p>
<form method="post">
<input name="email" type="email" autocomplete="username" value="${escape(email)}" readonly hidden>
${NEW_PASSWORD}
</form>`,
  )

/** Markup that is its own cell of a table. */
const row = (cells: string[]): string =>
  `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

/** A form of one button that sends the id of its row, and of what else is in its markup. */
const act = (path: string, id: string, label: string, more = ''): string =>
  `<form method="post" action="/auth/${path}"><input type="hidden" name="id" value="${escape(id)}"><button>${label}</button>${more}</form>`

const checkbox = (name: string, label: string): string =>
  `<label><input type="checkbox" name="${name}" value="yes">${label}</label>`

const day = (time: string | null): string => (time === null ? 'never' : time.slice(0, 10))

interface AccountView {
  email: string
  isAdmin: boolean
  hasPassword: boolean
  sessions: ListedSession[]
  /** Id of the session that asks. */
  own: string
  passkeys: ListedPasskey[]
  issue?: string | undefined
}

export const accountPage = (of: AccountView): string =>
  renderPage(
    'Sign-in and sessions',
    `${note(of.issue)}
<p>${escape(of.email)}${of.isAdmin ? ' · <a href="/auth/people">People</a>' : ''} · <a href="/console/">Console</a></p>
<h2>Sessions</h2>
<table>${of.sessions
      .map(({ id, userAgent, created_at: start }) =>
        row([
          escape(userAgent ?? 'unknown browser'),
          `since ${day(start)}`,
          id === of.own ? 'this one' : act('account/session', id, 'End'),
        ]),
      )
      .join('')}</table>
${act('account/sessions', '', 'End all others')}
<h2>Passkeys</h2>
<table>${of.passkeys
      .map(({ id, created_at: start, used_at: used }) =>
        row([`added ${day(start)}`, `used ${day(used)}`, act('account/passkeys', id, 'Remove')]),
      )
      .join('')}</table>
${passkeyButton('add', 'Add a passkey')}
<h2>Password</h2>
<form method="post" action="/auth/account/password">
${of.hasPassword ? CURRENT_PASSWORD : ''}
${NEW_PASSWORD}
</form>
<p class="help">All other sessions end. API keys and tokens go on until you end them at the console.</p>`,
    true,
  )

const CURRENT_PASSWORD = `<label for="password">Current password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>`

export const peoplePage = ({
  accounts,
  issue,
  link,
  keys = '',
}: {
  accounts: ListedAccount[]
  issue?: string
  /** Shown this once. */
  link?: string
  /** Sentence about the API keys of the account that the link is for. */
  keys?: string
}): string =>
  renderPage(
    'People',
    `${note(issue)}
${link === undefined ? '' : `<p>Send this link, which sets a password once, within three days:</p><p><code>${escape(link)}</code></p><p>${keys}</p>`}
<table>${accounts
      .map(({ id, email, isAdmin, disabled, hasPassword, passkeys, sessions }) =>
        row([
          escape(email),
          isAdmin ? 'admin' : 'user',
          disabled
            ? 'disabled'
            : hasPassword || passkeys > 0
              ? counted(sessions, 'session')
              : 'invited',
          act('people/end', id, 'End sessions'),
          act('people/reset', id, 'Reset', checkbox('keys', 'and end its API keys and tokens')),
          isAdmin
            ? act('people/demote', id, 'Make a user')
            : act('people/promote', id, 'Make an admin'),
          disabled ? '' : act('people/disable', id, 'Disable'),
        ]),
      )
      .join('')}</table>
<h2>Invite</h2>
<form method="post" action="/auth/people/invite">
<label for="email">Email</label>
<input id="email" name="email" type="email" maxlength="320" required>
${checkbox('admin', 'Platform admin')}
<button>Make an invitation link</button>
</form>
<p><a href="/auth/account">Sign-in and sessions</a></p>`,
    true,
  )
