import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

const bytes: Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 1, maxLength: 40 })

/** Bytes as they are, cut, with some inserted, changed, twice or missing, with others before or behind, and others alone. */
export const damage = (bases: readonly Uint8Array[], junk = bytes): Arbitrary<Buffer> =>
  fc
    .tuple(fc.constantFrom(...bases), fc.constantFrom(...bases), fc.nat(), junk)
    .chain(([base, other, place, some]) => {
      // Headers are where formats break.
      const at = place % (place % 2 ? 100 : base.length + 1)
      const [head, tail, rest] = [
        base.subarray(0, at),
        base.subarray(at),
        base.subarray(at + some.length),
      ]
      return fc.constantFrom<Uint8Array[]>(
        [base],
        [head],
        [head, some, tail],
        [head, some, rest],
        [base.subarray(0, at + some.length), tail],
        [head, rest],
        [head, other.subarray(at)],
        [other, base],
        [base, other],
        [some],
      )
    })
    .map((parts) => Buffer.concat(parts))
