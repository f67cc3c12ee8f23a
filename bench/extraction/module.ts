import type { Random } from '../search/random.ts'
import { camel, drawWord, sentence, snake, times } from '../search/words.ts'
import { writeNodeClass } from './node-class.ts'

/** One module of a pack: constants, helpers, node classes and the mapping of them, `bytes` long or a little more. */
export const writeModule = (
  random: Random,
  { name, bytes }: { name: string; bytes: number },
): { text: string; nodes: number } => {
  const parts = [writeHead(random), writePresets(random), writeHelpers(random)]
  const classes: string[] = []
  let size = parts.join('').length
  while (size < bytes || classes.length === 0) {
    const className = `${camel(random)}${classes.length}`
    classes.push(className)
    const part = random.chance(0.2)
      ? `${writeTable(random)}\n\n${writeNodeClass(random, className)}`
      : writeNodeClass(random, className)
    parts.push(part)
    // Each class is named twice more in the mappings.
    size += part.length + 4 * className.length + 2 * name.length + 30
  }
  const text = [...parts, writeMappings(random, name, classes)].join('\n\n')
  return { text, nodes: classes.length }
}

const writeHead = (random: Random): string => `"""${sentence(random, 12)}"""
import logging
import math
import os

import numpy as np
import torch
from PIL import Image

import folder_paths

logger = logging.getLogger(__name__)
PREFIX = "Bench/${drawWord(random)}"
DEFAULT_PRESET = "first"
`

const writePresets = (random: Random): string => `PRESETS = {
    "first": {"scale": 1.0, "strength": 0.5, "label": "${sentence(random, 4)}"},
${times(
  random.between(3, 8),
  () =>
    `    "${snake(random)}": {"scale": ${random.next().toFixed(2)}, "strength": ${random.next().toFixed(2)}, "label": "${sentence(random, 4)}"},`,
)}
}
`

const writeHelpers = (random: Random): string =>
  times(
    3,
    (at) => `
def helper_${at}(tensor, amount, scale=1.0, **options):
    """${sentence(random, 9)}

${times(4, () => `    ${sentence(random, 14)}`)}
    """
    height, width = tensor.shape[-2:]
    result = np.zeros((height, width, ${random.between(1, 4)}), dtype=np.float32)
    for y in range(0, height, max(1, int(amount))):
        for x in range(width):
            weight = math.exp(-((x - width / 2) ** 2 + (y - height / 2) ** 2) / (2 * scale ** 2))
            if weight < ${random.next().toFixed(3)} and not options.get("${drawWord(random)}", False):
                continue
            result[y, x] = weight * np.asarray(tensor[..., y, x])
    path = os.path.join(folder_paths.get_output_directory(), f"${drawWord(random)}_{amount:05d}.png")
    if options.get("save"):
        Image.fromarray((result * 255).astype(np.uint8)).save(path, compress_level=${random.between(1, 9)})
    return torch.from_numpy(result).to(tensor.dtype)
`,
  )

/** A table of texts: packs carry styles and prompts in them. */
const writeTable = (random: Random): string => `${snake(random).toUpperCase()} = [
${times(
  random.between(10, 30),
  () => `    ("${drawWord(random)}", "${sentence(random, 24)}", ${random.between(1, 999)}),`,
)}
]
`

/** A literal, or a loop over the classes. */
const writeMappings = (random: Random, module: string, classes: readonly string[]): string =>
  random.chance(0.6)
    ? `NODE_CLASS_MAPPINGS = {
${times(classes.length, (at) => `    "${classes[at]} ${module}": ${classes[at]},`)}
}

NODE_DISPLAY_NAME_MAPPINGS = {
${times(classes.length, (at) => `    "${classes[at]} ${module}": "${sentence(random, 2)}",`)}
}
`
    : `NODE_CLASS_MAPPINGS = {}
NODE_DISPLAY_NAME_MAPPINGS = {}
for node in [${classes.join(', ')}]:
    NODE_CLASS_MAPPINGS[f"{node.__name__} ${module}"] = node
    NODE_DISPLAY_NAME_MAPPINGS[f"{node.__name__} ${module}"] = node.__name__
`
