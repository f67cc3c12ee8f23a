import type { Random } from '../search/random.ts'
import { drawWord } from '../search/words.ts'

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `load_rate`, as functions and variables are called. */
export const snake = (random: Random, words = 2): string =>
  Array.from({ length: words }, () => drawWord(random)).join('_')

/** `LoadRate`, as classes are called. */
export const camel = (random: Random): string =>
  capital(drawWord(random)) + capital(drawWord(random))

export const sentence = (random: Random, words: number): string =>
  `${capital(Array.from({ length: words }, () => drawWord(random)).join(' '))}.`

/** So many texts, joined by line breaks. */
export const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('\n')
