import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { LIBRARY } from '../../../src/interpret/library/library.ts'
import { describeValue, makeRunner, reprOf } from '../support.ts'

/** Expressions with what they give: an unknown by its name, any other value by its repr. */
const KNOWN_AND_NOT: [string, string][] = [
  ['os.nothing_of_this_name', '<unknown os.nothing_of_this_name>'],
  ['os.listdir("/models")', '<unknown os.listdir()>'],
  ['os.listdir(os.path.dirname(os.path.dirname(__file__)))', '<unknown os.listdir()>'],
  ['os.path.exists("/models")', '<unknown os.path.exists()>'],
  ['os.path.exists(os.path.dirname(os.path.dirname(__file__)))', 'True'],
  ['os.path.join(unknown_module.folder, "a")', '<unknown os.path.join()>'],
  ['os.path.expanduser("~/x")', '<unknown os.path.expanduser()>'],
  ['os.path.expanduser("x")', "'x'"],
  ['os.cpu_count()', '<unknown os.cpu_count()>'],
  ['os.walk("/models")', '<unknown os.walk()>'],
  ['os.environ.get("HOME")', 'None'],
  ['list(os.environ)', '[]'],
  ['os.system("rm -rf /")', '<unknown os.system()>'],
  ['os.makedirs("/models/x")', 'None'],
  ['open("/etc/passwd")', '<unknown io.open()>'],
  ['open(os.path.join(os.path.dirname(__file__), "new.txt"), "w").write("abc")', '3'],
  ['glob.glob("/models/*.py")', '<unknown glob.glob()>'],
  ['glob.glob(os.path.dirname(__file__) + "/*.nothing")', '[]'],
  ['pathlib.Path("/models").exists()', '<unknown pathlib.Path.exists()>'],
  ['pathlib.Path("/models").read_text()', '<unknown pathlib.Path.read_text()>'],
  ['pathlib.Path.home()', '<unknown pathlib.Path.home()>'],
  ['pathlib.Path(unknown_module.folder)', '<unknown pathlib.PurePath.__new__()>'],
  ['sys.executable', '<unknown sys.executable>'],
  ['"torch" in sys.modules', '<unknown comparison>'],
  ['time.time()', '<unknown time.time()>'],
  ['random.choice([1, 2])', '<unknown random.choice()>'],
  ['subprocess.run(["ls"])', '<unknown subprocess.run()>'],
  ['json.loads("{oops")', '<unknown json.loads()>'],
  ['json.dumps([unknown_module.x])', '<unknown json.dumps()>'],
  ['re.match("(a+)+b", "aab")', '<unknown re.match()>'],
  ['re.match("a", unknown_module.x)', '<unknown re.match()>'],
  ['importlib.util.find_spec("some_library")', '<unknown importlib.util.find_spec()>'],
  ['importlib.metadata.version("x")', '<unknown importlib.metadata.version()>'],
  ['inspect.signature(len)', '<unknown inspect.signature()>'],
  ['inspect.signature(unknown_module.x)', '<unknown inspect.signature()>'],
  ['inspect.isclass(unknown_module.X)', '<unknown inspect.isclass()>'],
  ['hashlib.md5(unknown_module.x)', '<unknown hashlib.md5()>'],
  ['typing.Optional[int]', '<unknown typing.Optional[]>'],
  ['functools.reduce(max, unknown_module.items)', '<unknown functools.reduce()>'],
]

const IMPORTS = `
import functools, glob, hashlib, importlib.metadata, importlib.util, inspect, json, os, pathlib
import random, re, subprocess, sys, time, typing
import unknown_module
if unknown_module.x: pass
`

describe('a value that only the machine knows', async () => {
  const run = await makeRunner({ library: LIBRARY })

  test('is unknown, by its dotted name', () => {
    const wrong: string[] = []
    for (const [expression, expected] of KNOWN_AND_NOT) {
      const actual = reprOf(run(`${IMPORTS}result = ${expression}`), 'result')
      if (actual !== expected) wrong.push(`${expression} gives ${actual}, not ${expected}`)
    }
    assert.equal(wrong.join('\n'), '')
  })

  test('leaves what is known beside it', () => {
    const ran = run(`
import itertools, functools, unknown_module
chained = list(itertools.chain([1], unknown_module.items, [2]))
class Base: pass
found = {}
for item in itertools.islice(itertools.count(), 3): found[item] = item
`)
    const { interpreter } = ran
    assert.deepEqual(interpreter.readItems(ran.get('chained') ?? null), {
      items: [1n, 2n],
      rest: true,
    })
    assert.equal(reprOf(ran, 'found'), '{0: 0, 1: 1, 2: 2}')
  })

  test('the text of a file above its limit is unknown, and the limit is reported', () => {
    const ran = run(
      {
        '__init__.py': `import os
text = open(os.path.join(os.path.dirname(__file__), 'big.txt')).read()
small = open(os.path.join(os.path.dirname(__file__), 'small.txt')).read()`,
        'big.txt': 'x'.repeat(101),
        'small.txt': 'x'.repeat(100),
      },
      { limits: { fileBytes: 100 } },
    )
    assert.match(describeValue(ran.get('text')), /^unknown /)
    assert.equal(ran.get('small'), 'x'.repeat(100))
    assert.deepEqual(ran.interpreter.stats().limitsMet, ['file'])
  })

  test('is not asked of endless iterators', () => {
    const ran = run(`
import itertools
pairs = list(zip(itertools.count(1), 'ab'))
many = list(itertools.product(range(100), repeat=5))
shuffled = sum(1 for _ in itertools.permutations(range(12)))
result = 'done'`)
    assert.equal(reprOf(ran, 'pairs'), "[(1, 'a'), (2, 'b')]")
    assert.equal(reprOf(ran, 'result'), "'done'")
  })
})
