import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect } from 'node:tls'

/** Reads when the certificate of an https address ends. Throws when nothing responds there, or the certificate is not trusted. */
export const readCertificateEnd = async ({ hostname, port }: URL): Promise<Date> => {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port || 443),
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
