import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

import { ROOT, codePath } from '../../src/local/root.ts'
import type { Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'

export interface Operated {
  output: string
  errors: string
  code: number | null
}

/** What an operator types, with the settings of the service. */
export const operate = async (service: Service, ...args: string[]): Promise<Operated> => {
  const secret = Buffer.alloc(32).toString('base64')
  const child = spawn(process.execPath, [codePath('src/operate.ts'), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      DATABASE_URL: service.database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      TASK_QUEUE: service.taskQueue,
      PUBLIC_URL: service.baseUrl,
      STORAGE_PATH: service.storagePath,
      AUTH_ISSUER: 'https://issuer.example',
      AUTH_AUDIENCE: 'kiln',
      AUTH_JWKS_URL: 'https://issuer.example/keys',
      SIGNING_KEYS: secret,
      SECRETS_KEYS: secret,
      WEBHOOK_DEFAULT_SECRET: service.webhookSecret,
    },
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { output, errors, code: code as number | null }
}
