import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'

import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

import { makeSemaphore } from '../../platform/domain/semaphore.ts'

const LEAST = 12
const MAX = 256
/** An attacker who may try ten a second for a year finds what takes fewer guesses than this. */
const LEAST_GUESSES = 3e8
/** The estimate takes longer for longer texts, and nobody guesses what follows. */
const ESTIMATED = 64

/**
 * Says what is wrong with a new password; undefined: nothing. It must be long, and must not be a password that leaked or
 * is put together from such, which zxcvbn finds in its lists.
 */
export const findPasswordIssue = (password: string, email: string): string | undefined => {
  const length = Array.from(password).length
  if (length < LEAST) return `A password has at least ${LEAST} characters; this one has ${length}.`
  if (length > MAX) return `A password has at most ${MAX} characters; this one has ${length}.`
  const own = [email, ...email.split(/\W/), 'kiln']
  const { guesses } = estimate.check(password.slice(0, ESTIMATED), own)
  return guesses < LEAST_GUESSES
    ? 'This password is in lists of passwords that leaked, or made of such. Take four words that do not belong together.'
    : undefined
}

const estimate = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

/** 32 MB and some 0.1 s of a core each: the second choice of OWASP. */
const COSTS = { N: 2 ** 15, r: 8, p: 3 }
const SALT_BYTES = 16
const KEY_BYTES = 32

/** Others need the threads of the process, too, which has four. Of one address as many are under way as its quota has. */
const semaphore = makeSemaphore(2, 18)

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

type Given = Record<'password' | 'address', string>

const digestOf = ({ password, address }: Given, salt: Buffer, costs: typeof COSTS) => {
  const options = { ...costs, maxmem: 2 ** 28 }
  const work = () => derive(password.normalize('NFKC'), salt, KEY_BYTES, options)
  return semaphore.run(work, undefined, address)
}

/** Digest of a password, with its costs and salt, as `scrypt.<N>.<r>.<p>.<salt>.<key>`. */
export const hashPassword = async (given: Given): Promise<string> => {
  const salt = randomBytes(SALT_BYTES)
  const key = await digestOf(given, salt, COSTS)
  const { N, r, p } = COSTS
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('.')
}

/** Compares a password with a digest, in the same time where there is none. */
export const verifyPassword = async (
  given: Given,
  stored: string | null | undefined,
): Promise<boolean> => {
  const [, N, r, p, salt = '', key = ''] = (stored ?? NOBODY).split('.')
  const costs = { N: Number(N), r: Number(r), p: Number(p) }
  const found = await digestOf(given, Buffer.from(salt, 'base64url'), costs)
  return (
    timingSafeEqual(found, Buffer.from(key, 'base64url')) && stored !== undefined && stored !== null
  )
}

const NOBODY = `scrypt.${COSTS.N}.${COSTS.r}.${COSTS.p}.AAAAAAAAAAAAAAAAAAAAAA.${'A'.repeat(43)}`
