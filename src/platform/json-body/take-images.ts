import { setImmediate as nextTurn } from 'node:timers/promises'

import { fromPointer, toPointer } from '../domain/pointer.ts'
import { makeImageIntake, type ImageLimits } from './images.ts'
import type { JsonBody } from './read-json-body.ts'
import { makeText, makeImageText } from './text.ts'

interface Options extends Omit<ImageLimits, 'maxImages'> {
  /** Members that take an image: JSON Pointers in which the step `*` stands for any. */
  images?: readonly string[]
  maxImages?: number
}

const SLICE = 16 * 1024

/**
 * Decodes the inline images of a value that was read without them, as `readJsonBody` does while it reads. The value is
 * changed. Throws 413 for one that is too large.
 */
export const takeImages = async (
  value: Record<string, unknown>,
  { images: pointers = [], maxImages = 16, ...limits }: Options,
): Promise<Pick<JsonBody, 'value' | 'inline' | 'discard'>> => {
  const images = makeImageIntake({ maxImages, ...limits })

  const take = async (text: string, pointer: string): Promise<unknown> => {
    const sink = makeImageText({
      makeText: () => makeText(() => {}),
      openImage: () => images.open(pointer),
    })
    for (let at = 0; at < text.length; at += SLICE) {
      sink.write(text.slice(at, at + SLICE))
      await images.flush()
      await nextTurn()
    }
    return sink.end()
  }
  const visit = async (node: unknown, pattern: readonly string[], path: string[]) => {
    const [step = '', ...rest] = pattern
    if (typeof node !== 'object' || node === null) return
    const within = node as Record<string, unknown>
    const names = step === '*' ? Object.keys(within) : Object.hasOwn(within, step) ? [step] : []
    for (const name of names) {
      const member = within[name]
      const place = [...path, name]
      if (rest.length > 0) await visit(member, rest, place)
      else if (typeof member === 'string') within[name] = await take(member, toPointer(place))
    }
  }
  try {
    for (const pointer of pointers) await visit(value, fromPointer(pointer), [])
    await images.flush()
    return { value, inline: await images.finish(), discard: images.discard }
  } catch (error) {
    await images.discard()
    throw error
  }
}
