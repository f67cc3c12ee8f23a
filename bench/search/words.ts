import type { Random } from './random.ts'

/** Words of the made-up language; the first is the most frequent. */
const VOCABULARY = 20_000

const CONSONANTS = 'bdfghklmnprstz'
const VOWELS = 'aeiou'
const SYLLABLES = CONSONANTS.length * VOWELS.length

/**
 * The word of a rank, from 1. The 70 most frequent are never drawn as one syllable: a search of two letters would be a
 * search by prefix. Two syllables up to rank 4,830, three from there on.
 */
export const wordOf = (rank: number): string => {
  let rest = rank + SYLLABLES - 1
  let word = ''
  do {
    const syllable = rest % SYLLABLES
    word = `${CONSONANTS[Math.floor(syllable / 5)]}${VOWELS[syllable % 5]}${word}`
    rest = Math.floor(rest / SYLLABLES)
  } while (rest > 0)
  return word
}

/**
 * Draws a word by the power law of natural texts, each rank as often as its inverse: a rank is a random power of the
 * vocabulary. The first one is 7 % of all, so that it stands in 80 % of texts of 22 words.
 */
export const drawWord = (random: Random): string => wordOf(Math.floor(VOCABULARY ** random.next()))

export const drawWords = (random: Random, count: number): string[] =>
  Array.from({ length: count }, () => drawWord(random))

export const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const sentence = (random: Random, words: number): string =>
  `${capitalise(drawWords(random, words).join(' '))}.`

/** `LoadRate`, as classes are called. */
export const camel = (random: Random, words = 2): string =>
  drawWords(random, words).map(capitalise).join('')

/** `load_rate`, as functions and variables are called. */
export const snake = (random: Random, words = 2): string => drawWords(random, words).join('_')

/** So many texts, joined by line breaks. */
export const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('\n')
