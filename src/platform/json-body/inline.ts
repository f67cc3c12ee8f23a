import type { ProbedImage } from '../../../packages/engines/src/image-probe.ts'

/** An image that came as Base64 inside a body, decoded into a file. */
export interface InlineImage {
  /** Its place in the body, as a JSON Pointer. */
  pointer: string
  /** The decoded file. With an issue it may be cut or absent. */
  path: string
  /** Decoded length. */
  bytes: number
  /** SHA-256 of the decoded bytes, hexadecimal: equal for one image in any spelling of Base64. */
  sha256: string
  /** Format and size from its header; absent exactly when there is an issue. */
  image?: ProbedImage
  /** Why the image cannot be used. The message begins with the pointer, ready for `details`. */
  issue?: ImageIssue
}

export interface ImageIssue {
  code: 'image_invalid' | 'pixel_limit'
  message: string
}

// A symbol, because no JSON text can make one: `{"image": {"inline": 0}}` sent by a caller is no marker.
const INDEX = Symbol('index of an inline image')

/** Stands in the value of a body where an inline image stood; the number is its index in `inline`. */
export interface InlineMarker {
  readonly [INDEX]: number
}

export const makeInlineMarker = (index: number): InlineMarker => ({ [INDEX]: index })

export const isInlineMarker = (value: unknown): value is InlineMarker =>
  typeof value === 'object' && value !== null && INDEX in value

/**
 * A copy of a value in which each inline image is replaced: by its storage key for the row, by its SHA-256 for the
 * fingerprint, by a URL for the schema check.
 */
export const replaceInline = (
  value: unknown,
  inline: readonly InlineImage[],
  replace: (image: InlineImage, index: number) => unknown,
): unknown => {
  if (inline.length === 0) return value
  const visit = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    if (isInlineMarker(node)) return replaceMarker(node)
    if (Array.isArray(node)) return node.map(visit)
    return Object.fromEntries(Object.entries(node).map(([key, member]) => [key, visit(member)]))
  }
  const replaceMarker = (marker: InlineMarker): unknown => {
    const index = marker[INDEX]
    const image = inline[index]
    if (image === undefined) throw new Error(`No inline image has the index ${index}.`)
    return replace(image, index)
  }
  return visit(value)
}
