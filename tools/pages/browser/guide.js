// Code names the service that the reader looks at, and can be copied.
const EXAMPLE = 'http://127.0.0.1:8080'
for (const block of document.querySelectorAll('pre')) {
  const code = block.firstElementChild
  code.textContent = code.textContent.replaceAll(EXAMPLE, location.origin)
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
