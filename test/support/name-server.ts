import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/**
 * A name server on loopback that knows some names by their addresses, IPv4 and IPv6. It says of other names that they do
 * not exist; where a name has no list, it keeps silent.
 */
export const startNameServer = async (names: Record<string, readonly string[] | undefined>) => {
  const socket = createSocket('udp4')
  /** Names that it was asked for. */
  const asked: string[] = []
  socket.on('message', (query, { port }) => {
    const { name, end } = readName(query)
    asked.push(name)
    if (name in names && names[name] === undefined) return
    const question = query.subarray(12, end + 4)
    const wantsIPv4 = query.readUInt16BE(end) === 1
    const found = (names[name] ?? []).filter((address) => isIPv4(address) === wantsIPv4)
    const head = Buffer.from(query.subarray(0, 12))
    // A response, with recursion; 3: there is no such name.
    head.writeUInt16BE(name in names ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, question, ...found.map(toRecord)]), port)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** `127.0.0.1:<port>`. */
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}

const readName = (query: Buffer): { name: string; end: number } => {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

/** One address of the name in the question, good for no time. */
const toRecord = (address: string): Buffer => {
  const bytes = isIPv4(address) ? address.split('.').map(Number) : bytesOfIPv6(address)
  const type = isIPv4(address) ? 1 : 28
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
}

/** Reads an address whose `::` stands between its first group and its last. */
const bytesOfIPv6 = (address: string): number[] => {
  const [first = '', last = ''] = address.split('::')
  const groups = [parseInt(first, 16), ...Array<number>(6).fill(0), parseInt(last, 16)]
  return groups.flatMap((group) => [group >> 8, group & 0xff])
}
