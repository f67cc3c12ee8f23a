import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { setPriority } from 'node:os'

/**
 * Many clients in a process of their own, which yields the cores to the one that is measured:
 * `node … upload-clients.ts <url> <token> <clients> <file with the body>`. Prints statuses and seconds as JSON.
 */
const [url = '', token = '', clients = '1', file = ''] = process.argv.slice(2)

const send = async (body: Buffer): Promise<number> =>
  await new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })

setPriority(10)
const body = await readFile(file)
const start = performance.now()
const statuses = await Promise.all(Array.from({ length: Number(clients) }, () => send(body)))
const seconds = (performance.now() - start) / 1000
process.stdout.write(`${JSON.stringify({ statuses, seconds })}\n`)
