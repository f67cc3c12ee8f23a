import type { Film } from './film.ts'
import type { InputFiles } from './input-file.ts'
import type { PlacedPicture } from './picture.ts'

/**
 * Lays the caption over the film, and the watermark over a second copy. The same steps make the first copy whether
 * there is a second one or not, so it has the same bytes. Returns chains of a filter graph that end in `[clean]` and,
 * with a mark, `[marked]`.
 */
export const finishFilm = async (
  film: Film,
  mark: PlacedPicture | undefined,
  inputs: InputFiles,
): Promise<string[]> => {
  const { caption } = film
  const copies = mark === undefined ? 1 : 2
  const chains = [`${film.graph},split=${copies}[film0]${mark ? '[film1]' : ''}`]
  if (caption) {
    const chain = await inputs.addPicture(caption.picture)
    chains.push(`${chain},split=${copies}[caption0]${mark ? '[caption1]' : ''}`)
    chains.push(overlay('film0', 'caption0', caption, 'clean'))
  } else chains.push('[film0]null[clean]')
  if (mark === undefined) return chains
  if (caption) chains.push(overlay('film1', 'caption1', makeWay(caption, mark), 'captioned'))
  chains.push(`${await inputs.addPicture(mark.picture)}[mark]`)
  return [...chains, overlay(caption ? 'captioned' : 'film1', 'mark', mark, 'marked')]
}

/** Lays a picture over a film; the result is named. */
export const overlay = (
  below: string,
  above: string,
  at: { x: number; y: number },
  name: string,
): string =>
  `[${below}][${above}]overlay=x=${at.x}:y=${at.y}:format=yuv420:eof_action=repeat[${name}]`

/** In the marked copy the caption moves above a mark in its corner. */
const makeWay = (caption: PlacedPicture, mark: PlacedPicture): { x: number; y: number } => {
  const meet =
    mark.x < caption.x + caption.picture.width && mark.y + mark.picture.height > caption.y
  const y = meet ? Math.max(0, mark.y - caption.picture.height) : caption.y
  return { x: caption.x, y }
}
