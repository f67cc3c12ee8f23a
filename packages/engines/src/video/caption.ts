import { createRequire } from 'node:module'
import escape from 'escape-html'
import sharp from 'sharp'
import type { Size } from '../size.ts'
import type { Picture } from './picture.ts'

const LINES = 2
const LINE_LENGTH = 40
const FAMILY = 'DejaVu Sans Condensed'
/** Below this many pixels letters are not readable, and none are drawn. */
const LEAST_SIZE = 9

/**
 * Draws a prompt as a caption, white with a soft shadow; undefined when the frame is too small for letters or nothing of
 * the text can be drawn. The font that ships with the project has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and
 * Arabic letters; characters of other scripts are left out rather than shown as boxes.
 */
export const drawCaption = async (prompt: string, frame: Size): Promise<Picture | undefined> => {
  const unit = Math.min(frame.width, frame.height)
  const size = Math.round(unit * 0.027)
  const lines = breakLines(keepDrawable(prompt))
  if (size < LEAST_SIZE || lines.length === 0) return undefined
  const letters = await drawLetters(lines.join('\n'), size, Math.floor(frame.width * 0.9))
  return addShadow(letters, size)
}

const DRAWABLE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{M}\p{Nd}\p{P}\p{Sc}\p{Sm}]/gu
/** Full-width forms and ideographic marks, which the classes above include. */
const WIDE = /[\u3000-\uffff]|[\u{10000}-\u{10ffff}]/gu

const keepDrawable = (text: string): string =>
  text.normalize('NFC').replace(DRAWABLE, ' ').replace(WIDE, ' ').replace(/ +/g, ' ').trim()

/** Breaks at blanks, a longer word in its middle; an ellipsis stands for what does not fit. */
export const breakLines = (text: string): string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap(cutWord)) {
    const longer = line === '' ? word : `${line} ${word}`
    if ([...longer].length <= LINE_LENGTH) {
      line = longer
      continue
    }
    lines.push(line)
    line = word
  }
  if (line !== '') lines.push(line)
  if (lines.length <= LINES) return lines
  const last = [...(lines[LINES - 1] ?? '')].slice(0, LINE_LENGTH - 1).join('')
  return [...lines.slice(0, LINES - 1), `${last.trimEnd()}…`]
}

const cutWord = (word: string): string[] => {
  const characters = [...word]
  const parts = Math.ceil(characters.length / LINE_LENGTH)
  return Array.from({ length: parts }, (_, i) =>
    characters.slice(i * LINE_LENGTH, (i + 1) * LINE_LENGTH).join(''),
  )
}

/** One channel: how much of a pixel the letters cover. */
const drawLetters = async (text: string, size: number, most: number): Promise<Coverage> => {
  const image = sharp({
    text: {
      text: `<span>${escape(text)}</span>`,
      font: `${FAMILY} ${size}`,
      fontfile: createRequire(import.meta.url).resolve(
        'dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf',
      ),
      // At 72 dots an inch a point is a pixel.
      dpi: 72,
      rgba: true,
      spacing: Math.round(size * 0.25),
    },
  })
  // A line of wide letters in an upright frame.
  const png = await image.png().toBuffer()
  const { data, info } = await sharp(png)
    .resize({ width: most, withoutEnlargement: true })
    .extractChannel(3)
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

interface Coverage {
  data: Buffer
  width: number
  height: number
}

const addShadow = async (letters: Coverage, size: number): Promise<Picture> => {
  const border = Math.ceil(size * 0.6)
  const raw = { width: letters.width, height: letters.height, channels: 1 as const }
  const wide = sharp(letters.data, { raw }).extend({
    top: border,
    bottom: border,
    left: border,
    right: border,
    background: '#000',
  })
  const { data: sharpText, info } = await wide
    .clone()
    .extractChannel(0)
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const soft = await sharp(sharpText, { raw: { width, height, channels: 1 } })
    .blur(size * 0.16)
    .extractChannel(0)
    .raw()
    .toBuffer()
  const data = Buffer.alloc(width * height * 4)
  for (let i = 0; i < width * height; i++) {
    const cover = ((sharpText[i] ?? 0) / 255) * 0.94
    const shadow = Math.min(1, ((soft[i] ?? 0) / 255) * 1.5) * 0.55
    const alpha = cover + shadow * (1 - cover)
    // White over black, without the alpha multiplied in.
    data.fill(alpha === 0 ? 0 : Math.round((255 * cover) / alpha), i * 4, i * 4 + 3)
    data[i * 4 + 3] = Math.round(255 * alpha)
  }
  return { data, width, height, channels: 4 }
}
