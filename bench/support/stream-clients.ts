import { request } from 'node:http'

/** Streams that a process of clients opens, as JSON in its argument. */
export interface StreamClients {
  baseUrl: string
  /** One account at one address, and its tasks, each followed by so many clients. */
  callers: { token: string; address: string; tasks: string[] }[]
  clients: number
}

/** Reports to the parent when all streams are open, and on request when (milliseconds) each client got a transition. */
const main = async ({ baseUrl, callers, clients }: StreamClients): Promise<void> => {
  const received: number[] = []
  for (const { token, address, tasks } of callers)
    for (const task of tasks)
      await Promise.all(
        Array.from(
          { length: clients },
          () =>
            new Promise<void>((resolve, reject) => {
              const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address }
              request(`${baseUrl}/tasks/${task}/stream`, { headers, agent: false }, (response) => {
                if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
                response.once('data', () => {
                  resolve()
                  response.on('data', (data) => {
                    if (String(data).includes('IN_PROGRESS')) received.push(Date.now())
                  })
                })
              })
                .on('error', reject)
                .end()
            }),
        ),
      )
  process.on('message', () => process.send?.(received.splice(0)))
  process.send?.('open')
}

await main(JSON.parse(process.argv[2] ?? '') as StreamClients)
