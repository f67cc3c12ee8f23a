// Before the first paint: the theme that was chosen here or in the console, else that of the reader's system.
{
  // What packages/console/src/shell/settings.ts keeps.
  const KEY = 'kiln.settings'
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? '{}')
    } catch {
      return {}
    }
  }
  const show = () => {
    const { theme = 'system' } = read()
    root.style.colorScheme = theme === 'system' ? '' : theme
    root.classList.toggle('dark-mode', theme === 'system' ? dark.matches : theme === 'dark')
    return theme
  }
  dark.addEventListener('change', show)
  show()
  root.classList.add('scripted')
  addEventListener('DOMContentLoaded', () => {
    const menu = document.getElementById('menu')
    menu.addEventListener('click', () => {
      const open = menu.getAttribute('aria-expanded') !== 'true'
      menu.setAttribute('aria-expanded', String(open))
    })
    const choice = document.getElementById('theme')
    choice.hidden = false
    choice.value = show()
    choice.addEventListener('change', () => {
      localStorage.setItem(KEY, JSON.stringify({ ...read(), theme: choice.value }))
      show()
    })
  })
}
