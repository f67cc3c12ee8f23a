import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'

import { Agent, request } from 'undici'

import { inLanes } from './lanes.ts'

/**
 * Many clients in a process of their own, which yields the cores to the one that is measured:
 * `node … upload-clients.ts <url> <token> <clients> <file with the body>`.
 */
const [url = '', token = '', clients = '1', file = ''] = process.argv.slice(2)

setPriority(10)
const body = await readFile(file)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
await inLanes(Number(clients), Number(clients), async (index) => {
  // The api takes half a gigabyte at once from one address; each client has its own.
  const dispatcher = new Agent({ localAddress: `127.0.0.${index + 2}` })
  const response = await request(url, { method: 'POST', headers, body, dispatcher })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`an upload failed: ${text}`)
  await dispatcher.close()
})
