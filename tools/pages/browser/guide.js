// Code names the service that the reader looks at, and can be copied.
const EXAMPLE = 'http://127.0.0.1:8080'
/** Places of code that read the reader's key, by language. */
const READS_KEY = {
  sh: ['$KILN_API_KEY', (key) => key],
  ts: ['process.env.KILN_API_KEY', (key) => `'${key}'`],
  python: ['os.environ["KILN_API_KEY"]', (key) => `"${key}"`],
}
const fills = []
for (const block of document.querySelectorAll('pre')) {
  const code = block.firstElementChild
  const text = code.textContent.replaceAll(EXAMPLE, location.origin)
  code.textContent = text
  const [place, write] = READS_KEY[block.dataset.language] ?? []
  if (place && text.includes(place))
    fills.push((key) => {
      code.textContent = key === '' ? text : text.replaceAll(place, () => write(key))
    })
  // Nobody pastes what was printed.
  const isCopied = !['json', 'text'].includes(block.dataset.language)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, ...(isCopied ? [button] : []))
}

// A key that the reader types stands in the code of this page, and nowhere else: it is neither kept nor sent.
if (fills.length > 0) {
  const field = document.createElement('div')
  field.className = 'key'
  field.innerHTML = `<label for="key">Your API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="kiln_key_…" aria-describedby="key-use">
<small id="key-use">Fills in the code on this page. It is not stored and not sent. <a href="/console/account?tab=keys">Create one</a></small>`
  field.querySelector('input').addEventListener('input', ({ target }) => {
    const key = target.value.trim()
    // Anything else could end a string of the code.
    const isKey = /^\w+$/.test(key)
    for (const fill of fills) fill(isKey ? key : '')
  })
  const [first] = document.querySelectorAll('article :is(.languages, .code)')
  first.before(field)
}

// Of a step in several languages the one that the reader has chosen, on every page.
const LANGUAGES = { sh: 'curl', ts: 'TypeScript', python: 'Python' }
const groups = [...document.querySelectorAll('.languages')].map((group) => {
  const frames = [...group.children]
  const languages = frames.map((frame) => frame.firstElementChild.dataset.language)
  const choice = document.createElement('div')
  choice.className = 'row'
  choice.role = 'group'
  choice.ariaLabel = 'Language'
  const buttons = languages.map((language) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = LANGUAGES[language]
    button.addEventListener('click', () => {
      const { y } = button.getBoundingClientRect()
      localStorage.setItem('kiln.language', language)
      showLanguage(language)
      // What is shorter or longer above must not move it away.
      scrollBy(0, button.getBoundingClientRect().y - y)
    })
    return button
  })
  choice.append(...buttons)
  group.prepend(choice)
  return { frames, languages, buttons }
})
const showLanguage = (wanted) => {
  for (const { frames, languages, buttons } of groups) {
    const shown = Math.max(0, languages.indexOf(wanted))
    frames.forEach((frame, at) => (frame.hidden = at !== shown))
    buttons.forEach((button, at) => (button.ariaPressed = String(at === shown)))
  }
}
showLanguage(localStorage.getItem('kiln.language'))
