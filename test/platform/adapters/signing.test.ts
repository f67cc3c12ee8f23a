import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'

import { makeSigner, type FileClaim } from '../../../src/platform/adapters/signing.ts'

const HOUR = 3600
const DAY = 86_400
const id = '0b7f6c1e-2f3a-4f7e-9d52-6a4f4f7d9e01'
const now = new Date('2030-01-02T10:20:30Z')
const unix = (date: Date) => Math.floor(date.getTime() / 1000)
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const key = () => randomBytes(32).toString('base64')

const keys = [key()]
const make = (more: Partial<Parameters<typeof makeSigner>[0]> = {}) =>
  makeSigner({ keys, publicUrl: 'https://kiln.example', linkSeconds: DAY, ...more })
const signer = make()

const claimOf = (link: string): FileClaim => {
  const url = new URL(link)
  const [, , linkId = '', name = ''] = url.pathname.split('/').map(decodeURIComponent)
  const expires = url.searchParams.get('expires') ?? ''
  return { id: linkId, name, expires, signature: url.searchParams.get('signature') ?? '' }
}

describe('a file link', () => {
  test('is absolute, names the file and verifies', () => {
    const link = signer.signFile(id, 'result-1.png', now)
    assert.match(
      link,
      /^https:\/\/kiln\.example\/files\/[\da-f-]{36}\/result-1\.png\?expires=\d+&signature=[\w-]{43}$/,
    )
    assert.equal(signer.verifyFile(claimOf(link), now), 'ok')
  })

  test('lives 24 to 25 hours, ends on a full hour and is the same within one hour', () => {
    const hour = Math.floor(unix(now) / HOUR) * HOUR
    const links = new Set<string>()
    for (const offset of [0, 0.001, 1, 1800, 3599, 3599.999]) {
      const at = new Date((hour + offset) * 1000)
      const life = signer.linkExpiry(at) - at.getTime() / 1000
      assert.ok(life >= DAY && life <= DAY + HOUR, `${life}`)
      assert.equal(signer.linkExpiry(at) % HOUR, 0)
      links.add(signer.signFile(id, 'a.png', at))
    }
    assert.equal(links.size, 1)
    assert.notEqual(signer.linkExpiry(new Date((hour + HOUR) * 1000)), signer.linkExpiry(now))
  })

  test('never lives shorter than asked, also when that is not a whole number of hours', () => {
    for (const linkSeconds of [3600, 5000, 90_001]) {
      const life = make({ linkSeconds }).linkExpiry(now) - unix(now)
      assert.ok(life >= linkSeconds && life <= linkSeconds + HOUR, `${linkSeconds}: ${life}`)
    }
  })

  test('expires at its second', () => {
    const claim = claimOf(signer.signFile(id, 'a.png', now))
    const left = Number(claim.expires) - now.getTime() / 1000
    assert.equal(signer.verifyFile(claim, after(left - 0.001)), 'ok')
    assert.equal(signer.verifyFile(claim, after(left)), 'link_expired')
  })

  test('with anything changed has no valid signature, expired or not', () => {
    const claim = claimOf(signer.signFile(id, 'a.png', now))
    const changes: Partial<FileClaim>[] = [
      { id: id.replace('0', '1') },
      { id: id.toUpperCase() },
      { name: 'b.png' },
      { expires: String(Number(claim.expires) + HOUR) },
      { expires: `${claim.expires}.0` },
      { expires: `0${claim.expires}` },
      { expires: '' },
      { signature: '' },
      { signature: claim.signature.slice(1) },
      { signature: `${claim.signature}=` },
      { signature: `${claim.signature.slice(0, -1)}é` },
      { signature: 'A'.repeat(43) },
    ]
    for (const change of changes)
      for (const at of [now, after(2 * DAY)]) {
        const verdict = signer.verifyFile({ ...claim, ...change }, at)
        assert.equal(verdict, 'signature_invalid', JSON.stringify(change))
      }
  })

  test('has one valid signature: no other last character decodes to it', () => {
    const claim = claimOf(signer.signFile(id, 'a.png', now))
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const rest = claim.signature.slice(0, -1)
    const verify = (last: string) => signer.verifyFile({ ...claim, signature: rest + last }, now)
    const valid = [...alphabet].filter((last) => verify(last) === 'ok')
    assert.deepEqual(valid, [claim.signature.at(-1)])
  })

  test('is signed by the first key and verified by all', () => {
    const [old, fresh] = [key(), key()]
    const link = claimOf(make({ keys: [old] }).signFile(id, 'a.png', now))
    const [both, one] = [make({ keys: [fresh, old] }), make({ keys: [fresh] })]
    assert.equal(both.verifyFile(link, now), 'ok')
    assert.equal(one.verifyFile(link, now), 'signature_invalid')
    assert.equal(both.signFile(id, 'a.png', now), one.signFile(id, 'a.png', now))
  })

  test('does not serve as an upload link, nor the other way round', () => {
    const file = claimOf(signer.signFile(id, 'a.png', now))
    assert.equal(signer.verifyUpload({ ...file, max: '1' }, now), 'signature_invalid')
    const secret = Buffer.from(keys[0] ?? '', 'base64')
    const text = `${id}a.png${file.expires}`
    const signature = createHmac('sha256', secret).update(text).digest('base64url')
    assert.equal(signer.verifyFile({ ...file, signature }, now), 'signature_invalid')
  })

  test('carries names with blanks, slashes and letters of any script', () => {
    for (const name of ['a b.png', '100%.png', 'über–図.png', 'a/b', 'a?b#c&d=e', "it's"]) {
      const link = signer.signFile(id, name, now)
      assert.deepEqual(signer.parseOwnLink(link, now), { id, name })
    }
  })
})

describe('a link of our own', () => {
  const link = signer.signFile(id, 'input-image.png', now)

  test('is distinguished from other URLs', () => {
    assert.deepEqual(signer.parseOwnLink(link, now), { id, name: 'input-image.png' })
    assert.deepEqual(signer.parseOwnLink(`${link}#x`, now), { id, name: 'input-image.png' })
    const others = [
      'https://other.example/files/a/b?expires=1&signature=x',
      link.replace('https:', 'http:'),
      link.replace('kiln.example', 'kiln.example:8443'),
      link.replace('kiln.example', 'kiln.example.evil.example'),
      'https://kiln.example/health',
      'https://kiln.example/filesystem/a/b',
      'not a url',
      '',
    ]
    for (const other of others) assert.equal(signer.parseOwnLink(other, now), undefined, other)
    const upload = signer.signUpload({ id, expires: 9e9, max: 1 })
    assert.equal(signer.parseOwnLink(upload, now), 'upload')
  })

  test('is bad when it is altered, incomplete or expired', () => {
    const bad = [
      link.replace('input-image', 'input-other'),
      link.replace('signature=', 'signature=A'),
      link.replace(/&signature.*/, ''),
      `${link}&expires=1`,
      link.replace('/input-image', '/x/input-image'),
      link.replace('kiln.example', 'user@kiln.example'),
      link.replace('input-image', '%ff'),
      'https://kiln.example/files/',
    ]
    for (const other of bad) assert.equal(signer.parseOwnLink(other, now), 'bad', other)
    assert.equal(signer.parseOwnLink(link, after(2 * DAY)), 'bad')
  })

  test('has one name in every hour, whatever it is signed for', () => {
    const name = `https://kiln.example/files/${id}/input-image.png`
    const later = signer.signFile(id, 'input-image.png', after(DAY / 8))
    assert.notEqual(later, link)
    for (const one of [link, later, ` ${link}#x`, `${link}&redirect=0`])
      assert.equal(signer.nameLink(one), name, one)
    const upload = signer.signUpload({ id, expires: 9e9, max: 1 })
    assert.equal(signer.nameLink(upload), `https://kiln.example/uploads/${id}`)
    const others = [
      name,
      link.replace('kiln.example', 'other.example'),
      `see ${link}`,
      'signature=',
      'https://kiln.example',
    ]
    for (const other of others) assert.equal(signer.nameLink(other), undefined, other)
  })

  test('follows a public URL with a path, port or last slash', () => {
    for (const publicUrl of 'http://127.0.0.1:8080/ https://a.b/kiln https://a.b//'.split(' ')) {
      const there = make({ publicUrl })
      const own = there.signFile(id, 'a.png', now)
      assert.ok(own.startsWith(`${publicUrl.replace(/\/+$/, '')}/files/${id}/`))
      assert.deepEqual(there.parseOwnLink(own, now), { id, name: 'a.png' })
    }
  })
})

describe('an upload link', () => {
  const expires = unix(now) + DAY
  const link = new URL(signer.signUpload({ id, expires, max: 1000 }))
  const claim = {
    id,
    expires: link.searchParams.get('expires') ?? '',
    max: link.searchParams.get('max') ?? '',
    signature: link.searchParams.get('signature') ?? '',
  }

  test('carries its expiry and size, and verifies until then', () => {
    assert.equal(link.origin + link.pathname, `https://kiln.example/uploads/${id}`)
    assert.deepEqual([claim.expires, claim.max], [String(expires), '1000'])
    assert.equal(signer.verifyUpload(claim, now), 'ok')
    assert.equal(signer.verifyUpload(claim, after(DAY + 1)), 'upload_expired')
  })

  test('with anything changed has no valid signature', () => {
    const later = { expires: String(expires + 1) }
    for (const change of [{ id: 'x' }, { max: '1001' }, later, { signature: 'x' }])
      assert.equal(signer.verifyUpload({ ...claim, ...change }, now), 'signature_invalid')
  })
})

test('a key of the wrong size is rejected by the name of its setting', () => {
  for (const wrong of [[], [''], ['c2hvcnQ='], [key(), randomBytes(33).toString('base64')]])
    assert.throws(() => make({ keys: wrong }), /SIGNING_KEYS must hold keys of 32 bytes/)
})

describe('a link to read a path', () => {
  test('stands for this path in whatever spelling, until it ends', () => {
    const path = '/archives/pub/pack/1.0.0-rc.1%2Bb/node.zip'
    const { pathname, search, origin } = new URL(
      make({ publicUrl: 'https://kiln.example/' }).signRead(path, now),
    )
    assert.equal(origin + pathname, `https://kiln.example${path}`)
    const end = signer.linkExpiry(now) - unix(now)
    const isSigned = (target: string, at = now) => signer.isSignedRead(target, at)
    assert.ok(isSigned(pathname + search))
    assert.ok(isSigned(pathname.replace('%2B', '+') + search))
    assert.ok(isSigned(pathname + search, after(end - 1)))
    assert.ok(!isSigned(pathname + search, after(end)))
    for (const target of [
      path,
      `${path}${search}&expires=9999999999`,
      `/other${search}`,
      '//',
      '/%ff?expires=1',
    ])
      assert.ok(!isSigned(target), target)
    assert.ok(!make({ keys: [key()] }).isSignedRead(pathname + search, now))
  })
})
