import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import { connect } from 'node:tls'

/**
 * Reads when the certificate of an https address ends, by a connection to its port. Throws when nothing responds there,
 * or the certificate is not trusted.
 */
export const readCertificateEnd = async ({ hostname }: URL, opened: Socket): Promise<Date> => {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    socket: opened,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    timeout: 5000,
  })
  try {
    await once(socket, 'secureConnect')
    return new Date(socket.getPeerCertificate().valid_to)
  } finally {
    socket.destroy()
  }
}
