import { apiError, shown, type ApiError } from '../../domain/shared/errors.ts'

export const bodyRequired = (): ApiError =>
  apiError('body_required', 'The body must be a JSON object; none was sent.')

export const notAnObject = (value: unknown): ApiError =>
  apiError('json_invalid', `The body must be a JSON object, not ${shown(value)}.`)

export const endedTooSoon = (pointer: string): ApiError =>
  apiError('json_invalid', `The body ends before its JSON is complete${near(pointer)}.`)

/** From an error of the tokenizer, which says what it expected but not where. */
export const malformed = (cause: unknown, pointer: string): ApiError => {
  const said = cause instanceof Error ? cause.message : ''
  const expected = said.replace(/^Parser (cannot parse input: |has )/, '')
  const what = TOKENIZER_TERMS.get(expected) ?? expected
  return apiError('json_invalid', `The body is not well-formed JSON${near(pointer)}: ${what}.`, {
    cause,
  })
}

// Its term for anything in a string that does not match.
const TOKENIZER_TERMS = new Map([
  ['escaped characters', 'a string holds a raw control character or an unknown escape'],
])

/** The place is known to about 16 KiB: that of the last value understood before the slice with the error. */
const near = (pointer: string): string => (pointer === '' ? '' : ` (after ${shown(pointer)})`)
