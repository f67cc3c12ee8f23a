import { CUSTOM_NAME } from '../../../tasks/domain/custom-kind.ts'
import { ENGINE_NAMES } from '../../../tasks/domain/engine.ts'
import { VideoTaskKind } from '../../../tasks/domain/video/video-task.ts'
import { DEPTH, MAX_DEPTH, type NamedInstance } from '../fleet-item.ts'
import { ENGINE_OPTIONS, splitOptions } from '../item-options.ts'
import { TEMPLATE_KINDS } from '../template/fields.ts'

/** An engine that speaks the HTTP API of cog, as ENGINES_HTTP names it. */
export interface EngineItem {
  name: string
  instances: readonly NamedInstance[]
  /** It cannot reach this service: a prediction ends with the response to its own request. */
  isSynchronous: boolean
  /** False: what was sent once is never sent again. */
  resubmits: boolean
}

const FORM =
  'engines with addresses such as enhance=http://10.0.0.7:5000 http://10.0.0.8:5000|depth=2'
const EXPECTED = `depth=1 to depth=${MAX_DEPTH}, held, resubmit=never or errors=shown`
const OPTIONS = { ...ENGINE_OPTIONS, depth: DEPTH, held: /^$/, resubmit: /^never$/ }

const RESERVED: readonly string[] = [
  ...ENGINE_NAMES,
  ...TEMPLATE_KINDS,
  ...VideoTaskKind.enum,
  'http',
]

/** True of a text that may be the name of an engine: it stands in paths and queues, and is a kind of its own. */
export const isEngineName = (name: string): boolean =>
  new RegExp(`^${CUSTOM_NAME}$`).test(name) && !RESERVED.includes(name)

/** Reads an item, or says in the second half of a sentence what it must be. */
export const readEngineItem = (
  text: string,
): { item: EngineItem; issue?: never } | { item?: never; issue: string } => {
  const { address = '', options } = splitOptions(text, OPTIONS) ?? {}
  if (!options) return { issue: `must have options such as ${EXPECTED}, got ${text}` }
  const [, name = '', addresses = ''] = /^([^=]*)=(.*)$/s.exec(address) ?? []
  if (RESERVED.includes(name)) return { issue: `must not name an engine ${name}: that is another` }
  const urls = addresses.split(/\s+/).filter((url) => url !== '')
  if (!isEngineName(name) || urls.length === 0 || !urls.every(isOrigin))
    return { issue: `must be ${FORM}, got ${text}` }
  const each = {
    depth: Number(options.depth ?? 1),
    ...(options.errors !== undefined && { showsErrors: options.errors === 'shown' }),
  }
  // An address is in the name, so that a list in another order names the same instances.
  const instances = urls.map((url) => ({ name: `${name}@${new URL(url).host}`, url, ...each }))
  const isSynchronous = options.held !== undefined
  return {
    item: { name, instances, isSynchronous, resubmits: options.resubmit === undefined },
  }
}

/** An engine is called where it is; anything behind its port would be left out. */
const isOrigin = (url: string): boolean =>
  /^https?:\/\/[^/?#@\s]+\/?$/.test(url) && URL.canParse(url)

/** Lists what is wrong with ENGINES_HTTP, in second halves of sentences. */
export const listEngineIssues = (items: readonly string[]): string[] => {
  const read = items.map(readEngineItem)
  const engines = read.flatMap(({ item }) => item ?? [])
  const names = engines.flatMap(({ name, instances }) => [
    name,
    ...instances.map((instance) => instance.name),
  ])
  return [
    ...read.flatMap(({ issue }) => issue ?? []),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `names ${name} twice`),
  ]
}

/** Reads ENGINES_HTTP_TOKENS, `enhance=token`, by the names of engines; undefined of an item that is none. */
export const readEngineToken = (text: string): [name: string, token: string] | undefined => {
  const [, name = '', token = ''] = /^([^=]*)=([\x21-\x7e]+)$/.exec(text) ?? []
  return isEngineName(name) ? [name, token] : undefined
}
