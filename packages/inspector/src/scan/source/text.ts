/** Stands for the unknown part of a text. NUL can be in no path, address or command. */
export const HOLE = '\0'

/** Bytes as a text with a character for each; escapes like `\x7f` stay one to one. */
export const bytesText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Longest text that is put together; what rules look for is far shorter. */
export const MAX_TEXT = 16_384

/** Most texts that one value may be. */
export const MAX_TEXTS = 32

/** Every text of `left` before every one of `right`, as far as there is room. */
export const concatenate = (left: string[], right: string[]): string[] => {
  const made: string[] = []
  for (const start of left)
    for (const end of right)
      if (made.length < MAX_TEXTS) made.push((start + end).slice(0, MAX_TEXT))
  return made
}

export const isWhole = (text: string): boolean => !text.includes(HOLE)

/** The last segment of a path, in lower case. */
export const fileName = (path: string): string => path.split(/[\\/]/).at(-1)?.toLowerCase() ?? ''

/** Folders that variables of the environment stand for, as far as rules name them. */
export const environmentFolder = (variable: string): string =>
  FOLDERS.get(variable.toUpperCase()) ?? HOLE

const FOLDERS = new Map([
  ['HOME', '~'],
  ['USERPROFILE', '~'],
  ['APPDATA', '~/AppData/Roaming'],
  ['LOCALAPPDATA', '~/AppData/Local'],
])
