import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Files } from '../entries.ts'
import { scanFiles, secret } from './support.ts'

const TOKEN = secret('hf', '_QzWxEcRvTbYnUmIkOlPaSdFgHjKlZxCvBn')

const PE = Buffer.alloc(512)
PE.write('MZ')
PE.writeUInt32LE(0x80, 0x3c)
PE.write('PE\0\0', 0x80)
const ELF = Buffer.concat([Buffer.from('7f454c4602010100', 'hex'), Buffer.alloc(64)])
const MACH_O = Buffer.alloc(64)
MACH_O.writeUInt32LE(0xfeedfacf, 0)
MACH_O.writeUInt32LE(2, 12)
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(64)])
const ZIP = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(64)])

/** Compiled Python 3.11 with these flags. */
const bytecode = (flags: number): Buffer => {
  const bytes = Buffer.alloc(64)
  bytes.writeUInt16LE(3495, 0)
  bytes.write('\r\n', 2)
  bytes.writeUInt32LE(flags, 4)
  bytes.writeUInt8(0xe3, 16)
  return bytes
}

/** Rules of the listed findings, each once, but for nested archives of no import. */
const rulesIn = (files: Files): string[] => [
  ...new Set(
    scanFiles({ '__init__.py': '', ...files })
      .findings.filter(({ severity }) => severity !== 'info')
      .map(({ issue_type: rule }) => rule),
  ),
]

const RUN = 'import os, subprocess, sys, zipfile\nHERE = os.path.dirname(__file__)\n'

const CACHE = '__pycache__/mod.cpython-311.pyc'

const CASES: [title: string, files: Files, rules: string[]][] = [
  ['a PE named .png is disguised', { 'logo.png': PE }, ['disguised-binary']],
  ['an ELF named .json is disguised', { 'a.json': ELF }, ['disguised-binary']],
  ['a Mach-O named .safetensors is disguised', { 'm.safetensors': MACH_O }, ['disguised-binary']],
  ['a real PNG passes', { 'logo.png': PNG }, []],
  ['a text that begins as a PE does passes', { 'a.txt': 'MZ is short for Mark Zbikowski' }, []],
  ['an .exe is a native binary', { 'bin/tool.exe': PE }, ['native-binary']],
  ['a .so is a native binary', { 'lib/x.so': ELF }, ['native-binary']],
  ['a wheel is a native binary', { 'wheels/x-1.0-py3-none-any.whl': ZIP }, ['native-binary']],
  ['weights pass', { 'model.pth': ZIP, 'm.bin': Buffer.alloc(100, 7) }, []],
  ['a module without source is odd', { 'mod.pyc': bytecode(0) }, ['odd-bytecode']],
  ['bytecode beside its source', { 'mod.pyc': bytecode(0), 'mod.py': '' }, ['native-binary']],
  ['a cache is ordinary', { [CACHE]: bytecode(0), 'mod.py': '' }, ['native-binary']],
  ['a cache without its source is not loaded', { [CACHE]: bytecode(0) }, ['native-binary']],
  ['a cache with a checked hash is ordinary', { [CACHE]: bytecode(3) }, ['native-binary']],
  ['a cache that nothing checks is odd', { [CACHE]: bytecode(1) }, ['odd-bytecode']],
  ['a mining program is a miner', { 'bin/xmrig.exe': PE }, ['miner']],
  [
    'a program of the archive that is started is used',
    {
      'bin/tool.exe': PE,
      'a.py': `${RUN}subprocess.run([os.path.join(HERE, "bin", "tool.exe"), "-v"])`,
    },
    ['binary-used', 'native-binary'],
  ],
  [
    'a program of the archive that a shell starts is used',
    { 'bin/tool': ELF, 'a.py': `${RUN}os.system(f"{HERE}/bin/tool --x")` },
    ['binary-used', 'native-binary', 'shell'],
  ],
  [
    'the extension may be left out',
    { 'bin/tool.exe': PE, 'a.py': `${RUN}subprocess.run([HERE + "/bin/tool"])` },
    ['binary-used', 'native-binary'],
  ],
  [
    'a wheel of the archive that is installed is used',
    {
      'w/x-1.0-py3-none-any.whl': ZIP,
      'a.py': `${RUN}subprocess.run([sys.executable, "-m", "pip", "install", os.path.join(HERE, "w", "x-1.0-py3-none-any.whl")])`,
    },
    ['binary-used', 'runtime-install', 'native-binary'],
  ],
  [
    "the machine's own program of the same name passes",
    { 'bin/ffmpeg': ELF, 'a.py': `${RUN}subprocess.run(["ffmpeg", "-i", p])` },
    ['native-binary'],
  ],
  [
    'another program passes',
    { 'bin/tool': ELF, 'a.py': `${RUN}subprocess.run([HERE + "/bin/other"])` },
    ['native-binary'],
  ],
  ['a token in settings is a secret', { 'config.json': `{"k": "${TOKEN}"}` }, ['live-secret']],
  ['a token in .env is a secret', { '.env': `HF=${TOKEN}` }, ['live-secret']],
  ['a placeholder in .env passes', { '.env': 'HF=hf_your_token_here' }, []],
  ['a key file is a secret', { 'server.pem': pem() }, ['live-secret']],
  ['a key in JavaScript passes', { 'web/a.js': pem() }, []],
  ['a public key passes', { 'a.pem': pem().replaceAll('RSA PRIVATE', 'PUBLIC') }, []],
  ['broken Python is not scanned', { 'a.py': 'def f(:\n  x = = 1\nimport os\n' }, ['not-scanned']],
  ['an unknown encoding is not scanned', { 'a.py': '# coding: utf-7\nx = 1\n' }, ['not-scanned']],
  ['5 MB of Python are not scanned', { 'a.py': '#\n'.repeat(2_700_000) }, ['not-scanned']],
]

function pem(): string {
  const line = 'MIIEpAIBAAKCAQEA7bq3Lx9R4tYp9LmN2vXc8BsqZ7wkJ3hG6fD5sQ1uE0iPoWeR\n'
  return `-----BEGIN RSA PRIVATE KEY-----\n${line.repeat(4)}-----END RSA PRIVATE KEY-----\n`
}

describe('files', () => {
  for (const [title, files, rules] of CASES)
    test(title, () => {
      assert.deepEqual(rulesIn(files).toSorted(), rules.toSorted())
    })

  test('a forgotten cache is one finding, whatever it holds', () => {
    const files = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [`x/__pycache__/${name}.cpython-311.pyc`, bytecode(0)]),
    )
    assert.equal(scanFiles({ '__init__.py': '', ...files }).findings.length, 1)
  })

  test('a nested archive is reported, at a higher severity if Python opens it', () => {
    const archiveFacts = [{ kind: 'nested_archive', path: 'data/a.zip', format: 'zip' }] as const
    const severityWith = (source: string): string[] =>
      scanFiles({ '__init__.py': source, 'data/a.zip': ZIP }, { archiveFacts }).findings.map(
        ({ issue_type: rule, severity }) => `${rule} ${severity}`,
      )
    assert.deepEqual(severityWith(''), ['nested-archive info'])
    assert.deepEqual(severityWith(`${RUN}zipfile.ZipFile(HERE + "/data/a.zip")`), [
      'nested-archive medium',
    ])
    assert.deepEqual(severityWith(`${RUN}zipfile.ZipFile(HERE + "/data/b.zip")`), [
      'nested-archive info',
    ])
  })

  test('a file left out for its name is reported', () => {
    const archiveFacts = [{ kind: 'name_collision', path: 'A.py', kept: 'a.py' }] as const
    const { findings } = scanFiles({ '__init__.py': '', 'a.py': '' }, { archiveFacts })
    assert.deepEqual(
      findings.map(({ issue_type: rule, severity, file_path: path }) => [rule, severity, path]),
      [['name-collision', 'medium', 'A.py']],
    )
  })

  test('scripts, programs started, network and native calls are only counted', () => {
    const source =
      'import subprocess, requests, ctypes\nsubprocess.run(["a"])\nrequests.get(u)\nctypes.CDLL(p)\n'
    const { findings, counts, tags } = scanFiles({ '__init__.py': source, 'a.sh': '', 'b.bat': '' })
    assert.deepEqual(findings, [])
    assert.deepEqual(counts, { high: 0, medium: 0, info: 5 })
    assert.deepEqual(tags, [])
  })
})
