import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { adviceOf, ADVICE } from '../../src/advice.ts'
import { extract, namesOf } from './extract-pack.ts'

const CUP = `class Cup:
  INPUT_TYPES = classmethod(lambda cls: {})
  RETURN_TYPES, FUNCTION = ("IMAGE",), "fill"
  def fill(self): pass
`
const ENTRYPOINT = 'async def comfy_entrypoint(): return None\n'

const POT = `from comfy_api.latest import io, ComfyExtension
class Plain(io.ComfyNode): pass
class Pot(io.ComfyNode):
  @classmethod
  def define_schema(cls): return io.Schema(node_id="Kiln_Pot")
`

describe('hints for the publisher', () => {
  test('an entrypoint beside a mapping with nodes is ignored', () => {
    const section = extract(`${CUP}${ENTRYPOINT}NODE_CLASS_MAPPINGS = {"Cup": Cup}`)
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], false])
    assert.deepEqual(section.hints, [ADVICE.entrypoint_ignored])
  })

  test('names of built-in nodes are dropped', () => {
    const section = extract(
      `${CUP}NODE_CLASS_MAPPINGS = {"KSampler": Cup, "Cup": Cup, "VAEDecode": Cup}`,
    )
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], false])
    assert.deepEqual(section.hints, [`KSampler, VAEDecode: ${ADVICE.built_in_name}`])
    const none = extract(`${CUP}NODE_CLASS_MAPPINGS = {"KSampler": Cup}`)
    assert.deepEqual([none.status, none.hints?.length], ['success', 1])
  })

  test('a pack that is read in part names the modules it lacks and the files that are too deep', () => {
    const section = extract({
      '__init__.py': `from .deep import x
import zipfile
zipfile.ZipFile("a.zip").extractall(__path__[0])
from . import gone
from .lost import NODES
${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}`,
      'deep.py': `if a: x = 1\n${'elif a: x = 1\n'.repeat(300)}`,
    })
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], true])
    assert.deepEqual(section.hints, [
      `gone, lost: ${ADVICE.own_module_missing}`,
      `deep.py: ${ADVICE.unparsable}`,
    ])
  })

  test('a mapping of another name or kind is named', () => {
    const wrong: [source: string, about: string][] = [
      ['NODE_CLASS_MAPPING = {"Cup": Cup}', 'NODE_CLASS_MAPPING'],
      ['NODE_CLASS_MAPPINGS = [Cup]', 'NODE_CLASS_MAPPINGS is a list'],
      ['NODE_CLASS_MAPPINGS = {"Cup"}', 'NODE_CLASS_MAPPINGS is a set'],
    ]
    for (const [source, about] of wrong) {
      const section = extract(CUP + source)
      assert.deepEqual([section.status, section.reason], ['failed', 'no_mapping'])
      assert.deepEqual(section.hints, [`${about}: ${ADVICE.no_mapping}`])
    }
  })

  const list = (body: string) =>
    `class E(ComfyExtension):\n  async def get_node_list(self): ${body}\nasync def comfy_entrypoint(): return E()`
  const rejected: [source: string, about: string][] = [
    ['comfy_entrypoint = 5', 'comfy_entrypoint is no function'],
    ['def comfy_entrypoint(): return [Pot]', 'comfy_entrypoint returns no ComfyExtension'],
    [
      'async def comfy_entrypoint(): ComfyExtension()',
      'comfy_entrypoint returns no ComfyExtension',
    ],
    [list('return [Pot]').replace('E()', 'E'), 'comfy_entrypoint returns no ComfyExtension'],
    [
      list('return [Pot]').replace('E(ComfyExtension)', 'E'),
      'comfy_entrypoint returns no ComfyExtension',
    ],
    [
      `${list('return [Pot]')}\ninner = comfy_entrypoint\ndef comfy_entrypoint(): return inner()`,
      'comfy_entrypoint returns a coroutine, but is not async',
    ],
    [list('return [Pot]').replace('async ', ''), 'get_node_list is not async'],
    [list('return (Pot,)'), 'get_node_list returns no list'],
    [list('[Pot]'), 'get_node_list returns no list'],
    [list('return [Plain]'), 'Plain has no define_schema'],
  ]
  for (const [source, about] of rejected)
    test(`an entrypoint that the host rejects is named: ${about}`, () => {
      const section = extract(POT + source)
      assert.deepEqual([section.status, section.reason], ['failed', 'entrypoint_rejected'])
      assert.deepEqual(section.hints, [`${about}: ${ADVICE.entrypoint_rejected}`])
    })

  test('an extension that raises is named with its place', () => {
    const cases: [source: string, place: string][] = [
      ['def comfy_entrypoint(): raise RuntimeError("no gpu")', 'line 6: comfy_entrypoint raises'],
      [list('raise RuntimeError("no gpu")'), 'line 7: get_node_list raises'],
    ]
    for (const [source, place] of cases) {
      const section = extract({ '__init__.py': POT + source, 'node_list.json': '{"Pot": ""}' })
      assert.deepEqual([section.status, section.reason], ['failed', 'import_raised'])
      const hint = `__init__.py, ${place} RuntimeError: no gpu: ${ADVICE.import_raised}`
      assert.deepEqual(section.hints, [hint])
    }
  })

  test('a class without a schema, or without a name in it, is named beside the others', () => {
    const section = extract(
      `${POT}class Nameless(io.ComfyNode):
  define_schema = classmethod(lambda cls: io.Schema(display_name="x"))
${list('return [Pot, Plain, Nameless]')}`,
    )
    assert.deepEqual(namesOf(section), ['Kiln_Pot'])
    assert.deepEqual(section.hints, [
      `class Nameless: ${ADVICE.name_unresolved}`,
      `Plain: ${ADVICE.schema_missing}`,
    ])
  })

  test('an entrypoint of which nothing is known may give nodes', () => {
    const unknown = extract(
      `import helper\n${CUP}def comfy_entrypoint(): return helper.make([Cup])`,
    )
    assert.equal(unknown.reason, 'mapping_unknown')
  })

  const entries: [title: string, source: string, names: string[], hint: string][] = [
    [
      'a value on which the host ends, so that it shows no later node',
      'NODE_CLASS_MAPPINGS = {"Cup": Cup, "None": None, "Text": "Cup", "Late": Cup}',
      ['Cup'],
      `None: ${ADVICE.entry_ends}`,
    ],
    [
      'values that are no node classes',
      'import json\nclass Plain: pass\nNODE_CLASS_MAPPINGS = {"json": json, "f": lambda: 1, "Plain": Plain, "Cup": Cup}',
      ['Cup'],
      `json, f, Plain: ${ADVICE.entry_no_node}`,
    ],
    [
      'an instance, which the host shows',
      'NODE_CLASS_MAPPINGS = {"Made": Cup()}',
      ['Made'],
      `Made: ${ADVICE.entry_instance}`,
    ],
    [
      'display names that are no dict',
      'NODE_CLASS_MAPPINGS = {"Cup": Cup}\nNODE_DISPLAY_NAME_MAPPINGS = ["Cup"]',
      ['Cup'],
      `NODE_DISPLAY_NAME_MAPPINGS is a list: ${ADVICE.display_names_unread}`,
    ],
    [
      'INPUT_TYPES without @classmethod',
      'class Bare(Cup):\n  def INPUT_TYPES(cls): return {}\nNODE_CLASS_MAPPINGS = {"Bare": Bare}',
      ['Bare'],
      `Bare: ${ADVICE.input_types_unbound}`,
    ],
    [
      'a class without INPUT_TYPES and RETURN_TYPES',
      'class Bare:\n  FUNCTION = "f"; f = None; RETURN_TYPES = ()\nclass None_(Bare): pass\nNODE_CLASS_MAPPINGS = {"Bare": Bare}',
      ['Bare'],
      `Bare (INPUT_TYPES): ${ADVICE.node_incomplete}`,
    ],
    [
      'a FUNCTION that names no method, and none',
      'class Bare(Cup): FUNCTION = "brew"\nclass Dry:\n  INPUT_TYPES, RETURN_TYPES = Cup.INPUT_TYPES, ()\nNODE_CLASS_MAPPINGS = {"Bare": Bare, "Dry": Dry}',
      ['Bare', 'Dry'],
      `Bare (FUNCTION is brew), Dry (no FUNCTION): ${ADVICE.node_without_function}`,
    ],
    [
      'the mapping of the host',
      'from nodes import NODE_CLASS_MAPPINGS',
      [],
      ADVICE.mapping_of_host ?? '',
    ],
    [
      'modules that not every host has',
      'import msvcrt\nimport fcntl, cgi\nNODE_CLASS_MAPPINGS = {"Cup": Cup}',
      ['Cup'],
      `__init__.py, line 5: msvcrt, on Windows alone, __init__.py, line 6: fcntl, not on Windows, __init__.py, line 6: cgi, up to Python 3.12: ${ADVICE.elsewhere}`,
    ],
  ]
  for (const [title, source, names, hint] of entries)
    test(`they name ${title}`, () => {
      const section = extract(CUP + source)
      assert.deepEqual([section.status, section.partial], ['success', false])
      assert.deepEqual([namesOf(section), section.hints], [names, [hint]])
    })

  test('a module of one system is none where the pack is ready for that', () => {
    const source = `import os\ntry: import winreg\nexcept ImportError: winreg = None
if os.name == "posix": import fcntl\nNODE_CLASS_MAPPINGS = {"Cup" if winreg else "None": Cup}`
    const section = extract(CUP + source)
    assert.deepEqual([namesOf(section), section.hints], [['None'], undefined])
  })

  test('methods that a class gets later are not missed', () => {
    const source = `class Base:\n  def __init__(self): self.brew = lambda: 1
import helper\nclass A(Cup, Base): FUNCTION = "brew"\nclass B(helper.Base): FUNCTION = "brew"
class C(Cup): FUNCTION = "brew"\nsetattr(C, "brew", lambda self: 1)
NODE_CLASS_MAPPINGS = {"A": A, "B": B, "C": C}`
    const section = extract(CUP + source)
    assert.deepEqual([namesOf(section), section.hints], [['A', 'B', 'C'], undefined])
  })

  test('there are none without a cause', () => {
    assert.equal('hints' in extract(`${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}`), false)
    assert.equal('hints' in extract(`${ENTRYPOINT}NODE_CLASS_MAPPINGS = {}`), false)
  })

  test('codes of a family share a sentence', () => {
    assert.equal(adviceOf('archive_bad_crc'), ADVICE.archive)
    assert.equal(adviceOf('budget_steps', '__init__.py'), `__init__.py: ${ADVICE.budget}`)
    assert.equal(adviceOf('budget_rounds'), ADVICE.budget_rounds)
    assert.notEqual(ADVICE.budget_rounds, ADVICE.budget)
    assert.equal(adviceOf('something_else'), 'something_else')
  })

  describe('name syntax of a newer Python', () => {
    const files = {
      '__init__.py': `${CUP}from .more import *\nNODE_CLASS_MAPPINGS = {"Cup": Cup}`,
      'more.py': 'x = 1\ntype Pair = tuple\ndef f[T](x: T): return x\ntry: x\nexcept* OSError: x\n',
    }
    const places = [
      'more.py, line 2: a type statement, of Python 3.12',
      'more.py, line 4: except*, of Python 3.11',
    ]
    const rows: [project: string | undefined, said: string, count: number][] = [
      [undefined, '', 2],
      ['>=3.9', ', but requires-python is >=3.9', 2],
      ['>=3.11', ', but requires-python is >=3.11', 1],
      ['>=3.12', '', 0],
    ]
    for (const [project, said, count] of rows)
      test(`where requires-python is ${project}`, () => {
        const toml = project && { 'pyproject.toml': `[project]\nrequires-python = "${project}"\n` }
        const about = places.slice(0, count).map((place) => `${place}${said}`)
        const hints = count > 0 ? [`${about.join(', ')}: ${ADVICE.needs_python}`] : []
        assert.deepEqual(extract({ ...files, ...toml }).hints ?? [], hints)
      })
  })

  test('a folder of the interface that is not there', () => {
    const source = `${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}\nWEB_DIRECTORY = "./web/dist"\n`
    assert.deepEqual(extract(source).hints, [
      `__init__.py, line ${source.split('\n').length - 1}: WEB_DIRECTORY is "./web/dist": ${ADVICE.web_directory_missing}`,
    ])
    assert.equal(extract({ '__init__.py': source, 'web/dist/a.js': '' }).hints, undefined)
  })
})
