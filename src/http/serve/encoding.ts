const REJECTED = /;\s*q=0(\.0*)?\s*$/

/** Lists the encodings that a client takes, by its Accept-Encoding. */
export const acceptedEncodings = (header = ''): string[] =>
  header
    .split(',')
    .filter((item) => !REJECTED.test(item))
    .map((item) => item.split(';')[0]?.trim() ?? '')
