// The reference page: Swagger UI, the tokens of a development service, and what becomes of a task that was tried.
const origin = location.origin
const byId = (id) => document.getElementById(id)

const start = async () => {
  const host = byId('reference')
  const response = await fetch(host.dataset.spec)
  if (!response.ok) throw new Error(`${host.dataset.spec} responded ${response.status}`)
  const spec = await response.json()
  // The page may be reached by another name than PUBLIC_URL, and sends to its own origin alone.
  spec.servers = [{ url: origin }]
  keepErrorsShort(spec)
  const isDevelopment = spec.paths['/development/tokens'] !== undefined
  if (isDevelopment) nameSample(spec)
  const ui = SwaggerUIBundle({
    spec: { openapi: spec.openapi },
    domNode: host,
    validatorUrl: null,
    deepLinking: true,
    filter: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    requestSnippetsEnabled: false,
    // Its themes are either light or dark; plain text follows the reader's choice.
    syntaxHighlight: false,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [
      SwaggerUIBundle.plugins.DownloadUrl,
      ownParts,
      { fn: { resolveSubtree: makeResolve(spec) } },
    ],
  })
  // As a value: a text would be read as YAML.
  ui.specActions.updateJsonSpec(outline(spec))
  keepMending(host)
  listRoutes(ui, spec)
  if (isDevelopment) await offerTokens(ui)
}

/** The document as far as closed groups show it; what an opened route has comes by `makeResolve`. */
const outline = ({ paths, components: { securitySchemes }, ...rest }) => ({
  ...rest,
  components: { securitySchemes },
  paths: mapValues(paths, (operations) =>
    mapValues(operations, ({ tags, summary, operationId, security }) => ({
      tags,
      summary,
      operationId,
      security,
    })),
  ),
})

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/**
 * Makes what replaces the references in a part of the document. Swagger UI's own reads the whole document first, for each
 * route that is opened: seconds, on a slow machine half a minute.
 */
const makeResolve = (spec) => {
  const walk = (part, outer) => {
    if (Array.isArray(part)) return part.map((one) => walk(one, outer))
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...rest } = part
    // A schema that holds itself stays a reference there.
    if (typeof $ref !== 'string' || outer.includes($ref)) return walkAll(part, outer)
    return { ...walk(find($ref.slice(2).split('/')), [...outer, $ref]), ...walkAll(rest, outer) }
  }
  const walkAll = (part, outer) => mapValues(part, (one) => walk(one, outer))
  const find = (path) => path.reduce((part, name) => part?.[name], spec)
  return async (_known, path) => ({ spec: walk(find(path), []), errors: [] })
}

/** Adds what Swagger UI lacks for screen readers and keyboards: names of fields, and scrolling by keyboard. */
const keepMending = (host) => {
  let planned = false
  const plan = () => {
    if (planned) return
    planned = true
    requestAnimationFrame(() => {
      planned = false
      mend(host)
    })
  }
  new MutationObserver(plan).observe(host, { childList: true, subtree: true })
  plan()
}

const mend = (host) => {
  const label = (selector, textOf) => {
    for (const element of host.querySelectorAll(selector))
      if (!element.ariaLabel && !element.labels?.length) element.ariaLabel = textOf(element)
  }
  label('.close-modal', () => 'Close')
  label('.examples-select-element', () => 'Example')
  label('.body-param textarea', () => 'Request body')
  label('tr[data-param-name] :is(input, select, textarea)', (element) => {
    const { paramName, paramIn } = element.closest('tr').dataset
    return `${paramName} (${paramIn})`
  })
  for (const button of host.querySelectorAll('.auth-btn-wrapper [aria-label]'))
    button.removeAttribute('aria-label')
  for (const block of host.querySelectorAll('pre:not([tabindex])')) block.tabIndex = 0
  for (const inner of host.querySelectorAll('main, [role=main]')) inner.role = 'presentation'
}

/** Lists the routes in the menu by their groups; a link opens its route in the page. */
const listRoutes = (ui, spec) => {
  const groups = {}
  for (const [path, operations] of Object.entries(spec.paths))
    for (const [method, { tags, summary, operationId }] of Object.entries(operations)) {
      const place = ['operations', tags[0], operationId]
      const link = make('a', make('b', method.toUpperCase()), summary)
      link.href = `#/${place.slice(1).map(encodeURIComponent).join('/')}`
      link.title = path
      link.addEventListener('click', (event) => {
        event.preventDefault()
        ui.layoutActions.show(['operations-tag', tags[0]], true)
        ui.layoutActions.show(place, true)
        byId('menu').ariaExpanded = 'false'
        requestAnimationFrame(() => {
          const route = byId(place.join('-').replaceAll(' ', '_'))
          route.scrollIntoView()
          route.querySelector('button').focus({ preventScroll: true })
        })
      })
      ;(groups[tags[0]] ??= []).push(make('li', link))
    }
  const lists = spec.tags.map(({ name }) =>
    make('details', make('summary', name), make('ul', ...(groups[name] ?? []))),
  )
  byId('routes').append(...lists)
  byId('routes').hidden = false
}

const make = (name, ...content) => {
  const element = document.createElement(name)
  element.append(...content)
  return element
}

/** All errors have one shape, which the page of errors shows: here the codes and their meanings are enough. */
const keepErrorsShort = (spec) => {
  for (const operations of Object.values(spec.paths))
    for (const { responses } of Object.values(operations))
      for (const [status, response] of Object.entries(responses))
        if (status >= '400') responses[status] = { description: response.description }
}

/** Examples name a picture of this service, so that the first attempt works as it stands. */
const nameSample = (spec) => {
  for (const operations of Object.values(spec.paths))
    for (const { requestBody } of Object.values(operations)) {
      const media = requestBody?.content?.['application/json']
      if (media?.examples)
        media.examples = JSON.parse(
          JSON.stringify(media.examples).replaceAll(
            'https://images.example.com/portrait.png',
            `${origin}/docs/sample.jpg`,
          ),
        )
    }
}

const offerTokens = async (ui) => {
  const users = await (await fetch('/development/users')).json()
  for (const { user, platform_admin: isAdmin } of users) {
    const button = make('button', `Act as ${user}`)
    button.type = 'button'
    button.ariaPressed = 'false'
    if (isAdmin) button.title = 'A platform admin, who moderates the registry'
    button.addEventListener('click', () => actAs(ui, user, button))
    byId('acting-users').append(button)
  }
  byId('acting').hidden = false
}

const actAs = async (ui, user, button) => {
  const response = await fetch('/development/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user }),
  })
  const { token, expires_at: end, message } = await response.json()
  if (!response.ok) return say(message)
  ui.preauthorizeApiKey('bearer', token)
  for (const one of byId('acting-users').children) one.ariaPressed = String(one === button)
  const time = new Date(end).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  say(`You act as ${user} until ${time}. Each request that needs a credential sends the token.`)
}

const say = (text) => {
  byId('acting-state').textContent = text
}

const ownParts = () => ({
  wrapComponents: {
    // One server, this one; the title and the text of the document stand above.
    ServersContainer: () => () => null,
    InfoContainer: () => () => null,
    // A link in a button is two controls in one.
    DeepLink:
      (_original, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
    responseBody: (Original, system) => (props) => {
      const { React } = system
      return React.createElement(
        'div',
        null,
        React.createElement(Original, props),
        React.createElement(Outcome, { ...props, system }),
      )
    },
  },
})

/** Below a response: its pictures and videos, and a button that follows a task until it has some. */
const Outcome = ({ content, headers, system }) => {
  const { React } = system
  const [state, setState] = React.useState({ links: listFiles(content) })
  const [message, setMessage] = React.useState('')
  const status = headers?.location
  const follow = async () => {
    const end = await followTask(status, system, setMessage)
    setState({ links: listFiles(JSON.stringify(end)) })
  }
  if (!status && state.links.length === 0) return null
  return React.createElement(
    'div',
    { className: 'outcome' },
    status &&
      React.createElement('button', { type: 'button', onClick: follow }, 'Follow this task'),
    React.createElement('p', { role: 'status' }, message),
    state.links.map((link) => React.createElement('p', { key: link }, showFile(React, link))),
  )
}

/** Signed links in a response, as addresses of this origin. */
const listFiles = (content) => {
  const text = typeof content === 'string' ? content : ''
  const links = text.match(/https?:\/\/[^\s"'\\]+\/files\/[^\s"'\\]+/g) ?? []
  const local = links.map((link) => origin + new URL(link).pathname + new URL(link).search)
  return [...new Set(local)]
}

const showFile = (React, link) => {
  const name = new URL(link).pathname.split('/').pop()
  const shown = /\.(png|jpe?g|webp)$/.test(name)
    ? React.createElement('img', { src: link, alt: `Result ${name}` })
    : name.endsWith('.mp4') && React.createElement('video', { src: link, controls: true })
  return React.createElement(
    'a',
    { href: link, target: '_blank', rel: 'noreferrer' },
    shown || null,
    name,
  )
}

const ENDED = ['COMPLETED', 'FAILED', 'success', 'failed']

/** Waits for each change of a task, and resolves once it has ended. */
const followTask = async (status, system, report) => {
  const { pathname } = new URL(status, origin)
  const bearer = system.authSelectors.authorized().getIn(['bearer', 'value'])
  const key = system.authSelectors.authorized().getIn(['apiKey', 'value'])
  const headers = {
    prefer: 'wait=30',
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(key && { 'x-api-key': key }),
  }
  let etag
  for (;;) {
    const response = await fetch(pathname, {
      headers: { ...headers, ...(etag && { 'if-none-match': etag }) },
    })
    if (response.status === 304) continue
    const body = await response.json()
    if (!response.ok) {
      report(body.message)
      return body
    }
    etag = response.headers.get('etag')
    const now = body.data?.status ?? body.state
    report(`The task is ${now}.`)
    if (ENDED.includes(now)) return body
  }
}

start().catch((error) => {
  byId('reference').textContent = `The reference page could not be shown: ${error.message}`
})
