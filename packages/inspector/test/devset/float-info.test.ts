import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extract, nodeOf } from '../nodes/extract-pack.ts'

test('limits taken from sys.float_info are those of a double', () => {
  const section = extract(`
import sys
HEAT = ("FLOAT", {"min": -sys.float_info.max, "max": sys.float_info.max, "step": sys.float_info.epsilon})
class Oven:
    RETURN_TYPES = ("FLOAT",)
    INPUT_TYPES = classmethod(lambda cls: {"required": {"heat": HEAT}})
NODE_CLASS_MAPPINGS = {"Kiln Oven": Oven}
`)
  const node = nodeOf(section, 'Kiln Oven')
  const options = `{"min":${-Number.MAX_VALUE},"max":${Number.MAX_VALUE},"step":${Number.EPSILON}}`
  assert.equal(node.input_types, `{"required":{"heat":["FLOAT",${options}]}}`)
  assert.deepEqual(node.dynamic, [])
})
