import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider'

import { CONTEXTS } from '../../../platform/adapters/secrets.ts'
import { withinDeadline } from '../../../platform/db/client.ts'
import {
  consumeRecord,
  deleteRecord,
  deleteRecordsOfGrant,
  findRecord,
  findRecordByUid,
  putRecord,
  type FoundRecord,
} from '../../db/sign-in-record.ts'
import { endSessionOf } from '../../db/session.ts'
import { digest } from '../access/digest.ts'
import type { SignInDeps } from './deps.ts'

const MAX_USER_AGENT = 200

/**
 * Makes what keeps the records of one model of the provider in PostgreSQL. The id of most is the token itself, so only
 * its SHA-256 is stored, and the payload, which repeats it, encrypted.
 */
export const makeAdapter =
  ({ sql, secrets, log }: Pick<SignInDeps, 'sql' | 'secrets' | 'log'>) =>
  (model: string): Adapter => {
    const contextOf = (id: string): string => CONTEXTS.signInRecord(model, id)
    const open = (found: FoundRecord | undefined): AdapterPayload | undefined =>
      found && {
        ...(JSON.parse(secrets.decrypt(found.payload, contextOf(found.id))) as AdapterPayload),
        ...(found.consumed !== null && { consumed: found.consumed }),
      }
    return {
      upsert: async (id, payload, seconds = 0) => {
        const key = digest(id)
        const { accountId, grantId, uid } = payload
        const userAgent = Provider.ctx?.get('user-agent').slice(0, MAX_USER_AGENT)
        await withinDeadline(
          sql,
          putRecord(sql, {
            model,
            id: key,
            payload: secrets.encrypt(JSON.stringify(payload), contextOf(key)),
            accountId,
            grantId: grantId && digest(grantId),
            uid: uid && digest(uid),
            userAgent: model === 'Session' ? userAgent : undefined,
            seconds,
          }),
        )
      },
      find: async (id) => {
        const payload = open(await withinDeadline(sql, findRecord(sql, model, digest(id))))
        // Who sends it once more may have stolen it, or be the one it was stolen from. The provider ends what is of its grant.
        if (payload?.consumed !== undefined && payload.sessionUid !== undefined) {
          log.warn({ model }, 'what counts once was used again: its session has ended')
          await withinDeadline(sql, endSessionOf(sql, digest(payload.sessionUid)))
        }
        return payload
      },
      findByUid: async (uid) =>
        open(await withinDeadline(sql, findRecordByUid(sql, model, digest(uid)))),
      findByUserCode: () => Promise.resolve(undefined),
      consume: async (id) => {
        // The provider has read the record before, as did another request at the same time.
        if (!(await withinDeadline(sql, consumeRecord(sql, model, digest(id)))))
          throw new errors.InvalidGrant('already consumed')
      },
      destroy: async (id) => withinDeadline(sql, deleteRecord(sql, model, digest(id))),
      revokeByGrantId: async (grantId) =>
        withinDeadline(sql, deleteRecordsOfGrant(sql, model, digest(grantId))),
    }
  }
