import { createPrivateKey, X509Certificate } from 'node:crypto'

/** Returns the text of a certificate or key. Throws an Error whose message follows the name of the setting. */
export const readPem = (what: 'certificate' | 'private key', read: () => string): string => {
  try {
    const text = read()
    void (what === 'private key' ? createPrivateKey(text) : new X509Certificate(text))
    return text
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const isFile = code.startsWith('E') && !code.startsWith('ERR_')
    throw new Error(isFile ? `cannot be read: ${message}` : `must be a ${what} in PEM`, {
      cause: error,
    })
  }
}

/** True when the private key belongs to the certificate. */
export const isPair = (certificate: string, key: string): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
