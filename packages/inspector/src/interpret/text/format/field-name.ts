/** `0.name[key]`: what comes first (empty for the next in turn), then attributes and items. */
export interface FieldName {
  first: bigint | string
  rest: ({ attribute: string } | { item: bigint | string })[]
}

const FIRST = /^[^.[]*/
const STEP = /^(?:\.([^.[]+)|\[([^\]]+)\])/

/** Reads the name of a replacement field; undefined for one that Python rejects. */
export const parseFieldName = (text: string): FieldName | undefined => {
  const first = FIRST.exec(text)?.[0] ?? ''
  const rest: FieldName['rest'] = []
  let at = first.length
  while (at < text.length) {
    const match = STEP.exec(text.slice(at))
    if (match === null) return undefined
    const [whole, attribute, item = ''] = match
    rest.push(attribute === undefined ? { item: intOrText(item) } : { attribute })
    at += whole.length
  }
  return { first: intOrText(first), rest }
}

const intOrText = (text: string): bigint | string => (/^\d{1,15}$/.test(text) ? BigInt(text) : text)
