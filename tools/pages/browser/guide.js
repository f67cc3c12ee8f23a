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
