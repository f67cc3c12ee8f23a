import { connect, createServer } from 'node:net'

import { listen } from '../../support/network.ts'

export type CommitIssue = 'none' | 'lost before' | 'lost after' | 'silent'

export interface DatabaseProxy {
  /** The given URL by way of the proxy. */
  url: string
  /** Fault of the next COMMIT, and of that one alone. */
  issue: CommitIssue
  /** Text that the transaction of that COMMIT has sent, so that no loop beside it meets the fault. */
  of: string
  close(): Promise<void>
}

/** The statement alone: others have the word in their text. */
const BEGIN = /begin[a-z ]*\0/

/** Stands between a client and PostgreSQL and breaks the connection at the one moment that matters. */
export const startDatabaseProxy = async (target: string): Promise<DatabaseProxy> => {
  const { hostname, port } = new URL(target)
  const proxy: Pick<DatabaseProxy, 'issue' | 'of'> = { issue: 'none', of: '' }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    let responded = (chunk: Buffer): void => void client.write(chunk)
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut)
    upstream.on('data', (chunk: Buffer) => responded(chunk))
    let sent = ''
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      sent = BEGIN.test(text) ? text : sent + text
      // The statement ends with a zero; a setting whose name holds the word does not.
      const issue = chunk.includes('commit\0') && sent.includes(proxy.of) ? proxy.issue : 'none'
      if (issue !== 'none') proxy.issue = 'none'
      if (issue === 'lost before') return cut()
      if (issue === 'lost after') responded = cut
      if (issue === 'silent') responded = () => {}
      upstream.write(chunk)
    })
  })
  const receiver = await listen(server)
  const url = new URL(target)
  url.port = String(receiver.port)
  return Object.assign(proxy, { url: url.href, close: receiver.close })
}
