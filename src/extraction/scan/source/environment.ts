import { HOLE } from './text.ts'

/** Folders that variables of the environment stand for, as far as rules name them. */
export const environmentFolder = (variable: string): string =>
  FOLDERS.get(variable.toUpperCase()) ?? HOLE

const FOLDERS = new Map([
  ['HOME', '~'],
  ['USERPROFILE', '~'],
  ['APPDATA', '~/AppData/Roaming'],
  ['LOCALAPPDATA', '~/AppData/Local'],
])
