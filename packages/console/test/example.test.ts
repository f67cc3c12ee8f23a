import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import sharp from 'sharp'

import { ROOT } from '../../../src/local/root.ts'
import { useFixture } from '../../engines/test/image/fixture.ts'
import { EXAMPLE } from '../src/try/snippets.ts'

const HOME = join(ROOT, 'packages/console/src/home')

/** A picture that is kept at this quality differs by less in the mean of its bytes. */
const MAX = 3

const fixture = useFixture()

for (const name of ['relit.avif', 'relit.webp'])
  test(`${name} of the first page is what its caption makes of the portrait`, async () => {
    const { file } = await fixture.renderFile('relight', join(HOME, 'portrait.webp'), EXAMPLE)
    const [made, kept] = await Promise.all(
      [file, join(HOME, name)].map((one) => sharp(one).removeAlpha().raw().toBuffer()),
    )
    assert.equal(kept?.length, made?.length)
    const apart = made?.reduce((sum, byte, at) => sum + Math.abs(byte - (kept?.[at] ?? 0)), 0) ?? 0
    assert.ok(apart / (made?.length ?? 1) < MAX, `${apart / (made?.length ?? 1)} apart`)
  })
