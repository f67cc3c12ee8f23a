/** Form of the text of an image member. `rest` is the beginning of the Base64 that is already known. */
export type ImageForm =
  | { form: 'url' }
  | { form: 'base64'; rest: string }
  | { form: 'rejected'; reason: string }

// Registered media types and schemes are far shorter.
const LONGEST_SCHEME = 64
const LONGEST_DATA_HEADER = 1024

/**
 * Distinguishes the three forms of an image input by the beginning of its text: a data URI (its type is ignored), a URL
 * (any other scheme), or Base64.
 *
 * @returns undefined while the beginning is too short to decide; never when `complete`.
 */
export const findImageForm = (head: string, complete: boolean): ImageForm | undefined => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(head.slice(0, LONGEST_SCHEME))?.[0]
  if (scheme === undefined) {
    const undecided = /^[a-z][a-z0-9+.-]*$/i.test(head) && head.length < LONGEST_SCHEME
    return undecided && !complete ? undefined : { form: 'base64', rest: head }
  }
  return scheme.toLowerCase() === 'data:' ? findDataForm(head, complete) : { form: 'url' }
}

const findDataForm = (head: string, complete: boolean): ImageForm | undefined => {
  const comma = head.slice(0, LONGEST_DATA_HEADER).indexOf(',')
  if (comma === -1) {
    if (!complete && head.length < LONGEST_DATA_HEADER) return undefined
    return { form: 'rejected', reason: 'the data URI has no comma after its type' }
  }
  if (!/;\s*base64\s*$/i.test(head.slice(0, comma))) {
    return { form: 'rejected', reason: 'the data URI does not say ";base64"' }
  }
  return { form: 'base64', rest: head.slice(comma + 1) }
}
