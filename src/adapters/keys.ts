/** Decodes the keys of a setting. Throws, naming the setting and the next step, unless each has 32 bytes. */
export const decodeKeys = (setting: string, keys: string[]): [Buffer, ...Buffer[]] => {
  const [first, ...others] = keys.map((key) => Buffer.from(key, 'base64'))
  if (first === undefined || [first, ...others].some((key) => key.length !== 32))
    throw new Error(
      `${setting} must hold keys of 32 bytes in Base64: make one with \`openssl rand -base64 32\``,
    )
  return [first, ...others]
}
