import type { Random } from '../search/random.ts'
import { capitalise, drawWords } from '../search/words.ts'

/** `load_rate`, as functions and variables are called. */
export const snake = (random: Random, words = 2): string => drawWords(random, words).join('_')

/** `LoadRate`, as classes are called. */
export const camel = (random: Random): string => drawWords(random, 2).map(capitalise).join('')

export const sentence = (random: Random, words: number): string =>
  `${capitalise(drawWords(random, words).join(' '))}.`

/** So many texts, joined by line breaks. */
export const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('\n')
