import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import sharp from 'sharp'

import { ROOT } from '../../../src/local/root.ts'
import type { ImageTaskKind } from '../../../src/tasks/domain/image/image-kind.ts'
import { useFixture } from '../../engines/test/image/fixture.ts'
import { PICTURES, SAMPLES } from '../src/samples/list.ts'
import { EXAMPLE } from '../src/try/snippets.ts'

const SOURCES = join(ROOT, 'packages/console/src')

/** A picture that is kept at this quality differs by less in the mean of its bytes. */
const MAX = 3

const fixture = useFixture()

/** Asserts that a picture is what the engine makes of another. */
const assertMade = async (
  kept: string,
  { kind, picture, settings }: { kind: ImageTaskKind; picture: string; settings: object },
): Promise<void> => {
  const made = await fixture.renderFile(kind, join(SOURCES, picture), settings)
  const [expected, actual] = await Promise.all(
    [made.file, join(SOURCES, kept)].map((one) => sharp(one).removeAlpha().raw().toBuffer()),
  )
  assert.equal(actual?.length, expected?.length)
  const apart =
    expected?.reduce((sum, byte, at) => sum + Math.abs(byte - (actual?.[at] ?? 0)), 0) ?? 0
  const mean = apart / (expected?.length ?? 1)
  assert.ok(mean < MAX, `${mean} apart`)
}

for (const name of ['home/relit.avif', 'home/relit.webp'])
  test(`${name} of the first page is what its caption makes of the portrait`, () =>
    assertMade(name, { kind: 'relight', picture: PICTURES.portrait, settings: EXAMPLE }))

for (const { id, kind, picture, settings } of SAMPLES)
  if (picture && kind !== 'text2video')
    test(`the sample ${id} is what the engine makes of ${picture}`, () =>
      assertMade(`samples/${id}.webp`, { kind, picture: PICTURES[picture], settings }))
