import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { makeWebhookSecret } from '../events/adapters/webhook.ts'

/** Values of SIGNING_KEYS and SECRETS_KEYS, 32 bytes in Base64 each, and the secret of anonymous callers. */
export interface StackKeys {
  signing: string
  secrets: string
  /** WEBHOOK_DEFAULT_SECRET. */
  webhook: string
}

/** The keys of a data folder, made once and kept in `keys.json`. Without them its links and secrets can't be read any more. */
export const loadKeys = async (dataDir: string): Promise<StackKeys> => {
  const { webhook } = await keepSecret(join(dataDir, 'webhook-secret.json'), async () => ({
    webhook: makeWebhookSecret(),
  }))
  const keys = await keepSecret(join(dataDir, 'keys.json'), async () => ({
    signing: randomBytes(32).toString('base64'),
    secrets: randomBytes(32).toString('base64'),
  }))
  return { ...keys, webhook }
}

/** Reads a JSON file that only its owner may read, making it first when it is absent. Two that make it at once get the same. */
export const keepSecret = async <T>(path: string, make: () => Promise<T>): Promise<T> => {
  const found = await readFile(path, 'utf8').catch(() => undefined)
  if (found === undefined) {
    await mkdir(dirname(path), { recursive: true })
    const text = `${JSON.stringify(await make())}\n`
    await writeFile(path, text, { mode: 0o600, flag: 'wx' }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      },
    )
  }
  await chmod(path, 0o600)
  try {
    return JSON.parse(found ?? (await readFile(path, 'utf8'))) as T
  } catch (error) {
    throw new Error(`${path} is not JSON: delete it, and a new one is made at the next start`, {
      cause: error,
    })
  }
}
