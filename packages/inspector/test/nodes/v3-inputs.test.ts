import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readV3, runPack } from './run-pack.ts'

const BEFORE = `
from enum import Enum
import folder_paths, elsewhere
from comfy_api.latest import io
class Glaze(str, Enum): MATT = "matt"; SHINY = "shiny"
class Oven: pass
@io.comfytype(io_type="OVEN")
class OvenType(io.ComfyTypeIO): Type = Oven
KILN = io.Custom("KILN")
T = io.MatchType.Template("t", [io.Image, io.Mask])
`

/** The sections of a node with these inputs, and the fields that are not wholly known. */
const read = (inputs: string) => {
  const ran = runPack(`${BEFORE}
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="K", inputs=${inputs})
    @classmethod
    def execute(cls): ...
`)
  return readV3(ran, ran.get('Kiln'))
}

const required = (input: string): unknown => {
  const { input_types, dynamic } = read(`[${input}]`)
  assert.deepEqual(dynamic, [])
  return Object.values(input_types['required'] ?? {})[0]
}

describe('an input of the newer form', () => {
  const types: [text: string, type: string][] = [
    ['io.AnyType.Input("x")', '*'],
    ['io.ControlNet.Input("x")', 'CONTROL_NET'],
    ['io.ClipVision.Input("x")', 'CLIP_VISION'],
    ['io.ClipVisionOutput.Input("x")', 'CLIP_VISION_OUTPUT'],
    ['io.StyleModel.Input("x")', 'STYLE_MODEL'],
    ['io.UpscaleModel.Input("x")', 'UPSCALE_MODEL'],
    ['io.LoraModel.Input("x")', 'LORA_MODEL'],
    ['io.Vae.Input("x")', 'VAE'],
    ['io.MODEL_PATCH.Input("x")', 'MODEL_PATCH'],
    ['io.Custom("GLAZE").Input("x")', 'GLAZE'],
    ['io.Custom(io_type=Glaze.MATT.value).Input("x")', 'matt'],
    ['io.Custom(io.Image.io_type).Input("x")', 'IMAGE'],
    ['KILN.Input(id="x")', 'KILN'],
    ['OvenType.Input("x")', 'OVEN'],
    ['io.MultiType.Input("x", [io.Image, io.Mask, io.Image])', 'IMAGE,MASK'],
    ['io.MultiType.Input("x", types=[KILN, io.Latent(), OvenType])', 'KILN,LATENT,OVEN'],
  ]
  for (const [text, type] of types)
    test(`${text} is ${type}`, () => {
      assert.deepEqual(required(text), [type, {}])
    })

  const options: [text: string, input: unknown][] = [
    [
      'io.Boolean.Input("x", default=False, label_on="hot")',
      ['BOOLEAN', { default: false, label_on: 'hot' }],
    ],
    [
      'io.Int.Input("x", default=1, min=0, max=9, step=2, control_after_generate=True)',
      ['INT', { default: 1, min: 0, max: 9, step: 2, control_after_generate: true }],
    ],
    ['io.Int.Input("x", display_mode=io.NumberDisplay.slider)', ['INT', { display: 'slider' }]],
    [
      'io.Float.Input("x", display_mode=io.NumberDisplay.number.value)',
      ['FLOAT', { display: 'number' }],
    ],
    [
      'io.Float.Input("x", round=0.001, force_input=True)',
      ['FLOAT', { forceInput: true, round: 0.001 }],
    ],
    [
      'io.String.Input("x", multiline=True, dynamic_prompts=False, placeholder="clay")',
      ['STRING', { multiline: true, placeholder: 'clay', dynamicPrompts: false }],
    ],
    [
      'io.String.Input("x", "X", False, "A tip")',
      ['STRING', { display_name: 'X', tooltip: 'A tip', multiline: false }],
    ],
    ['io.String.Input("x", multiline=None)', ['STRING', {}]],
    ['io.Image.Input("x", lazy=True, raw_link=True)', ['IMAGE', { lazy: true, rawLink: true }]],
    [
      'io.Int.Input("x", socketless=True, advanced=True)',
      ['INT', { advanced: true, socketless: true }],
    ],
    ['io.Int.Input("x", default=None, tooltip=None)', ['INT', {}]],
    ['io.Image.Input("x", extra_dict={"kiln": 1, "none": None})', ['IMAGE', { kiln: 1 }]],
    ['io.Combo.Input("x", ["a", "b"])', ['COMBO', { multiselect: false, options: ['a', 'b'] }]],
    [
      'io.Combo.Input("x", options=Glaze, default=Glaze.MATT)',
      ['COMBO', { default: 'matt', multiselect: false, options: ['matt', 'shiny'] }],
    ],
    [
      'io.Combo.Input("x", options=[], upload=io.UploadType.image, image_folder=io.FolderType.output)',
      ['COMBO', { multiselect: false, options: [], image_upload: true, image_folder: 'output' }],
    ],
    [
      'io.Combo.Input("x", remote=io.RemoteOptions("/clay", True, timeout=5))',
      [
        'COMBO',
        {
          multiselect: false,
          remote: {
            route: '/clay',
            refresh_button: true,
            control_after_refresh: 'first',
            timeout: 5,
          },
        },
      ],
    ],
    [
      'io.MultiCombo.Input("x", ["a"], chip=True)',
      ['COMBO', { multiselect: true, options: ['a'], multi_select: true, chip: true }],
    ],
    [
      'io.MultiType.Input(io.Int.Input("x", min=1), [io.Float])',
      ['INT,FLOAT', { widgetType: 'INT', min: 1 }],
    ],
    [
      'io.MatchType.Input("x", template=T)',
      ['COMFY_MATCHTYPE_V3', { template: { template_id: 't', allowed_types: 'IMAGE,MASK' } }],
    ],
    [
      'io.Autogrow.Input("x", template=io.Autogrow.TemplatePrefix(io.Image.Input("i"), prefix="i", max=4))',
      [
        'COMFY_AUTOGROW_V3',
        { template: { input: { required: { i: ['IMAGE', {}] } }, prefix: 'i', min: 1, max: 4 } },
      ],
    ],
    [
      'io.Autogrow.Input("x", io.Autogrow.TemplateNames(io.Int.Input("i"), ["a", "b"]))',
      [
        'COMFY_AUTOGROW_V3',
        {
          template: {
            input: { required: { i: ['INT', { forceInput: true }] } },
            names: ['a', 'b'],
            min: 1,
          },
        },
      ],
    ],
    [
      'io.DynamicCombo.Input("x", [io.DynamicCombo.Option("a", [io.Int.Input("n", optional=True)])])',
      [
        'COMFY_DYNAMICCOMBO_V3',
        { options: [{ key: 'a', inputs: { required: {}, optional: { n: ['INT', {}] } } }] },
      ],
    ],
  ]
  for (const [text, input] of options)
    test(`${text} keeps its options`, () => {
      assert.deepEqual(required(text), input)
    })

  test('comes with its options in the order of the host', () => {
    const input = 'io.Int.Input("x", max=9, tooltip="t", default=1, extra_dict={"kiln": 1})'
    const [, given] = required(input) as [string, object]
    assert.deepEqual(Object.keys(given), ['tooltip', 'kiln', 'default', 'max'])
  })

  test('is optional by its own word, and sections keep the order of the inputs', () => {
    const { input_types } = read(
      '[io.Int.Input("b", optional=True), io.Int.Input("2"), io.Int.Input("1"), io.Int.Input("a", "", True)]',
    )
    assert.deepEqual(Object.keys(input_types), ['required', 'optional'])
    assert.deepEqual(Object.keys(input_types['optional'] ?? {}), ['b', 'a'])
  })

  test('may be one of a list that loops and sums make', () => {
    const { input_types } = read('[io.Int.Input(f"n{i}") for i in range(2)] + ([KILN.Input("k")])')
    assert.deepEqual(Object.keys(input_types['required'] ?? {}), ['n0', 'n1', 'k'])
  })

  test('that wraps an optional one is optional', () => {
    const { input_types } = read(
      '[io.MultiType.Input(io.Image.Input("x", optional=True), [io.Mask])]',
    )
    assert.deepEqual(input_types['optional'], { x: ['IMAGE,MASK', {}] })
  })

  const partly: [text: string, sections: unknown][] = [
    ['[elsewhere.input(), io.Image.Input("x")]', { required: { x: ['IMAGE', {}] } }],
    ['[io.Image.Input(elsewhere.NAME), io.Mask.Input("y")]', { required: { y: ['MASK', {}] } }],
    ['[io.Int.Input("x", min=1, max=elsewhere.MAX)]', { required: { x: ['INT', { min: 1 }] } }],
    ['[io.Custom(elsewhere.TYPE).Input("x")]', { required: { x: ['*', {}] } }],
    [
      '[io.Combo.Input("x", options=folder_paths.get_filename_list("loras"))]',
      { required: { x: ['COMBO', { multiselect: false, options: [] }] } },
    ],
    [
      '[io.Combo.Input("x", options=elsewhere.LIST)]',
      { required: { x: ['COMBO', { multiselect: false, options: [] }] } },
    ],
    ['[io.Int.Input("x", **elsewhere.OPTIONS)]', { required: { x: ['INT', {}] } }],
    ['elsewhere.inputs()', { required: {} }],
  ]
  for (const [text, sections] of partly)
    test(`${text} leaves out what can not be known`, () => {
      const { input_types, dynamic } = read(text)
      assert.deepEqual(input_types, sections)
      // Of one input alone where it is known which.
      const isOfOne = /Input\("x".+(?:elsewhere|folder)|TYPE\)/.test(text)
      assert.deepEqual(dynamic, [isOfOne ? 'input_types.x' : 'input_types'])
    })

  const circles: [name: string, source: string][] = [
    [
      'itself among its choices',
      'o = io.DynamicCombo.Option("a", []); x = io.DynamicCombo.Input("x", [o]); o.inputs.append(x)',
    ],
    ['itself as its widget', 'x = io.MultiType.Input("x", [io.Image]); x.id = x'],
    [
      'lists that multiply',
      'x = io.Int.Input("x")\nfor _ in range(40): o = io.DynamicCombo.Option("a", [x, x]); x = io.DynamicCombo.Input("x", [o, o])',
    ],
  ]
  for (const [name, source] of circles)
    test(`with ${name} comes to an end`, () => {
      const ran = runPack(`${BEFORE}
${source}
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="K", inputs=[x])
`)
      const { ids, dynamic } = readV3(ran, ran.get('Kiln'))
      assert.deepEqual(ids, ['K'])
      assert.match(dynamic.join(), /^input_types/)
    })
})
