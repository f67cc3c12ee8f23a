import { request } from 'node:http'

/** What a process of clients opens, as JSON in its argument. */
export interface StreamClients {
  baseUrl: string
  /** One account at one address, and its tasks, each followed by so many clients. */
  callers: { token: string; address: string; tasks: string[] }[]
  clients: number
}

/** Tells the parent how many streams are open, and when (milliseconds of the clock) which number of clients heard of a move. */
const main = async ({ baseUrl, callers, clients }: StreamClients): Promise<void> => {
  const heard: number[] = []
  for (const { token, address, tasks } of callers)
    for (const task of tasks)
      await Promise.all(
        Array.from(
          { length: clients },
          () =>
            new Promise<void>((resolve, reject) => {
              const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address }
              request(`${baseUrl}/tasks/${task}/stream`, { headers, agent: false }, (answer) => {
                if (answer.statusCode !== 200) reject(new Error(`status ${answer.statusCode}`))
                answer.once('data', () => {
                  resolve()
                  answer.on('data', (data) => {
                    if (String(data).includes('IN_PROGRESS')) heard.push(Date.now())
                  })
                })
              })
                .on('error', reject)
                .end()
            }),
        ),
      )
  process.on('message', () => process.send?.(heard.splice(0)))
  process.send?.('open')
}

await main(JSON.parse(process.argv[2] ?? '') as StreamClients)
