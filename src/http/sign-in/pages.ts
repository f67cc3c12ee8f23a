/** Path of the page of one sign-in; its id follows. */
export const SIGN_IN_PATH = '/auth/sign-in/'

/** No script or style but our own files, no other origin, no frame around it, and forms that stay here. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Makes text that cannot be markup. */
export const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** Makes a page; `body` is markup, `title` text. */
export const renderPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Kiln</title>
<link rel="stylesheet" href="/auth/assets/style.css">
<script src="/auth/assets/webauthn.js" defer></script>
<script src="/auth/assets/passkey.js" defer></script>
</head>
<body><main>
<h1>${escape(title)}</h1>
${body}
</main></body>
</html>
`

/** A line that says what is wrong; nothing without one. */
const note = (issue: string | undefined): string =>
  issue === undefined ? '' : `<p class="issue" role="alert">${escape(issue)}</p>`

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
<button hidden class="plain" data-passkey="use">Use a passkey</button>
<p class="issue" role="alert" data-issue hidden></p>`,
  )

export const linkPage = ({ email, issue }: { email: string; issue?: string }): string =>
  renderPage(
    'Set a password',
    `${note(issue)}
<p>For <b>${escape(email)}</b>.</p>
<form method="post">
<input name="email" type="email" autocomplete="username" value="${escape(email)}" readonly hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="12" maxlength="256" required>
<p class="help">At least 12 characters. Four words that do not belong together are good.</p>
<button>Set password</button>
</form>`,
  )

export const messagePage = (title: string, text: string): string =>
  renderPage(title, `<p>${escape(text)}</p><p><a href="/console/">To the console</a></p>`)

/** The console's colours and sizes. */
export const STYLE = `:root{color-scheme:light dark;--bg:light-dark(#fff,#14161a);--raised:light-dark(#faf8f6,#1e1f24);--edge:#7d8694;--text:light-dark(#16191f,#eceef2);--soft:light-dark(#545d6b,#a3abb8);--accent:light-dark(#a8420b,#ff9a5c);--on-accent:light-dark(#fff,#1c0f06);--bad:light-dark(#b3261e,#ff8f87);--info:light-dark(#1f5fae,#8ab8f5)}
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
