// Before the first paint: which of the two looks the reader's system asks for.
{
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => root.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
  root.classList.add('scripted')
  addEventListener('DOMContentLoaded', () => {
    const menu = document.getElementById('menu')
    menu.addEventListener('click', () => {
      const open = menu.getAttribute('aria-expanded') !== 'true'
      menu.setAttribute('aria-expanded', String(open))
    })
  })
}
