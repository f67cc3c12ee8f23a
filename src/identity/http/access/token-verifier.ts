import { jwtVerify } from 'jose'
import type {
  CryptoKey,
  JWTHeaderParameters,
  JWTPayload,
  JWTVerifyGetKey,
  JWTVerifyOptions,
} from 'jose'

import { makeRecent } from '../../../platform/domain/recent.ts'

interface Verified {
  payload: JWTPayload
  header: JWTHeaderParameters
  key: CryptoKey
}

/** A token has up to 8 KiB. */
const MAX_REMEMBERED = 1_000

/**
 * Makes the verifier of tokens, which throws as `jwtVerify` does. It remembers what it has verified, because a signature
 * takes as long as the rest of a small request: such a token holds until its end, as long as the key set gives the same
 * key for it.
 */
export const makeTokenVerifier = (keys: JWTVerifyGetKey, options: JWTVerifyOptions) => {
  const remembered = makeRecent<Verified>(MAX_REMEMBERED)
  const isValid = async ({ payload, header, key }: Verified): Promise<boolean> => {
    const seconds = Math.floor(Date.now() / 1000) - Number(options.clockTolerance ?? 0)
    return (payload.exp ?? 0) > seconds && (await keys(header, NO_TOKEN)) === key
  }
  return async (token: string): Promise<JWTPayload> => {
    const known = remembered.find(token)
    if (known && (await isValid(known))) return known.payload
    const { payload, protectedHeader: header, key } = await jwtVerify(token, keys, options)
    remembered.keep(token, { payload, header, key: key as CryptoKey })
    return payload
  }
}

/** A key is found by the header alone. */
const NO_TOKEN = { payload: '', signature: '' }
