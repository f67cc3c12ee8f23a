/**
 * Reads the JSON that the host has saved, or the workflow in a PNG that it has made.
 * @throws an Error whose message says what is wrong with the file
 */
export const readSavedJson = (bytes: Uint8Array, name: string): unknown => {
  // The decoder drops a byte order mark.
  const text = isPicture(bytes) ? findInPng(bytes) : new TextDecoder().decode(bytes)
  if (text === undefined)
    throw new Error(
      `${name} is a picture that holds no workflow. Save the workflow from the host as JSON.`,
    )
  return parse(text, name)
}

const parse = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    if (text.trim() === '') throw new Error(`${name} is empty.`)
    if (isCut(text)) throw new Error(`${name} is cut: it ends before its JSON does.`)
    throw new Error(`${name} is no JSON.`)
  }
}

/** Strings, of which the last may have no end. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs

/** True for what begins as JSON and closes fewer brackets than it opens. Each engine words its own errors otherwise. */
const isCut = (text: string): boolean => {
  const bare = text.trim().replaceAll(STRINGS, '')
  const count = (brackets: RegExp): number => bare.match(brackets)?.length ?? 0
  return /^[{[]/.test(bare) && count(/[{[]/g) > count(/[}\]]/g)
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
/** The first bytes of pictures: PNG, JPEG, GIF, WebP (RIFF). */
const PICTURES = [PNG, [0xff, 0xd8, 0xff], [0x47, 0x49, 0x46, 0x38], [0x52, 0x49, 0x46, 0x46]]

const begins = (bytes: Uint8Array, signature: readonly number[]): boolean =>
  signature.every((byte, index) => bytes[index] === byte)

const isPicture = (bytes: Uint8Array): boolean => PICTURES.some((one) => begins(bytes, one))

/** The text of the keyword "workflow", or else "prompt", in the tEXt chunks of a PNG; undefined for other pictures. */
const findInPng = (bytes: Uint8Array): string | undefined => {
  if (!begins(bytes, PNG)) return undefined
  const texts = new Map<string, string>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = PNG.length; at + 8 <= bytes.length; at += view.getUint32(at) + 12) {
    const data = bytes.subarray(at + 8, at + 8 + view.getUint32(at))
    if (new TextDecoder().decode(bytes.subarray(at + 4, at + 8)) !== 'tEXt') continue
    const end = data.indexOf(0)
    const latin = new TextDecoder('latin1')
    texts.set(latin.decode(data.subarray(0, end)), latin.decode(data.subarray(end + 1)))
  }
  return texts.get('workflow') ?? texts.get('prompt')
}
