import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { extract, nodeOf } from '../nodes/extract-pack.ts'

describe('__get__ called by the pack', () => {
  test('rebinds INPUT_TYPES in a class decorator', () => {
    const section = extract(`
HINTS = {"Bowl": {"clay": "what it is made of"}}
def with_hints(cls):
    original = cls.INPUT_TYPES
    @classmethod
    def wrapped(c):
        try: types = original.__get__(c, c)()
        except Exception: return original.__get__(c, c)()
        hints = HINTS.get(c.__name__, {})
        types["required"] = {
            key: (given[0], {"tooltip": hints[key]}) if key in hints else given
            for key, given in types["required"].items()
        }
        return types
    cls.INPUT_TYPES = wrapped
    return cls
class Base:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"clay": ("IMAGE",), "size": ("INT",)}}
@with_hints
class Bowl(Base): RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Kiln Bowl": Bowl}
`)
    const node = nodeOf(section, 'Kiln Bowl')
    assert.equal(
      node.input_types,
      '{"required":{"clay":["IMAGE",{"tooltip":"what it is made of"}],"size":["INT"]}}',
    )
    assert.deepEqual(node.dynamic, [])
  })

  test('binds functions, class methods, static methods and properties', () => {
    const section = extract(`
class Oven:
    heat = 900
    def plain(self): return self.heat
    @property
    def degrees(self): return self.heat + 1
    @classmethod
    def of_class(cls): return cls.__name__
    @staticmethod
    def fixed(): return "fixed"
space = Oven.__dict__
oven = Oven()
made = [
    Oven.plain.__get__(oven, Oven)(),
    space["degrees"].__get__(oven),
    space["of_class"].__get__(None, Oven)(),
    space["fixed"].__get__(oven, Oven)(),
    oven.plain.__get__(None, Oven)(),
]
class Show:
    RETURN_TYPES = ("IMAGE",)
    DESCRIPTION = ", ".join(str(item) for item in made)
NODE_CLASS_MAPPINGS = {"Kiln Show": Show}
`)
    assert.equal(nodeOf(section, 'Kiln Show').description, '900, 901, Oven, fixed, 900')
  })
})
