import { findEmbedded } from './embedded.ts'

/**
 * Reads the JSON that the host has saved, or the workflow in a picture or video that it has made: PNG, JPEG, WebP, MP4, WebM, FLAC.
 * @throws an Error whose message says what is wrong with the file
 */
export const readSavedJson = (bytes: Uint8Array, name: string): unknown => {
  const text = findEmbedded(bytes)
  if (text === null)
    throw new Error(
      `${name} is a picture or video that holds no workflow. Save the workflow from the host as JSON.`,
    )
  // The decoder drops a byte order mark.
  return parse(text ?? new TextDecoder().decode(bytes), name)
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
