import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A transaction as a server of PostgreSQL sees it. */
export interface Transaction {
  /** Its statements, in their order. */
  statements: string[]
  /** Times that the client sent something after a response. */
  roundTrips: number
}

export interface CountingProxy {
  /** That of a database, by way of the proxy. */
  urlOf(url: string): string
  /** Those that have ended. */
  transactions: Transaction[]
  stop(): Promise<void>
}

/** Starts a proxy before a server of PostgreSQL that counts the round trips of each transaction. */
export const startCountingProxy = async (server: string): Promise<CountingProxy> => {
  const transactions: Transaction[] = []
  const { hostname, port } = new URL(server)
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true).on('error', () => {})
      socket.on('close', () => [client, upstream].forEach((each) => each.destroy()))
    }
    const count = makeCount((each) => transactions.push(each))
    client.on('data', count.sent).pipe(upstream)
    upstream.on('data', count.received).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address() as AddressInfo
  return {
    urlOf: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${address.port}` }).href,
    transactions,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

/** Follows one connection by its messages (PostgreSQL, Frontend/Backend Protocol). */
const makeCount = (ended: (transaction: Transaction) => void) => {
  const prepared = new Map<string, string>()
  let open: Transaction = { statements: [], roundTrips: 0 }
  let isOurTurn = true
  const readSent = makeReader(4, (type, body) => {
    const [name = '', text = ''] = body.toString().split('\0')
    if (type === 'P') prepared.set(name, text)
    // Of a Bind the second text is the statement.
    if (type === 'B') open.statements.push(prepared.get(text) ?? '')
    if (type === 'Q') open.statements.push(name)
  })
  const readReceived = makeReader(0, (type, body) => {
    if (type !== 'Z' || body.toString() !== 'I') return
    ended(open)
    open = { statements: [], roundTrips: 0 }
  })
  return {
    sent(bytes: Buffer): void {
      if (isOurTurn) open.roundTrips += 1
      isOurTurn = false
      readSent(bytes)
    },
    received(bytes: Buffer): void {
      isOurTurn = true
      readReceived(bytes)
    },
  }
}

/** Reads messages out of chunks: a type, a length and a body; the first of a client has no type. */
const makeReader = (untyped: number, take: (type: string, body: Buffer) => void) => {
  let rest = Buffer.alloc(0)
  let isUntyped = untyped > 0
  return (bytes: Buffer): void => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const start = isUntyped ? 0 : 1
      if (rest.length < start + 4) return
      const end = start + rest.readInt32BE(start)
      if (rest.length < end) return
      if (!isUntyped) take(String.fromCharCode(rest[0] ?? 0), rest.subarray(start + 4, end))
      isUntyped = false
      rest = rest.subarray(end)
    }
  }
}
