import { CONTEXTS, type Secrets } from '../platform/adapters/secrets.ts'
import { insertAudit, type Audit } from '../platform/db/audit-log.ts'
import type { Fragment, Sql, Transaction } from '../platform/db/client.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'

/** Kinds that `secrets forget` takes. Kept responses are not among it: without one a repeated request would be made twice. */
export const FORGETTABLE = ['sign-in', 'webhooks', 'headers'] as const
export type Forgettable = (typeof FORGETTABLE)[number]

interface Store {
  what: Forgettable | 'responses'
  /** Rows of a ciphertext (`text`) and what names its place in the context (`place`). */
  rows(sql: Sql): Fragment
  contextOf(...place: string[]): string
  /** Removes rows by their ciphertexts, each of which is unique. */
  forget?(sql: Transaction, texts: string[]): PromiseLike<unknown>
}

const STORES: readonly Store[] = [
  {
    what: 'sign-in',
    rows: (sql) => sql`select private_key as text, array[period::text] as place from sign_in_key`,
    contextOf: CONTEXTS.signInKey,
    forget: (sql, texts) => sql`delete from sign_in_key where private_key = any(${texts})`,
  },
  {
    what: 'sign-in',
    rows: (sql) => sql`select payload as text, array[model, id] as place from sign_in_record`,
    contextOf: CONTEXTS.signInRecord,
    forget: (sql, texts) => sql`delete from sign_in_record where payload = any(${texts})`,
  },
  {
    what: 'webhooks',
    rows: (sql) => sql`select secret as text, '{}'::text[] as place from webhook_secret`,
    contextOf: CONTEXTS.webhookSecret,
    forget: (sql, texts) => sql`delete from webhook_secret where secret = any(${texts})`,
  },
  {
    what: 'headers',
    rows: (sql) =>
      sql`select headers as text, '{}'::text[] as place from endpoint where headers is not null`,
    contextOf: CONTEXTS.endpointHeaders,
    forget: (sql, texts) =>
      sql`update endpoint set headers = null, header_names = '{}' where headers = any(${texts})`,
  },
  {
    what: 'responses',
    rows: (sql) =>
      sql`select body as text, '{}'::text[] as place from idempotency where encrypted and body is not null`,
    contextOf: CONTEXTS.response,
  },
]

/** Rows that are read at once. */
const PAGE = 1000

/** Reads all rows of a store; returns how many there are, and the ciphertexts that no key of SECRETS_KEYS opens. */
const readLost = async (
  sql: Sql,
  secrets: Secrets,
  { rows, contextOf }: Store,
): Promise<{ count: number; lost: string[] }> => {
  let count = 0
  const lost: string[] = []
  const pages = sql<{ text: string; place: string[] }[]>`${rows(sql)}`.cursor(PAGE)
  for await (const page of pages) {
    count += page.length
    for (const { text, place } of page)
      if (!secrets.opens(text, contextOf(...place))) lost.push(text)
  }
  return { count, lost }
}

/** Counts by kind what SECRETS_KEYS encrypt, and how much of it they do not open. */
export const countSecrets = async (
  sql: Sql,
  secrets: Secrets,
): Promise<{ what: Store['what']; count: number; lost: number }[]> => {
  const counts = new Map<Store['what'], { count: number; lost: number }>()
  for (const store of STORES) {
    const { count, lost } = await readLost(sql, secrets, store)
    const sum = counts.get(store.what) ?? { count: 0, lost: 0 }
    counts.set(store.what, { count: sum.count + count, lost: sum.lost + lost.length })
  }
  return [...counts].map(([what, found]) => ({ what, ...found }))
}

const AFTERWARDS: Record<Forgettable, string> = {
  'sign-in': 'start the apis again: new keys are made, and all sign in again',
  webhooks:
    'new secrets are made at the next notification: whoever verifies reads them by GET /webhook-secret',
  headers: 'subscriptions send no headers of their own until these are set again',
}

/** Removes what no key of SECRETS_KEYS opens, and nothing else; returns what that was and what comes next. */
export const forgetSecrets = async (
  { sql, secrets, audit }: { sql: Sql; secrets: Secrets; audit: Audit },
  what: Forgettable,
): Promise<string> => {
  const stores = STORES.filter((store) => store.what === what)
  const found = await Promise.all(
    stores.map(async (store) => ({ store, lost: (await readLost(sql, secrets, store)).lost })),
  )
  const removed = found.reduce((sum, { lost }) => sum + lost.length, 0)
  if (removed === 0) return `SECRETS_KEYS open all of ${what}: nothing was removed`
  await unitOfWork({ sql }, async (sql) => {
    for (const { store, lost } of found) if (lost.length > 0) await store.forget?.(sql, lost)
    const change = { action: 'secrets.forget', target: auditTarget.secrets(what) } as const
    await insertAudit(sql, audit, {
      ...change,
      before: { unreadable: removed },
      after: { unreadable: 0 },
    })
  })
  return `${removed} of ${what} that no key opens were removed: ${AFTERWARDS[what]}`
}
