import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ALIKE, WELL_KNOWN_NAMES } from '../../src/scan/data/well-known-names.ts'
import { KNOWN_BAD } from '../../src/scan/data/known-bad.ts'
import { findNearName } from '../../src/scan/rules/requirements.ts'
import { normalise } from '../../src/scan/requirements/requirement.ts'
import { pinsBad } from '../../src/scan/requirements/known-bad.ts'
import { scanFiles } from './support.ts'

const rulesOf = (requirement: string): string[] =>
  scanFiles({ '__init__.py': '', 'requirements.txt': `${requirement}\n` }).findings.map(
    ({ issue_type: rule }) => rule,
  )

const CASES: [requirement: string, rules: string[]][] = [
  ['ultralytics==8.3.41', ['bad-requirement']],
  ['ultralytics == 8.3.42 # pinned', ['bad-requirement']],
  ['Ultralytics===8.3.45', ['bad-requirement']],
  ['ultralytics[export]==8.3.46; python_version >= "3.8"', ['bad-requirement']],
  ['ultralytics>=8.3.41,<=8.3.42', ['bad-requirement']],
  ['ultralytics>=8.3.50', []],
  ['ultralytics==8.3.43', []],
  ['ultralytics==8.3.*', []],
  ['ultralytics!=8.3.41', []],
  ['ultralytics>=8.3.41', []],
  ['ultralytics>=8.3.40,<=8.3.42', []],
  ['ultralytics~=8.3.41', []],
  ['ultralytics', []],
  ['litellm==1.82.8', ['bad-requirement']],
  ['litellm (==1.82.7)', ['bad-requirement']],
  ['litellm<1.82.7', []],
  ['lightning==2.6.3', ['bad-requirement']],
  ['mistralai==2.4.6', ['bad-requirement']],
  ['mistralai==2.4.7', []],
  ['torchtriton', ['bad-requirement']],
  ['deepseeek>=0.1', ['bad-requirement']],
  ['openai==1.16.3', ['bad-requirement']],
  ['openai==1.16.2', []],
  ['https://example.com/files/openai-1.30.2-py3-none-any.whl', ['bad-requirement']],
  ['anthropic @ https://example.com/anthropic-0.26.1-py3-none-any.whl', ['bad-requirement']],
  ['./wheels/openai-1.30.2-py3-none-any.whl', ['bad-requirement']],
  ['https://files.pythonhosted.org/packages/aa/openai-1.30.2-py3-none-any.whl', []],
  ['openai @ git+https://github.com/someone/openai-python', ['foreign-requirement']],
  [
    'https://github.com/mistralai/client-python/archive/refs/tags/mistralai-2.4.5.tar.gz',
    ['foreign-requirement'],
  ],
  ['git+https://github.com/facebookresearch/segment-anything.git', ['foreign-requirement']],
  [
    'segment-anything @ git+https://github.com/facebookresearch/segment-anything',
    ['foreign-requirement'],
  ],
  ['-e git+https://github.com/a/b.git#egg=b', ['foreign-requirement']],
  ['https://example.com/x-1.0-py3-none-any.whl', ['foreign-requirement']],
  ['--extra-index-url https://download.pytorch.org/whl/cu121', ['foreign-requirement']],
  ['--index-url=https://mirror.example.com/simple', ['foreign-requirement']],
  ['--index-url https://pypi.org/simple', []],
  ['-f https://example.com/wheels.html', ['foreign-requirement']],
  ['-r other.txt', []],
  ['--pre', []],
  ['numpy>=1.26', []],
  ['numpy>=1.26,<3 ; sys_platform != "win32"', []],
  ['opencv-python-headless', []],
  ['# git+https://example.com/x', []],
  ['', []],
  ['reqeusts', ['near-name']],
  ['requets>=2', ['near-name']],
  ['torchh', ['near-name']],
  ['diffuser', ['near-name']],
  ['scikit_imag', ['near-name']],
  ['Pillow', []],
  ['scikit_learn', []],
  ['opencv.python', []],
  ['tokenizers', []],
  ['yolov8', []],
  ['my-own-package', []],
  ['pyaml', []],
  ['!!! not a requirement', []],
]

describe('requirements', () => {
  for (const [requirement, rules] of CASES)
    test(`${requirement || 'a blank line'}: ${rules.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(rulesOf(requirement), rules)
    })

  test('dependencies of pyproject.toml are read, with their lines', () => {
    const toml = `[build-system]
dependencies = ["ultralytics==8.3.41"]
[project]
name = "x"
dependencies = [
  'numpy', # "litellm==1.82.8"
  "ultralytics==8.3.41",
  "segment-anything @ git+https://github.com/a/b",
]
[tool.x]
dependencies = ["litellm==1.82.7"]
`
    const { findings } = scanFiles({ 'w/__init__.py': '', 'w/pyproject.toml': toml })
    assert.deepEqual(
      findings.map(({ issue_type: rule, line_number: line, file_path: path }) => [
        rule,
        path,
        line,
      ]),
      [
        ['bad-requirement', 'w/pyproject.toml', 7],
        ['foreign-requirement', 'w/pyproject.toml', 8],
      ],
    )
  })

  test("the version's dependencies are read; they are in no file", () => {
    const { findings } = scanFiles({ '__init__.py': '' }, { dependencies: ['litellm==1.82.8'] })
    const [finding, ...others] = findings
    assert.equal(others.length, 0)
    assert.equal(finding?.issue_type, 'bad-requirement')
    assert.ok(finding && !('file_path' in finding) && !('line_number' in finding), 'no place')
    assert.match(finding.message, /steals credentials.*https:\/\/.*Require another release/)
  })

  test('a wrapping folder and names of several requirement files make no difference', () => {
    const { counts } = scanFiles({
      'w/__init__.py': '',
      'w/requirements-gpu.txt': 'torchtriton',
      'w/sub/Requirements_dev.txt': 'litellm==1.82.8',
      'w/notrequirements.txt': 'torchtriton',
    })
    assert.equal(counts.high, 2)
  })
})

describe('known-bad data', () => {
  test('each entry has a normalised name, a day, a reason and a source', () => {
    for (const { projects, date, reason, source } of KNOWN_BAD) {
      for (const name of Object.keys(projects)) assert.equal(name, normalise(name))
      assert.match(date, /^20\d\d-\d\d-\d\d$/)
      assert.match(source, /^https:\/\//)
      assert.ok(reason.length > 10, source)
    }
  })

  test('only a specifier that leaves nothing else pins a bad release', () => {
    const bad = ['1.2.3', '1.2.4']
    const pins = [
      '==1.2.3',
      '===1.2.4',
      '==v1.2.3',
      '>=1.2.3,<=1.2.4',
      '>1.2.2,<1.2.5',
      '==1.2.3,>1',
    ]
    const free = [
      '',
      '==1.2.*',
      '>=1.2.3',
      '~=1.2.3',
      '!=1.2.3',
      '>=1.2.3,<2',
      '==1.2.5',
      '<=1.2.4',
      'x',
    ]
    assert.deepEqual(
      pins.filter((specifier) => !pinsBad(specifier, bad)),
      [],
    )
    assert.deepEqual(
      free.filter((specifier) => pinsBad(specifier, bad)),
      [],
    )
  })
})

describe('near names', () => {
  test('there are more than 300 well-known names, all normalised', () => {
    assert.ok(WELL_KNOWN_NAMES.size > 300, String(WELL_KNOWN_NAMES.size))
    assert.deepEqual(
      [...WELL_KNOWN_NAMES, ...ALIKE].filter((name) => name !== normalise(name)),
      [],
    )
  })

  test('none of them, and none of those that are alike, is near', () => {
    assert.deepEqual([...WELL_KNOWN_NAMES, ...ALIKE].filter(findNearName), [])
  })

  test('every name that is alike is needed', () => {
    const near = [...ALIKE].filter((name) => !WELL_KNOWN_NAMES.has(name))
    assert.deepEqual(near, [...ALIKE])
  })
})
