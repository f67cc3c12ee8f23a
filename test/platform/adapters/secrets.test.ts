import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'

import { makeSecrets } from '../../../src/platform/adapters/secrets.ts'

const key = () => randomBytes(32).toString('base64')

describe('a secret at rest', () => {
  const [old, fresh] = [key(), key()]
  const secrets = makeSecrets({ keys: [old] })

  test('is read back, whatever it is', () => {
    for (const plain of ['', 'kiln_key_x', '{"a":1}', 'ü–図🜂', 'x'.repeat(1_000_000)])
      assert.equal(secrets.decrypt(secrets.encrypt(plain, 'here'), 'here'), plain)
  })

  test('is printable, never in clear and never the same twice', () => {
    const first = secrets.encrypt('plain text', 'here')
    assert.match(first, /^v1\.[\w-]+$/)
    assert.ok(!Buffer.from(first.slice(3), 'base64url').includes('plain'))
    assert.notEqual(secrets.encrypt('plain text', 'here'), first)
  })

  test('does not decrypt in another place', () => {
    const encrypted = secrets.encrypt('plain', 'idempotency:1')
    assert.throws(() => secrets.decrypt(encrypted, 'idempotency:2'), /SECRETS_KEYS/)
  })

  test('does not decrypt when any byte is changed or missing', () => {
    const encrypted = secrets.encrypt('plain', 'here')
    const bytes = Buffer.from(encrypted.slice(3), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      for (const other of [changed, bytes.subarray(0, at)])
        assert.throws(() => secrets.decrypt(`v1.${other.toString('base64url')}`, 'here'))
    }
    for (const other of ['', 'plain', 'v2.AAAA', encrypted.slice(3)])
      assert.throws(() => secrets.decrypt(other, 'here'))
  })

  test('outlives a rotation as long as its key is in the list', () => {
    const encrypted = secrets.encrypt('plain', 'here')
    const rotated = makeSecrets({ keys: [fresh, old] })
    assert.equal(rotated.decrypt(encrypted, 'here'), 'plain')
    assert.throws(() => secrets.decrypt(rotated.encrypt('plain', 'here'), 'here'))
    const other = makeSecrets({ keys: [fresh] })
    assert.throws(() => other.decrypt(encrypted, 'here'), /behind the new one/)
  })
})

test('a key of the wrong size is rejected by the name of its setting', () => {
  for (const wrong of [[], ['c2hvcnQ='], [key(), randomBytes(31).toString('base64')]])
    assert.throws(() => makeSecrets({ keys: wrong }), /SECRETS_KEYS must hold keys of 32 bytes/)
})
