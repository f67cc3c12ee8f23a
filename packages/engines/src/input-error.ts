/** Codes of errors of an input, which no retry can mend. */
export type InputErrorCode =
  /** Not a picture that is decoded here, or a damaged one. */
  | 'image_invalid'
  /** A picture, or the result asked for, has too many pixels. */
  | 'pixel_limit'
  | 'video_invalid'
  /** No ffmpeg here may read a video that came from anywhere. */
  | 'no_decoder'

/** An input that cannot be worked on. Whoever sent it may see the sentence: it holds no path and no stack. */
export class InputError extends Error {
  override name = 'InputError'
  readonly code: InputErrorCode
  /** Undefined where there is no more to say than the code does. */
  readonly sentence: string | undefined

  constructor(code: InputErrorCode, sentence?: string, options?: ErrorOptions) {
    super(sentence ?? code, options)
    this.code = code
    this.sentence = sentence
  }
}
