import { ENGINE_OPTIONS, splitOptions } from './item-options.ts'

/** An item of VENDOR_IMAGE_URL or VENDOR_VIDEO_URL. */
export interface UpstreamItem {
  /** The only kind that is sent there; absent: all kinds that have no upstream of their own. */
  kind?: string
  url: string
  /** Stands there for the prefix of the routes of this service. */
  prefix?: string
  /** Times that a task which it has forgotten is sent to it again. */
  resubmit: number
  /** Callers may read what it says of an attempt that fails. */
  showsErrors: boolean
}

const OPTIONS = {
  ...ENGINE_OPTIONS,
  prefix: /^(\/[\w.~-]+)*$/,
  resubmit: /^(\d|10)$/,
}

const EXPECTED =
  'must be an http or https URL, also of one kind such as upscale=https://upstream.example, with resubmit from 0 to 10, a prefix such as /v1/ai, or errors=shown behind it as in https://upstream.example|resubmit=2'

/** Reads an item, or says in the second half of a sentence what it must be. */
export const readUpstreamItem = (
  text: string,
  kinds: readonly string[],
): { item: UpstreamItem; issue?: never } | { item?: never; issue: string } => {
  const { kind, rest } = splitKind(text, kinds)
  const { address = '', options } = splitOptions(rest, OPTIONS) ?? {}
  if (!options || !isAddress(address)) return { issue: `${EXPECTED}, got ${text}` }
  const item = {
    ...(kind !== undefined && { kind }),
    url: address,
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    resubmit: Number(options.resubmit ?? 0),
    showsErrors: options.errors === 'shown',
  }
  return { item }
}

/** Parts an item of a list at the name of a kind, such as `upscale=…`. */
export const splitKind = (text: string, kinds: readonly string[]) => {
  const kind = kinds.find((one) => text.startsWith(`${one}=`))
  return { kind, rest: kind === undefined ? text : text.slice(kind.length + 1) }
}

const isAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}
