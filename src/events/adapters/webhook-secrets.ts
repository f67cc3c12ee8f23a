import { CONTEXTS, type Secrets } from '../../platform/adapters/secrets.ts'
import { makeWebhookSecret } from './webhook.ts'
import { makeBatch } from '../../platform/db/batch.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { insertFirstSecret, listSecrets, rotateSecret } from '../db/webhook-secret.ts'
import type { StoredSecret } from '../db/webhook-secret.ts'

/** A secret in clear. */
export type OwnerSecret = StoredSecret

/**
 * Makes the keeper of the secrets that sign notifications: one of each owner, made on first use and stored encrypted, two
 * while one replaces the other; and one that all anonymous callers share.
 */
export const makeWebhookSecrets = ({
  sql,
  secrets,
  shared,
}: {
  sql: Sql
  secrets: Secrets
  /** WEBHOOK_DEFAULT_SECRET. */
  shared: string
}) => {
  const read = makeBatch(async (owners: readonly string[]) => {
    const rows = await listSecrets(sql, [...new Set(owners)])
    return owners.map((owner) => rows.filter((row) => row.owner === owner))
  })
  const open = (rows: readonly StoredSecret[]): OwnerSecret[] =>
    rows.map((row) => ({ ...row, secret: secrets.decrypt(row.secret, CONTEXTS.webhookSecret()) }))
  const list = async (sql: Queryable, owner: string): Promise<OwnerSecret[]> =>
    open(await listSecrets(sql, [owner]))
  const make = (): string => secrets.encrypt(makeWebhookSecret(), CONTEXTS.webhookSecret())
  /** The secrets of an owner that sign, newest first. */
  const get = async (owner: string): Promise<OwnerSecret[]> => {
    const found = open(await read(owner))
    if (found.some(({ expiresAt }) => expiresAt === null)) return found
    await insertFirstSecret(sql, { owner, secret: make() })
    return await list(sql, owner)
  }
  return {
    get,
    /** Lists the secrets that sign the notifications of an owner. */
    active: async (owner: string): Promise<string[]> =>
      owner === 'anonymous' ? [shared] : (await get(owner)).map(({ secret }) => secret),
    /** Replaces the secret of an owner; the one before goes on for a while. Returns the secrets that sign then. */
    async rotate(sql: Transaction, owner: string, overlapSeconds: number): Promise<OwnerSecret[]> {
      await rotateSecret(sql, { owner, secret: make(), overlapSeconds })
      return await list(sql, owner)
    },
  }
}

export type WebhookSecrets = ReturnType<typeof makeWebhookSecrets>
