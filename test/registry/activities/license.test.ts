import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import licenses from 'spdx-license-list/full.js'

import { makeLicenseFinder } from '../../../activities/registry/read-license.ts'
import {
  findAlikeLicense,
  isSameLicense,
  listStatedLicenses,
} from '../../../src/registry/domain/license.ts'

const find = makeLicenseFinder()
const textOf = (id: string): string => String(licenses[id]?.licenseText)

describe('the text of a license', () => {
  for (const id of ['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'])
    test(`is ${id}, whoever holds it and wherever its lines end`, async () => {
      const paragraphs = textOf(id)
        .split(/\n\s*\n/)
        .filter((one) => !/^copyright \(c\)/i.test(one))
      const wrapped = paragraphs.map((one) => one.replaceAll(/\s+(.{1,30})(?=\s)/g, '\n$1'))
      assert.equal(await find(`(c) 2026 Ann and others\n\n${wrapped.join('\n\n')}`), id)
    })
  for (const id of ['GPL-2.0-only', 'GPL-3.0-only', 'LGPL-3.0-only', 'AGPL-3.0-only', 'MPL-2.0'])
    test(`is ${id} also without its appendix`, async () => {
      const [terms = ''] = textOf(id).split('END OF TERMS AND CONDITIONS')
      assert.equal(await find(terms), id)
      assert.equal(await find(textOf(id)), id)
    })
  const CASES: [text: string, id: string | undefined][] = [
    ['', undefined],
    ['All rights reserved.', undefined],
    ['SPDX-License-Identifier: EUPL-1.2\n', 'EUPL-1.2'],
    ['SPDX-License-Identifier: constructor\n', undefined],
    [`${textOf('MIT')}\n${textOf('Apache-2.0')}`, undefined],
    ['<'.repeat(100_000), undefined],
    ['['.repeat(50_000) + '\n'.repeat(50_000), undefined],
  ]
  for (const id of ['MIT', 'Apache-2.0', 'EUPL-1.2', 'Zlib', 'CC0-1.0'])
    test(`is ${id} by its digest as by a comparison with all`, async () => {
      const compared = await findAlikeLicense(textOf(id), licenses, () => Promise.resolve())
      assert.deepEqual([await find(textOf(id)), compared], [id, id])
    })
  for (const [text, id] of CASES)
    test(`${JSON.stringify(text.slice(0, 40))} of ${text.length} characters is ${id}`, async () =>
      assert.equal(await find(text), id))
})

test('the licenses that a project file states are known by classifier and expression', () => {
  const stated = listStatedLicenses(`license = "Apache-2.0"
license = {file = "LICENSE"}
classifiers = [
  "License :: OSI Approved :: GNU General Public License v2 (GPLv2)", 'License :: OSI Approved',
  # "License :: OSI Approved :: ISC License (ISCL)",
  "License :: Other/Proprietary License",
]`)
  assert.deepEqual(
    stated.map(({ id }) => id),
    ['GPL-2.0-only', undefined, 'Apache-2.0'],
  )
})

test('a license is the same whichever later versions it allows, and not in another version', () => {
  assert.ok(isSameLicense('GPL-3.0-only', 'GPL-3.0-or-later'))
  assert.ok(isSameLicense('BSD-2-Clause', 'BSD-3-Clause'))
  assert.ok(!isSameLicense('GPL-2.0-only', 'GPL-3.0-only'))
  assert.ok(!isSameLicense('MIT', 'MIT-0'))
})
