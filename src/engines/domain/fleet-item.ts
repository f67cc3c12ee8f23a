import { ENGINE_OPTIONS, splitOptions } from './item-options.ts'

interface Options {
  /** Most prompts of ours there; absent: COMFYUI_DEPTH. */
  depth?: number
  /** Callers may read what it says of an attempt that fails. */
  showsErrors?: boolean
}

/** An instance of ComfyUI, as an operator or a source names it. */
export interface NamedInstance extends Options {
  name: string
  url: string
}

/** An item of COMFYUI_URLS: an instance, or a source of them that is read again and again. */
export type FleetItem =
  | (NamedInstance & { kind: 'instance' })
  /** Each of its addresses is an instance. */
  | ({ kind: 'dns'; host: string; port: number } & Options)
  /** Each of its lines is an instance. */
  | ({ kind: 'file'; path: string } & Options)

export const MAX_DEPTH = 100

const INSTANCE = 'a name with an address such as gpu1=http://10.0.0.5:8188'

/** Reads an item, or says in the second half of a sentence what it must be. */
export const readFleetItem = (
  text: string,
): { item: FleetItem; issue?: never } | { item?: never; issue: string } => {
  const { address = '', options } = splitOptions(text, OPTIONS) ?? {}
  if (!options)
    return {
      issue: `must be an address, or one with a depth from 1 to ${MAX_DEPTH} such as gpu1=http://10.0.0.5:8188|depth=1, or with errors=shown, got ${text}`,
    }
  const { depth, errors } = options
  const item = readAddress(address)
  if (!item)
    return {
      issue: `must be ${INSTANCE}, dns:comfyui.internal:8188 or file:/etc/kiln/instances, got ${text}`,
    }
  return {
    item: {
      ...item,
      ...(depth !== undefined && { depth: Number(depth) }),
      ...(errors !== undefined && { showsErrors: errors === 'shown' }),
    },
  }
}

/** Depth from 1 to MAX_DEPTH. */
export const DEPTH = /^([1-9]\d?|100)$/
const OPTIONS = { ...ENGINE_OPTIONS, depth: DEPTH }

/** An instance is called where it is; anything behind its port would be left out, or sent with every file. */
const readAddress = (text: string): FleetItem | undefined => {
  const [, host, port] = /^dns:([\w.-]{1,253}):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined)
    return Number(port) >= 1 && Number(port) <= 65_535
      ? { kind: 'dns', host, port: Number(port) }
      : undefined
  const [, path] = /^file:(\/.+)$/.exec(text) ?? []
  if (path !== undefined) return { kind: 'file', path }
  const [, name = '', url = ''] = /^([\w.-]{1,64})=(https?:\/\/[^/?#@\s]+\/?)$/.exec(text) ?? []
  return URL.canParse(url) ? { kind: 'instance', name, url } : undefined
}

/**
 * Reads the file of a source: an instance a line as in COMFYUI_URLS, beside empty lines and comments after `#`.
 * @throws Error that names the first line that is none
 */
export const readInstanceFile = (text: string): NamedInstance[] =>
  text.split('\n').flatMap((line, index) => {
    const given = line.replace(/(^|\s)#.*/, '').trim()
    if (given === '') return []
    const { item, issue } = readFleetItem(given)
    if (item?.kind === 'instance') return [item]
    throw new Error(`line ${index + 1} ${issue ?? `must be ${INSTANCE}, got ${given}`}`)
  })
