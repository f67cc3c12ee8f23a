import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { BUILT_IN_NODE_NAMES, makeHostFacts } from '../src/host/make-facts.ts'
import { makeJsonWriter } from '../src/nodes/json-text.ts'
import { runPack } from './nodes/run-pack.ts'

/** Runs `X = <expression>` with the host's modules at hand and gives X as JSON. */
const evaluate = (expression: string, before = ''): unknown =>
  runPack(`${HOST}\n${before}\nX = ${expression}\n`).json('X')

const HOST = `
import nodes, folder_paths, comfy.samplers
import comfy.model_management
from comfy.comfy_types import IO
from comfy.comfy_types.node_typing import IO as IO2
`

const SCHEDULERS =
  'simple sgm_uniform karras exponential ddim_uniform beta normal linear_quadratic kl_optimal'.split(
    ' ',
  )

describe('facts about the host', () => {
  const known: [expression: string, value: unknown][] = [
    ['nodes.MAX_RESOLUTION', 16384],
    ['nodes.MAX_RESOLUTION * 2', 32768],
    ['(IO.ANY, IO.IMAGE, IO2.NUMBER)', ['*', 'IMAGE', 'FLOAT,INT']],
    ['comfy.samplers.KSampler.SAMPLERS[:2]', ['euler', 'euler_cfg_pp']],
    ['comfy.samplers.KSampler.SAMPLERS[-1:]', ['uni_pc_bh2']],
    ['comfy.samplers.KSampler.SCHEDULERS', SCHEDULERS],
    ['list(comfy.samplers.SCHEDULER_HANDLERS)', SCHEDULERS],
    ['len(comfy.samplers.SAMPLER_NAMES) - len(comfy.samplers.KSAMPLER_NAMES)', 3],
    ['".safetensors" in folder_paths.supported_pt_extensions', true],
    ['"loras" in folder_paths.folder_names_and_paths', true],
    ['sorted(folder_paths.folder_names_and_paths["configs"][1])', ['.yaml']],
    ['"KSampler" in nodes.NODE_CLASS_MAPPINGS', true],
  ]
  for (const [expression, value] of known)
    test(`${expression} is known`, () => {
      assert.deepEqual(evaluate(expression), value)
    })

  const unknown = [
    'nodes.constructor',
    'nodes.common_ksampler',
    'comfy.model_management.get_torch_device()',
    'folder_paths.get_input_directory()',
    'folder_paths.models_dir',
    '"Of Another Pack" in nodes.NODE_CLASS_MAPPINGS',
    'IO.__proto__',
  ]
  for (const expression of unknown)
    test(`${expression} is unknown`, () => {
      assert.equal(evaluate(expression), 'unknown')
    })

  test('lists of files are empty and may go on', () => {
    const { interpreter, get } = runPack(`
import folder_paths
X = folder_paths.get_filename_list("loras")
Y = ["None"] + folder_paths.get_filename_list("vae")
`)
    assert.deepEqual(interpreter.readItems(get('X')), { items: [], rest: true })
    assert.deepEqual(interpreter.readItems(get('Y')), { items: ['None'], rest: true })
  })

  test('a sampler that a pack adds is in every list of samplers', () => {
    const added = 'comfy.samplers.KSampler.SAMPLERS.append("kiln")'
    assert.deepEqual(evaluate('comfy.samplers.SAMPLER_NAMES[-1:]', added), ['kiln'])
  })

  test('what one pack changes is not seen by the next', () => {
    evaluate('1', 'comfy.samplers.KSampler.SAMPLERS.append("kiln")')
    assert.deepEqual(evaluate('comfy.samplers.SAMPLER_NAMES[-1:]'), ['uni_pc_bh2'])
  })

  test('a folder that a pack registers is one it finds', () => {
    const before = 'folder_paths.folder_names_and_paths["kilns"] = (["/x"], {".clay"})'
    assert.equal(evaluate('"kilns" in folder_paths.folder_names_and_paths', before), true)
  })

  test('functions of classes of the host are not invented', () => {
    assert.equal(makeHostFacts().find('nodes.SaveImage.save_images'), undefined)
    assert.equal(makeHostFacts().find('nodes.SaveImage.constructor'), undefined)
  })

  test('built-in names are those of the nodes, older and newer form', () => {
    for (const name of ['KSampler', 'SaveImage', 'MaskToImage', 'LatentBlend'])
      assert.ok(BUILT_IN_NODE_NAMES.has(name), `${name} is missing`)
    assert.equal(BUILT_IN_NODE_NAMES.has('Kiln Cup'), false)
    assert.equal(BUILT_IN_NODE_NAMES.size, 886)
  })
})

describe('classes of the host', () => {
  /** Returns the attributes of `class Kiln(<base>)`, with the pack's own additions in its body. */
  const inherit = (from: string, body: string, names: string[]): unknown[] => {
    const ran = runPack(`${from}\nclass Kiln(Base):\n    ${body}\n`)
    const { types } = makeJsonWriter(ran.interpreter)
    return names.map((name) => {
      const value = ran.interpreter.findAttribute(ran.get('Kiln'), name)
      return value === undefined ? 'missing' : JSON.parse(types(value, '"unknown"').text)
    })
  }

  test('a class of the pack inherits what it does not say itself (S36)', () => {
    const names = ['CATEGORY', 'RETURN_TYPES', 'FUNCTION', 'OUTPUT_NODE', 'DESCRIPTION']
    const from = 'from nodes import SaveImage as Base'
    assert.deepEqual(inherit(from, 'CATEGORY = "kiln"', names), [
      'kiln',
      [],
      'save_images',
      true,
      'Saves the input images to your ComfyUI output directory.',
    ])
  })

  test('attributes that the class does not have are missing, not unknown', () => {
    const names = ['RETURN_NAMES', 'DEPRECATED', 'OUTPUT_IS_LIST']
    const from = 'from nodes import VAEDecode as Base'
    assert.deepEqual(inherit(from, 'pass', names), ['missing', 'missing', 'missing'])
  })

  test('methods stay unknown', () => {
    const from = 'from nodes import VAEDecode as Base'
    assert.deepEqual(inherit(from, 'pass', ['decode']), ['unknown'])
  })

  test('the base class for typed nodes brings nothing but empty inputs', () => {
    const from = 'from comfy.comfy_types import ComfyNodeABC as Base'
    assert.deepEqual(inherit(from, 'pass', ['CATEGORY', 'DESCRIPTION']), ['missing', 'missing'])
  })

  const inputTypes = (source: string): unknown => {
    const ran = runPack(source)
    const result = ran.interpreter.call(ran.get('INPUTS'), [])
    return JSON.parse(makeJsonWriter(ran.interpreter).inputTypes(result, '"unknown"').text)
  }

  test('INPUT_TYPES is that of a clean host, and new each time', () => {
    const value = inputTypes(`
from nodes import EmptyLatentImage
class Kiln(EmptyLatentImage):
    @classmethod
    def INPUT_TYPES(cls):
        EmptyLatentImage.INPUT_TYPES()["required"]["gone"] = ("INT",)
        inputs = super().INPUT_TYPES()
        inputs["required"]["glaze"] = ("MASK",)
        return inputs
INPUTS = Kiln.INPUT_TYPES
`)
    const { required } = value as { required: Record<string, unknown> }
    assert.deepEqual(Object.keys(required), ['width', 'height', 'batch_size', 'glaze'])
    assert.deepEqual(required['batch_size'], [
      'INT',
      { default: 1, min: 1, max: 4096, tooltip: 'The number of latent images in the batch.' },
    ])
  })

  test('lists of files in inherited inputs may go on', () => {
    const ran = runPack(`
from nodes import LoraLoader
class Kiln(LoraLoader): pass
INPUTS = Kiln.INPUT_TYPES
`)
    const result = ran.interpreter.call(ran.get('INPUTS'), [])
    const { text, inputs } = makeJsonWriter(ran.interpreter).inputTypes(result, '{}')
    assert.deepEqual(inputs, ['lora_name'])
    assert.match(text, /"lora_name":\[\[\],\{"tooltip"/)
  })

  test('inputs may be read from the table of all nodes', () => {
    const value = inputTypes(`
import nodes
INPUTS = nodes.NODE_CLASS_MAPPINGS["VAEDecode"].INPUT_TYPES
`)
    assert.deepEqual(Object.keys((value as { required: object }).required), ['samples', 'vae'])
  })
})
