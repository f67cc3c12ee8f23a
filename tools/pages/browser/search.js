// Search in the pages, their headings and the words below them, and the errors, settings and routes that they list, by an index that the build has made.
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
    const whole = pages.map(([name, title, text, words]) => ({
      href: `/docs/${name}`,
      title,
      text,
      words,
    }))
    const parts = entries.map(([page, id, title, text, words]) => {
      const [name, of] = pages[page]
      return { href: `/docs/${name}#${id}`, title, of, text, words }
    })
    return [...whole, ...parts]
  }

  const PLAIN = /^(a|an|and|are|can|do|does|for|how|i|in|is|it|much|my|of|on|the|to|what|when|why)$/

  /** Words that a question is about; all where there are no others. */
  const readWords = (text) => {
    const words = text
      .toLowerCase()
      .split(/[\s?]+/)
      .filter(Boolean)
    const rare = words.filter((word) => !PLAIN.test(word))
    return rare.length > 0 ? rare : words
  }

  /** The beginning that a word shares with its other forms: retry, retries and retried. */
  const stem = (word) => (word.length > 4 ? word.replace(/(ies|ied|ing|ed|es|e|s|y)$/, '') : word)

  /** The more words are found, and the better, the higher; 0 where none is. */
  const rank = (words, whole, { title, of = '', text, words: body = '' }) => {
    const name = title.toLowerCase()
    const parts = name.split(/\W+/)
    const rest = `${of} ${text} ${body}`.toLowerCase().split(/\W+/)
    const scores = words.map((word) => {
      if (name === word) return 100
      if (name.startsWith(word)) return 40
      if (parts.some((part) => part.startsWith(stem(word)))) return 20
      if (name.includes(word)) return 10
      return rest.some((part) => part.startsWith(stem(word))) ? 1 : 0
    })
    const count = scores.filter((score) => score > 0).length
    if (count === 0) return 0
    const all = name === whole ? 100 : name.startsWith(whole) ? 40 : 0
    // Of two that match as well the page counts more than its part.
    return 1000 * count + all + scores.reduce((sum, score) => sum + score, of === '' ? 5 : 0)
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
    const words = readWords(text)
    const ranked = all
      .map((entry) => ({ ...entry, score: rank(words, text.toLowerCase(), entry) }))
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

  // Without a result, no key leads away from the docs.
  const links = () => [...list.querySelectorAll('a[href^="/docs"]')]

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
