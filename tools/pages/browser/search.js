// Search in the pages, their headings, and the errors, settings and routes that they list, by an index that the build has made.
{
  const form = document.querySelector('header form')
  const field = form.querySelector('input')
  const found = document.getElementById('found')
  const [status] = found.getElementsByTagName('p')
  const [list] = found.getElementsByTagName('ul')
  const SHOWN = 12

  let loading
  const load = () => (loading ??= fetch(form.dataset.index).then(read))
  const read = async (response) => {
    const { pages, entries } = await response.json()
    const whole = pages.map(([name, title, text]) => ({ href: `/docs/${name}`, title, text }))
    const parts = entries.map(([page, id, title, text]) => {
      const [name, of] = pages[page]
      return { href: `/docs/${name}#${id}`, title, of, text }
    })
    return [...whole, ...parts]
  }

  /** The better, the higher; 0 where a word is nowhere. */
  const rank = (words, { title, of = '', text }) => {
    const name = title.toLowerCase()
    const rest = `${of} ${text}`.toLowerCase().split(/\W+/)
    const scores = words.map((word) => {
      if (name === word) return 100
      if (name.startsWith(word)) return 40
      if (name.split(/\W+/).some((part) => part.startsWith(word))) return 20
      if (name.includes(word)) return 10
      return rest.some((part) => part.startsWith(word)) ? 1 : 0
    })
    if (scores.includes(0)) return 0
    const all = name === words.join(' ') ? 100 : name.startsWith(words.join(' ')) ? 40 : 0
    // Of two that match as well the page counts more than its part.
    return all + scores.reduce((sum, score) => sum + score, 0) + (of === '' ? 5 : 0)
  }

  const make = (name, text) => Object.assign(document.createElement(name), { textContent: text })

  const showOne = ({ href, title, of, text }) => {
    const link = make('a', title)
    link.href = href
    link.append(make('small', [of, text].filter(Boolean).join(' · ')))
    const item = document.createElement('li')
    item.append(link)
    return item
  }

  const search = async () => {
    const text = field.value.trim()
    if (text === '') return close()
    const all = await load()
    // Somebody has typed on meanwhile.
    if (field.value.trim() !== text) return
    const words = text.toLowerCase().split(/\s+/)
    const ranked = all
      .map((entry) => ({ ...entry, score: rank(words, entry) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
    const packs = {
      href: `/console/registry?q=${encodeURIComponent(text)}`,
      title: `Search packs for “${text}”`,
      text: 'In the registry',
    }
    list.replaceChildren(...[...ranked.slice(0, SHOWN), packs].map(showOne))
    const count = ranked.length
    status.textContent =
      count === 0 ? 'Nothing found in the docs' : `${count} result${count === 1 ? '' : 's'}`
    found.hidden = false
  }

  const close = () => {
    found.hidden = true
  }

  const links = () => [...list.querySelectorAll('a')]

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    await search()
    links()[0]?.click()
  })
  field.addEventListener('focus', () => void load())
  field.addEventListener('input', () => void search())
  form.addEventListener('keydown', (event) => {
    const places = [field, ...(found.hidden ? [] : links())]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      places[places.indexOf(document.activeElement) + step]?.focus()
    }
    if (event.key === 'Escape') {
      field.focus()
      close()
    }
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close()
  })
  // A place of this page is shown without a load.
  list.addEventListener('click', close)
  document.addEventListener('keydown', (event) => {
    const { target } = event
    if (event.key !== '/' || target.matches('input, textarea, select, [contenteditable]')) return
    event.preventDefault()
    field.focus()
  })
}
