import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { codePath } from '../../../src/local/root.ts'
import { makeFolder } from '../../../test/support/folder.ts'
import { ADVICE } from '../../inspector/src/advice.ts'

const PROJECT = '[project]\nname = "cups"\nversion = "1.0.0"\n[tool.kiln]\nPublisherId = "alice"\n'
const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"Cup": Cup}\n'
/** A header in the form of HTTP, which the tool does not take. */
const SECRET = 'Authorization: Bearer s3cr3t'
/** Device that has no room. */
const FULL = '/dev/full'
const UNKNOWN = 'import maker\nNODE_CLASS_MAPPINGS = maker.make()\n'

/** Runs `kiln` where no service is. */
const kiln = (...words: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const program = codePath('packages/client/src/cli/kiln.ts')
    const env = { ...process.env, KILN_URL: 'http://127.0.0.1:9' }
    execFile(process.execPath, [program, ...words], { env }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })

describe('kiln check says what the reading says', () => {
  const cases: [title: string, init: string, code: number, says: (string | RegExp)[]][] = [
    [
      'all was read',
      CUP,
      0,
      ['\n  nodes     1: Cup (v1)\n', /\nso far nothing stands in the way\n$/],
    ],
    [
      'some nodes may be missing',
      `${CUP}import more\nNODE_CLASS_MAPPINGS.update(more.NODES)\n`,
      7,
      [
        '\n  nodes     1: Cup (v1); some may be missing: mapping_rest\n',
        `\n  warning   mapping_rest: ${ADVICE.mapping_rest}\n`,
        /\nnothing stands in the way of a version, but host nodes may be missing: mapping_rest\n$/,
      ],
    ],
    [
      'the pack lacks a module',
      `${CUP}from .gone import x\n`,
      6,
      [
        '\n  nodes     FAILED, own_module_missing\n',
        `\n  warning   gone (__init__.py, line 3): ${ADVICE.own_module_missing}\n`,
        /\nnothing .* but its host nodes cannot be read: own_module_missing\n$/,
      ],
    ],
    [
      'a hint beside nodes that were read',
      `${CUP}NODE_CLASS_MAPPINGS["KSampler"] = Cup\n`,
      0,
      [`\n  warning   KSampler: ${ADVICE.built_in_name}\n`],
    ],
    [
      'a node that is there under a condition, and one that no host shows',
      `${CUP}import gpu\nif gpu.is_there(): NODE_CLASS_MAPPINGS["Fast"] = Cup\n`,
      0,
      [
        '\n  nodes     2: Cup, Fast (v1)\n            only under a condition: Fast\n',
        `\n  warning   Cup (INPUT_TYPES), Fast (INPUT_TYPES): ${ADVICE.node_incomplete}\n`,
      ],
    ],
    [
      'many nodes',
      'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {str(n): Cup for n in range(12)}\n',
      0,
      ['\n  nodes     12: 0, 1, 2, 3, 4, 5, 6, 7 and 4 more (v1)\n'],
    ],
  ]
  for (const [title, init, code, says] of cases)
    test(title, async (context) => {
      const folder = await makeFolder(context, { 'pyproject.toml': PROJECT, '__init__.py': init })
      const checked = await kiln('check', folder, '--offline')
      assert.equal(checked.code, code, checked.out + checked.err)
      for (const part of says)
        assert.ok(checked.out.match(part) ?? checked.out.includes(String(part)), checked.out)
      assert.match(checked.out, /registry {2}not asked \(--offline\)/)
      assert.doesNotMatch(checked.err, /registry/)
    })

  test('with --json, too', async (context) => {
    const files = { 'pyproject.toml': PROJECT, '__init__.py': `${CUP}from .gone import x\n` }
    const { code, out } = await kiln(
      'check',
      await makeFolder(context, files),
      '--offline',
      '--json',
    )
    const { reading, issues } = JSON.parse(out) as { reading: object; issues: string[] }
    const { status, reason, advice } = reading as Record<string, unknown>
    assert.deepEqual([code, issues, status, reason], [6, [], 'failed', 'own_module_missing'])
    assert.deepEqual(advice, [`gone (__init__.py, line 3): ${ADVICE.own_module_missing}`])
  })

  test('with the list that it has written, after which nothing is left to do', async (context) => {
    const cups = 'class Cup:\n    def INPUT_TYPES(cls): return {"required": {}}\n'
    const files = { 'pyproject.toml': PROJECT, '__init__.py': UNKNOWN, 'src/cups.py': cups }
    const folder = await makeFolder(context, files)
    const before = await kiln('check', folder, '--offline')
    assert.equal(before.code, 6)
    assert.ok(before.out.includes(`NODE_CLASS_MAPPINGS: ${ADVICE.mapping_unknown}\n`))
    const { code, out } = await kiln('check', folder, '--offline', '--write-node-list')
    assert.equal(await readFile(join(folder, 'node_list.json'), 'utf8'), '{\n  "Cup": ""\n}\n')
    assert.equal(code, 7)
    assert.match(
      out,
      /nodes {5}1: Cup \(node_list\)[^]*node_list\.json has 1 new name[^]*Cup \(src/,
    )
    assert.ok(out.includes(`node_list: ${ADVICE.node_list}\n`))
    assert.ok(!out.includes(ADVICE.mapping_unknown ?? ''), out)
  })
})

test('kiln exits with 2 for whatever is wrong with its arguments', async (context) => {
  const folder = await makeFolder(context, { 'pyproject.toml': PROJECT, '__init__.py': CUP })
  for (const [words, says] of [
    [
      ['check', join(folder, 'none')],
      /none is no pack: the file .*none\/pyproject\.toml cannot be read/,
    ],
    [['check', join(folder, '__init__.py')], /is no pack: .* \(ENOTDIR\)/],
    [['check', folder, '--host', 'http://127.0.0.1:9'], /--host goes with --write-node-list/],
    [
      ['check', folder, '--write-node-list', '--host', 'localhost:8188'],
      /--host must be an address/,
    ],
    [['check', folder, '--bogus'], /no option --bogus: --help lists those there are/],
    [['check', folder, '--publsher', 'a'], /no option --publsher: did you mean --publisher\?/],
    [['upscale', 'a.png', '--smart-grain', '4'], /did you mean --set smart_grain=<value>\?/],
    [
      ['upscale', 'a.png', '-o', 'a.gif'],
      /will be an image: -o a\.gif must end with \.png, \.jpg, \.jpeg, \.webp\n/,
    ],
    [
      ['upscale', 'a.png', '-o', 'a.png', '--set', 'kiln_output_format=webp'],
      /will be an image in the format webp: -o a\.png must end with \.webp\n/,
    ],
    [
      ['upscale', 'a.png', '-o', 'a.webp', '--output-format', 'jpeg'],
      /must end with \.jpg, \.jpeg\n/,
    ],
    [['video', 'Sea', '-o', 'a.png'], /will be a video: -o a\.png must end with \.mp4, \.m4v/],
    [['video', 'Sea', '--output-format', 'png'], /no option --output-format/],
    [['relight', join(folder, 'none.png')], /the file .*none\.png cannot be read \(ENOENT\)/],
    [['upscale', 'a.png', '-o', join(folder, 'none/a.png')], /-o must name one in a folder/],
    [['upscale', 'a.png', '-o', join(folder, '__init__.py/a.png')], /-o must name one in a folder/],
    [['upscale', 'a.png', '-o', folder], /-o must name a file, and .* is a folder/],
    [['upscale', 'a.png', '-o', 'none/'], /-o must name a file, and none\/ is a folder/],
    [['watch', 'a', '-o', '.'], /-o must name a file, and \. is a folder/],
    [['endpoints', 'create', 'http://a', '--header', SECRET], /^kiln: --header takes name=value\n/],
  ] as const) {
    const { code, err } = await kiln(...words)
    assert.equal(code, 2, err)
    assert.match(err, says)
    assert.match(err, /\nusage: kiln /)
    assert.ok(!err.includes(SECRET), err)
  }
})

test('kiln exits with 5 where its output has no room', { skip: !existsSync(FULL) }, async () => {
  const program = codePath('packages/client/src/cli/kiln.ts')
  const args = ['-c', `"$0" "$1" --help > ${FULL}`, process.execPath, program]
  const stderr = /^kiln: standard output cannot be written: .*ENOSPC/
  await assert.rejects(promisify(execFile)('sh', args), { code: 5, stderr })
})
